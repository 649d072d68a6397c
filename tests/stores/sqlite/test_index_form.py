"""An index that was written by other rules is built anew when the file is opened."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.recall import Filters
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore, index
from holdfast.testing.store_case import FIRST, drafts


def test_another_form_of_the_index_is_replaced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=FIRST, source="cli", started=1))
        store.append(FIRST, drafts("a walrus"))
    spoil(path)
    assert found(path) == []
    monkeypatch.setattr(index, "FORM", 99)
    assert found(path) == [FIRST]
    spoil(path)
    assert found(path) == []
    monkeypatch.setattr(index, "FORM", 98)
    assert found(path) == [FIRST]


def test_a_log_that_cannot_be_read_does_not_keep_the_file_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=FIRST, source="cli", started=1))
        store.append(FIRST, drafts("a walrus", "b"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE messages SET body = x'ff00' WHERE position = 2")
    monkeypatch.setattr(index, "FORM", 99)
    assert found(path) == [FIRST]
    with closing(SqliteStore(path)) as store:
        store.repair()
        assert store.check().problems == ()
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'index'").fetchone()
    assert row == ("99",)


def test_a_file_of_the_first_form_finds_letters_that_are_written_as_two(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=FIRST, source="cli", started=1))
        store.append(FIRST, drafts("le cœur d'une walrus"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # As the first form had it, which took no letter apart and left no note of itself.
        connection.execute("DELETE FROM meta WHERE key = 'index'")
        connection.execute("INSERT INTO message_words(message_words) VALUES ('delete-all')")
        connection.execute("INSERT INTO message_words(rowid, text) VALUES (1, 'le cœur walrus')")
    with closing(SqliteStore(path)) as store:
        for query in ("coeur", "cœur", "CŒUR"):
            hits = store.search(query, Filters(), limit=3, now=1)
            assert [hit.session_id for hit in hits] == [FIRST]
        store.trash([FIRST], 5)
        store.purge([FIRST])
        assert store.check().problems == ()
    assert found(path) == []


def spoil(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO message_words(message_words) VALUES ('delete-all')")


def found(path: Path) -> list[str]:
    with closing(SqliteStore(path)) as store:
        return [hit.session_id for hit in store.search("walrus", Filters(), limit=3, now=1)]
