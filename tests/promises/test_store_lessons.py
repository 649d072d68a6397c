"""What hurts users of other stores, and does not happen in this one."""

import base64
import random
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.errors import StoreDamaged
from holdfast.recall import Filters
from holdfast.session import Draft, Session
from holdfast.stores.sqlite import PATIENCE, SqliteStore
from holdfast.transcript import Media, Message, Role, Text
from tests.cli.running import run
from tests.conversation.talking import begun, talk

ID = "20260101_000000_abcdef"


def size_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size


def picture(seed: int) -> Message:
    content = base64.b64encode(random.Random(seed).randbytes(200_000)).decode()
    return Message(Role.USER, (Text(f"look {seed}"), Media("image", "image/png", content)))


def test_a_picture_is_stored_once_however_often_it_recurs(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=ID, source="api", started=1))
        store.append(ID, [Draft(message=picture(1), at=1)])
        once = size_of(path)
        store.append(ID, [Draft(message=picture(1), at=1) for _ in range(40)])
        assert size_of(path) < once + 40_000
        store.append(ID, [Draft(message=picture(2), at=1)])
        assert size_of(path) > once + 190_000
        assert all(entry.message == picture(1) for entry in store.window(ID).entries[:41])


def test_a_resumed_session_reads_only_what_the_window_shows(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    chat = begun(path, automatic=False)
    for start in range(0, 80, 20):
        talk(chat, range(start, start + 20))
        assert chat.compress().outcome == "folded"
    log = chat.store.entries(chat.id, 1, chat.session.size)
    shown = {entry.id for entry in chat.store.window(chat.id).entries}
    assert len(shown) < len(log) // 4
    # What is not shown is made unreadable: a window that looked at it would fail.
    with closing(sqlite3.connect(path)) as connection:
        gone = [(entry.id,) for entry in log if entry.id not in shown]
        connection.executemany("UPDATE messages SET body = x'ff' WHERE id = ?", gone)
        connection.commit()
    with closing(SqliteStore(path)) as store:
        assert {entry.id for entry in store.window(chat.id).entries} == shown
        with pytest.raises(StoreDamaged):
            store.since(chat.id, 0)
    chat.store.close()


def test_compactions_grow_the_store_by_what_they_write(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    chat = begun(path, automatic=False)
    sizes: list[int] = []
    for start in range(0, 120, 10):
        talk(chat, range(start, start + 10))
        chat.compress()
        sizes.append(size_of(path))
    steps = [after - before for before, after in pairwise(sizes)]
    assert max(steps[-4:]) < 3 * max(max(steps[:4]), 40_000)
    chat.store.close()


def test_one_message_is_one_hit_however_often_windows_repeat_it(tmp_path: Path) -> None:
    chat = begun(tmp_path / "store.db", automatic=False)
    chat.add_user("The zebracorn port is 5433")
    for start in range(0, 40, 8):
        talk(chat, range(start, start + 8))
        chat.compress()
    hits = chat.store.search("zebracorn", Filters(), limit=10, now=0)
    assert [hit.position for hit in hits] == [1]
    chat.store.close()


def test_writers_wait_their_turn_with_patience() -> None:
    assert (PATIENCE.tries, PATIENCE.shortest, PATIENCE.longest) == (15, 0.02, 0.15)


def test_a_file_in_use_keeps_its_journal_and_refuses_dangling_references(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as first, closing(SqliteStore(path)) as second:
        first.create(Session(id=ID, source="api", started=1))
        second.append(ID, [Draft(message=picture(1), at=1)])
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_an_export_never_takes_the_place_of_the_store(tmp_path: Path, suffix: str) -> None:
    chat = begun(tmp_path / "profiles" / "default" / "holdfast.db")
    chat.add_user("precious")
    target = Path(chat.store.name + suffix)
    done = run(
        "sessions", "export", "last", "-o", str(target), env={"HOLDFAST_HOME": str(tmp_path)}
    )
    assert done.code == 1
    assert "is a database and is not overwritten" in done.errors
    assert chat.store.check().problems == ()
    assert chat.log[0].message.text == "precious"
    chat.store.close()
