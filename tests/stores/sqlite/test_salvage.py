"""Whatever page is lost, what stands on the others is saved, and what is not is counted."""

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreDamaged
from holdfast.ports import Listing
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.salvage import save_readable
from holdfast.testing.store_case import FIRST, SECOND, drafts, said, texts

PAGE = 4096
LONG = "a long sentence about a walrus and its tusks, " * 300
COUNT = 400
STOPPED = 9


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a store with two sessions, long texts and a pin."""
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=FIRST, source="cli", started=1_000, title="Kept"))
        (first, *_) = store.append(FIRST, drafts("a walrus", LONG, "c"))
        store.pin(FIRST, first.id, pinned=True)
        store.create(Session(id=SECOND, source="cli", started=2_000))
        store.append(SECOND, [said(f"number {n} {'x' * 100 * (n % 60)}") for n in range(COUNT)])
        store.remember("window", "8000")
    return path


def roots(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT name, rootpage FROM sqlite_schema").fetchall())


def schema_leaves(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        try:
            rows = connection.execute(
                "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema' AND pagetype = 'leaf'"
            ).fetchall()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite cannot tell which pages belong to a table")
    return [page for (page,) in rows]


def spoil(path: Path, *pages: int) -> None:
    with path.open("r+b") as handle:
        for page in pages:
            handle.seek((page - 1) * PAGE)
            handle.write(b"\xa5" * PAGE)


def contents(path: Path) -> tuple[object, ...]:
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()
        return (
            [store.window(id_) for id_ in (FIRST, SECOND)],
            store.sessions(Listing(limit=None)),
            store.pins(FIRST),
            store.remembered("window"),
        )


def test_messages_are_read_page_by_page_when_the_way_to_them_is_lost(file: Path) -> None:
    before = contents(file)
    spoil(file, roots(file)["messages"])
    saved = save_readable(file)
    assert saved.missing == 0
    assert f"read {COUNT + 3} rows of messages, {COUNT + 3} of them page by page" in "".join(
        saved.done
    )
    assert contents(file) == before


def test_long_contents_are_read_page_by_page_when_the_way_to_them_is_lost(file: Path) -> None:
    """Tables that go by keys have records on the pages that lead to others, too."""
    before = contents(file)
    with closing(sqlite3.connect(file)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'blobs'"
        ).fetchone()
        (count,) = connection.execute("SELECT count(*) FROM blobs").fetchone()
    with file.open("rb") as handle:
        handle.seek((root - 1) * PAGE)
        assert handle.read(1) == b"\x02"
    spoil(file, root)
    saved = save_readable(file)
    (line,) = (each for each in saved.done if " rows of blobs" in each)
    found = int(line.split()[1])
    assert 0 < count - found < 20
    after = contents(file)
    assert after[1:] == before[1:]


def test_a_lost_table_of_sessions_leaves_every_message(file: Path) -> None:
    with closing(SqliteStore(file)) as store:
        before = [texts(store.window(id_).entries) for id_ in (FIRST, SECOND)]
    spoil(file, roots(file)["sessions"])
    with closing(SqliteStore(file)) as store:
        assert store.check().problems
        store.repair()
        assert store.check().problems == ()
        found = sorted(store.sessions(Listing(limit=None)), key=lambda each: each.size)
        assert [(each.title, each.source, each.size) for each in found] == [
            ("Recovered", "recovered", 3),
            ("Recovered", "recovered", COUNT),
        ]
        assert [texts(store.window(each.id).entries) for each in found] == before


@pytest.mark.parametrize("number", range(5))
def test_a_lost_list_of_tables_costs_nothing(file: Path, number: int) -> None:
    leaves = schema_leaves(file)
    if number >= len(leaves):
        return
    before = contents(file)
    spoil(file, leaves[number])
    assert save_readable(file).missing == 0
    assert contents(file) == before


def test_the_whole_list_of_tables_can_be_lost_with_the_first_page(file: Path) -> None:
    before = contents(file)
    spoil(file, 1, *schema_leaves(file))
    assert save_readable(file).missing == 0
    assert contents(file) == before


def test_what_waits_beside_a_file_counts_although_its_tables_are_lost(
    tmp_path: Path, file: Path
) -> None:
    copy = tmp_path / "copy" / "store.db"
    copy.parent.mkdir()
    with closing(SqliteStore(file)) as store:
        store.append(FIRST, drafts("newest words"))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{file}{suffix}", f"{copy}{suffix}")
    spoil(copy, *schema_leaves(file))
    save_readable(copy)
    with closing(SqliteStore(copy)) as store:
        assert texts(store.window(FIRST).entries)[-1] == "newest words"


def test_messages_that_cannot_be_read_are_counted(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        try:
            rows = connection.execute(
                "SELECT pageno FROM dbstat WHERE name = 'messages' AND pagetype != 'overflow'"
            ).fetchall()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite cannot tell which pages belong to a table")
    spoil(file, *(page for (page,) in rows))
    saved = save_readable(file)
    assert saved.missing == COUNT + 3
    assert f"{COUNT + 3} of {COUNT + 3} messages could not be read" in saved.done
    with closing(SqliteStore(file)) as store:
        assert store.check().problems == ()
        assert [each.size for each in store.sessions(Listing())] == [0, 0]
        (entry,) = store.append(FIRST, drafts("next"))
        assert (entry.id, entry.position) == (COUNT + 4, 1)
        assert texts(store.window(FIRST).entries) == ["next"]


def test_what_was_deleted_for_good_does_not_come_back(file: Path) -> None:
    """Its pages are free, and still hold it."""
    with closing(sqlite3.connect(file)) as connection:
        # Some builds of SQLite write over what is deleted, and some do not.
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("DELETE FROM messages WHERE session = 2")
        connection.execute("DELETE FROM sessions WHERE key = 2")
        connection.commit()
    root = roots(file)["messages"]
    assert file.read_bytes().count(b"number ") > 9
    spoil(file, root)
    save_readable(file)
    with closing(SqliteStore(file)) as store:
        assert store.check().messages <= 3
        assert all(each.title == "Kept" for each in store.sessions(Listing(limit=None)))


def damaged_with_words_beside(tmp_path: Path, file: Path) -> Path:
    copy = tmp_path / "copy" / "store.db"
    copy.parent.mkdir()
    with closing(SqliteStore(file)) as store:
        store.append(FIRST, drafts("newest words"))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{file}{suffix}", f"{copy}{suffix}")
    spoil(copy, roots(file)["views"])
    return copy


@pytest.mark.parametrize("point", range(4))
def test_a_repair_that_is_killed_loses_nothing(
    tmp_path: Path, file: Path, point: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it stops, the file under the name and what is beside it hold everything."""
    copy = damaged_with_words_beside(tmp_path, file)
    child = os.fork()
    if child == 0:
        try:
            left = [point]
            for name in ("replace", "unlink"):
                monkeypatch.setattr(Path, name, ending(getattr(Path, name), left))
            save_readable(copy)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == STOPPED
    try:
        with closing(SqliteStore(copy)) as store:
            store.repair()
    except StoreDamaged:
        save_readable(copy)
    with closing(SqliteStore(copy)) as store:
        assert store.check().problems == ()
        assert texts(store.window(FIRST).entries)[-1] == "newest words"


def ending(work: Callable[..., object], left: list[int]) -> Callable[..., object]:
    """Return a step on a path before which the process ends when none are left."""

    def step(path: Path, *given: object, **named: object) -> object:
        if path.name.startswith(("store.db", "fresh.db", "merged.db")):
            left[0] -= 1
            if left[0] < 0:
                os._exit(STOPPED)
        return work(path, *given, **named)

    return step


def test_a_file_system_without_links_keeps_a_copy(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "links are not permitted")

    monkeypatch.setattr("os.link", refuse)
    spoil(file, roots(file)["views"])
    before = file.read_bytes()
    save_readable(file)
    (kept,) = file.parent.glob("*.damaged-*")
    assert kept.read_bytes() == before
    assert contents(file)
