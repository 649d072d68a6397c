"""An empty store for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.stores.sqlite import SqliteStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "holdfast.db")
    yield opened
    opened.close()
