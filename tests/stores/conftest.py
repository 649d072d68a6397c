"""Stores of every kind, for what each of them must do alike."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from holdfast.ports import Store
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore

OpenStore: TypeAlias = Callable[[Path], Store]


def in_memory(path: Path) -> Store:
    return MemoryStore(str(path))


@pytest.fixture(scope="module", params=[SqliteStore, in_memory], ids=["sqlite", "memory"])
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    return request.param
