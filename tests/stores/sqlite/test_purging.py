"""A purge goes in small steps, and whatever stops it, the next one goes on from there."""

import random
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from string import ascii_letters

import pytest

from holdfast.errors import StoreDamaged
from holdfast.ports import Listing
from holdfast.recall import Filters
from holdfast.session import Cause, Change, Fork, Session, Spawn, squeeze
from holdfast.stores.sqlite import SqliteStore, purging
from holdfast.stores.sqlite.connection import Database
from holdfast.testing.store_case import FIRST, SECOND, drafts, said, texts

LONG = "a long sentence about a walrus and its tusks, " * 100
STEP = 3
STEPS = 10
"""Transactions of the purge below: one to hide, four for messages, and five to clean up."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a store with a trashed session of which a branch shows two messages."""
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=FIRST, source="cli", started=1))
        entries = store.append(FIRST, [said(f"{LONG} {number}") for number in range(3 * STEP)])
        child = Session(id=SECOND, source="cli", started=4, parent=FIRST, fork=Fork.BRANCH)
        store.spawn(Spawn(child=child, shows=(entries[1], entries[5])))
        store.append(SECOND, drafts("a walrus of its own"))
        store.trash([FIRST], 5)
    return path


class Stopped(Exception):
    """Stands for the end of the process."""


def stopping_after(count: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let the process end before the transaction of a number; returns how many there were."""
    begun = 0
    write = Database.write

    @contextmanager
    def counted(
        self: Database, on_rollback: Callable[[], None] | None = None
    ) -> Generator[sqlite3.Connection]:
        nonlocal begun
        if begun == count:
            raise Stopped
        begun += 1
        with write(self, on_rollback) as connection:
            yield connection

    monkeypatch.setattr(Database, "write", counted)
    return lambda: begun


def found(store: SqliteStore) -> set[str]:
    hits = store.search("walrus", Filters(include_trashed=True), limit=20, now=1)
    return {hit.session_id for hit in hits}


def assert_gone(path: Path) -> None:
    """Nothing is left of the session but what its branch shows."""
    with closing(SqliteStore(path)) as store:
        assert found(store) == {SECOND}
        shown = [f"{LONG} 1", f"{LONG} 5", "a walrus of its own"]
        assert texts(store.window(SECOND).entries) == shown
        health = store.check()
        assert (health.problems, health.sessions, health.messages) == ((), 1, 3)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM blobs").fetchone() == (2,)
        assert connection.execute("SELECT key FROM meta").fetchall() in ([], [("index",)])
        connection.execute("INSERT INTO message_words(message_words) VALUES ('integrity-check')")


def test_a_purge_takes_many_short_transactions(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purging, "_AT_ONCE", STEP)
    with monkeypatch.context() as patch, closing(SqliteStore(file)) as store:
        begun = stopping_after(99, patch)
        assert store.purge([FIRST]) == 1
        assert begun() == STEPS
    assert_gone(file)


@pytest.mark.parametrize("count", range(1, STEPS))
@pytest.mark.parametrize("way", ["another purge", "a repair"])
def test_a_purge_that_stops_is_brought_to_its_end(
    file: Path, count: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "_AT_ONCE", STEP)
    with monkeypatch.context() as patch, closing(SqliteStore(file)) as store:
        stopping_after(count, patch)
        with pytest.raises(Stopped):
            store.purge([FIRST])
    with closing(SqliteStore(file)) as store:
        assert store.check().problems == ()
        assert found(store) == {SECOND}
        assert store.sessions(Listing(trashed=True)) == ()
        if way == "a repair":
            store.repair()
        else:
            assert store.purge(()) == 0
    assert_gone(file)


def test_a_damaged_view_of_another_session_is_a_sentence(file: Path) -> None:
    with closing(SqliteStore(file)) as store:
        head = store.head(SECOND)
        change = Change(
            cause=Cause.COMPACTION,
            pieces=(said("summary"),),
            generation=head.generation,
            seen=head.size,
            at=7_000,
        )
        store.change(SECOND, change)
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("UPDATE views SET spans = '[[1,'")
        for work in (lambda: store.views(SECOND), lambda: store.purge([FIRST])):
            with pytest.raises(StoreDamaged, match=r"view 1 cannot .*holdfast doctor --repair"):
                work()
        assert store.session(FIRST).trashed == 5


def test_what_a_repair_set_aside_keeps_its_contents(file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        (body,) = connection.execute("SELECT body FROM messages WHERE id = 2").fetchone()
        connection.execute("UPDATE messages SET role = 9 WHERE id = 2")
    with closing(SqliteStore(file)) as store:
        store.repair()
        store.purge([FIRST])
        assert store.check().problems == ()
    with closing(sqlite3.connect(file)) as connection:
        aside = connection.execute("SELECT content FROM set_aside").fetchall()
        assert (body,) in aside


@pytest.mark.parametrize("length", [40, 9_000], ids=["a row", "a blob"])
def test_nothing_that_was_deleted_for_good_can_be_read_in_the_file(
    length: int, tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    secret = "".join(random.Random(length).choices(ascii_letters, k=length))
    with closing(SqliteStore(path)) as store:
        for id_, text in ((FIRST, secret), (SECOND, "something else")):
            store.create(Session(id=id_, source="cli", started=1))
            store.append(id_, [said(f"{text} {number}") for number in range(200)])
    written = squeeze(f"{secret} 77".encode())[-40:]
    assert written in path.read_bytes()
    with closing(SqliteStore(path)) as store:
        store.trash([FIRST], 5)
        store.purge([FIRST])
    assert written not in path.read_bytes()
