"""The store on SQLite keeps every promise of the port."""

from pathlib import Path

from holdfast.ports import Store
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing import StoreSuite


class TestSqliteStore(StoreSuite):
    def make(self, path: Path) -> Store:
        return SqliteStore(path)
