"""A quick look at a file says what is there and leaves every byte as it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreDamaged, StoreError
from holdfast.ports import Lease
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.checkup import quick_check


def stored(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.create(Session(id="kept", source="cli", started=1))
        store.create(Session(id="trashed", source="cli", started=1))
        store.trash(["trashed"], 2)
        store.acquire(Lease("kept", "1:main:agent:abc", 5), 0)


def test_a_look_counts_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    stored(path)
    before = path.read_bytes()
    seen = quick_check(path)
    assert (seen.sessions, seen.trashed, seen.messages, seen.problems) == (1, 1, 0, ())
    assert seen.leases == (Lease("kept", "1:main:agent:abc", 5),)
    assert seen.version == seen.newest_version
    assert seen.bytes >= len(before)
    assert path.read_bytes() == before


def test_an_empty_file_is_of_version_zero(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.touch()
    assert quick_check(path).version == 0
    assert path.stat().st_size == 0


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(b"x" * 5_000)
    with pytest.raises(StoreDamaged, match="holdfast doctor --repair"):
        quick_check(path)


def test_a_database_of_another_program_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(StoreError, match="the database of another program"):
        quick_check(path)
