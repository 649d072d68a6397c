"""The store in memory keeps every promise of the port that is not about files."""

from pathlib import Path

from holdfast.ports import Store
from holdfast.stores.memory import MemoryStore
from holdfast.testing import StoreSuite


class TestMemoryStore(StoreSuite):
    def make(self, path: Path) -> Store:
        return MemoryStore(str(path))
