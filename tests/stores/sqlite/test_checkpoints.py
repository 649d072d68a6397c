"""What waits beside the file is moved into it while others go on."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from holdfast.errors import StoreError
from holdfast.session import Draft, Session
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.transcript import Message, Role, Text

SAID = "The totals differ by one."


def store_with_a_message(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    store.create(Session(id="one", source="test", started=1))
    store.append("one", [Draft(message=Message(Role.USER, (Text(SAID),)), at=1, tokens=1)])
    return store


def test_after_a_checkpoint_everything_is_in_the_file_itself(tmp_path: Path) -> None:
    store = store_with_a_message(tmp_path / "store.db")
    store.checkpoint()
    # Alone, without what lies beside it.
    shutil.copy(tmp_path / "store.db", tmp_path / "copy.db")
    (entry,) = SqliteStore(tmp_path / "copy.db").since("one", 0)
    assert entry.message.text == SAID


def test_a_checkpoint_waits_for_nobody_who_writes(tmp_path: Path) -> None:
    store = store_with_a_message(tmp_path / "store.db")
    with sqlite3.connect(tmp_path / "store.db", isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        SqliteStore(tmp_path / "store.db").checkpoint()
        writer.execute("ROLLBACK")
    writer.close()
    assert [entry.message.text for entry in store.since("one", 0)] == [SAID]
    assert store.check().problems == ()


def test_a_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    store = store_with_a_message(tmp_path / "store.db")
    (tmp_path / "store.db").unlink()
    with pytest.raises(StoreError):
        store.checkpoint()
    assert not (tmp_path / "store.db").exists()
