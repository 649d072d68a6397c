"""Connections: lent and given back, across threads, forks, full disks and replaced files."""

import os
import shutil
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreBusy, StoreDamaged, StoreError
from holdfast.ports import Lease
from holdfast.recall import Filters
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.connection import Database
from holdfast.stores.sqlite.opening import LockPatience
from holdfast.testing.store_case import FIRST, drafts, said, texts

SESSION = Session(id=FIRST, source="cli", started=1)


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "store.db")) as database:
        with database.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('a', '1')")
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="no space left"), database.write() as connection:
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)", [("b", "2"), ("c", "x" * 100_000)]
            )
        with database.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('d', '4')")
        with database.read() as connection:
            rows = connection.execute(
                "SELECT key FROM meta WHERE key <> 'index' ORDER BY key"
            ).fetchall()
    assert rows == [("a",), ("d",)]


def test_a_write_inside_a_write_is_refused(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "store.db")) as database:
        with database.write() as outer:
            outer.execute("INSERT INTO meta VALUES ('a', '1')")
            with pytest.raises(StoreError, match="inside another"), database.write():
                pass
        with database.read() as connection:
            assert connection.execute(
                "SELECT count(*) FROM meta WHERE key <> 'index'"
            ).fetchone() == (1,)


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with (
        closing(Database(tmp_path / "store.db")) as database,
        pytest.raises(StoreError, match="cannot be written"),
        database.read() as connection,
    ):
        connection.execute("DELETE FROM meta")


def test_a_reader_sees_one_moment(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "store.db")) as database, database.read() as reader:
        count = "SELECT count(*) FROM meta WHERE key <> 'index'"
        assert reader.execute(count).fetchone() == (0,)
        with database.write() as writer:
            writer.execute("INSERT INTO meta VALUES ('a', '1')")
        assert reader.execute(count).fetchone() == (0,)
        with database.read() as other:
            assert other.execute(count).fetchone() == (1,)


def test_a_look_waits_for_no_write_and_shows_nothing_of_it(tmp_path: Path) -> None:
    def looked() -> int:
        with database.look() as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM meta WHERE key <> 'index'")
            return count

    with closing(Database(tmp_path / "store.db")) as database, ThreadPoolExecutor(1) as other:
        with database.write() as writer:
            writer.execute("INSERT INTO meta VALUES ('a', '1')")
            assert looked() == 0
            assert other.submit(looked).result(5) == 0
        assert looked() == 1
        assert other.submit(looked).result(5) == 1


def test_threads_that_look_and_write_leave_nothing_locked_or_open(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store, ThreadPoolExecutor(4) as others:
        store.create(SESSION)
        head = store.head(FIRST)
        for _ in range(30):
            others.submit(store.refresh, FIRST, head)
            others.submit(store.append, FIRST, drafts("hello"))
        others.shutdown()
        assert len(store.window(FIRST).entries) == 30
        assert open_files(path) <= 3 * 5
    assert open_files(path) == 0


def test_threads_that_are_gone_leave_no_connections(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(SESSION)
        for _ in range(30):
            thread = threading.Thread(target=store.window, args=(FIRST,))
            thread.start()
            thread.join()
        assert open_files(path) <= 4
    assert open_files(path) == 0


def test_a_reader_that_is_lent_when_the_store_closes_is_closed_when_it_returns(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.db"
    database = Database(path)
    with database.read() as connection:
        database.close()
        assert connection.execute("SELECT count(*) FROM meta WHERE key <> 'index'").fetchone() == (
            0,
        )
    assert open_files(path) == 0


def test_closing_leaves_one_file(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.create(SESSION)
        store.head(FIRST)
    assert [each.name for each in tmp_path.iterdir()] == ["store.db"]


def test_a_child_process_opens_the_file_anew(tmp_path: Path) -> None:
    """Parent and child write in turns, and both find everything."""
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.create(SESSION)
        store.append(FIRST, drafts("parent"))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                store.append(FIRST, drafts("child"))
                seen = texts(store.window(FIRST).entries)
                store.close()
                code = 0 if seen == ["parent", "child"] else 2
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        store.append(FIRST, drafts("parent again"))
        assert texts(store.window(FIRST).entries) == ["parent", "child", "parent again"]
        assert store.check().problems == ()


def test_a_child_process_that_only_closes_disturbs_nobody(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.create(SESSION)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                store.close()
                with pytest.raises(StoreError, match="closed"):
                    store.head(FIRST)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        store.append(FIRST, drafts("a"))
        assert store.head(FIRST).size == 1


def test_a_child_process_is_not_stopped_by_a_lock_of_its_parent(tmp_path: Path) -> None:
    """Another thread writes while the process forks; its turn does not exist in the child."""
    with closing(Database(tmp_path / "store.db")) as database:
        begun, done = threading.Event(), threading.Event()

        def write() -> None:
            with database.write() as connection:
                connection.execute("INSERT INTO meta VALUES ('thread', '1')")
                begun.set()
                done.wait(20)

        thread = threading.Thread(target=write)
        thread.start()
        begun.wait(20)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with database.read() as connection:
                    found = connection.execute(
                        "SELECT count(*) FROM meta WHERE key <> 'index'"
                    ).fetchone()
                code = 0 if found == (0,) else 2
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        done.set()
        thread.join()
        assert os.waitstatus_to_exitcode(status) == 0


def test_a_file_that_was_replaced_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(SESSION)
        store.backup(tmp_path / "copy.db")
        store.append(FIRST, drafts("only in the old file"))
        (tmp_path / "copy.db").replace(path)
        for beside in ("store.db-wal", "store.db-shm"):
            (tmp_path / beside).unlink()
        store.append(FIRST, drafts("in the other"))
        assert texts(store.window(FIRST).entries) == ["in the other"]


def test_threads_go_on_while_the_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(SESSION)
        errors: list[StoreError] = []
        done = threading.Event()

        def work() -> None:
            while not done.is_set():
                try:
                    store.append(FIRST, ())
                    store.session(FIRST)
                except StoreError as error:
                    errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(15):
            copy = tmp_path / f"copy{number}.db"
            store.backup(copy)
            put_in_place(copy, path)
            time.sleep(0.02)
        done.set()
        for thread in threads:
            thread.join()
        assert errors == []
        assert store.check().problems == ()
        assert open_files(path) <= 12
    assert open_files(path) == 0


def test_a_file_that_could_not_be_opened_once_is_opened_when_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(SESSION)
        store.backup(tmp_path / "good.db")
        (tmp_path / "bad.db").write_bytes(b"no database " * 1_000)
        put_in_place(tmp_path / "bad.db", path)
        for work in (lambda: store.head(FIRST), lambda: store.append(FIRST, drafts("a"))):
            with pytest.raises(StoreDamaged):
                work()
        put_in_place(tmp_path / "good.db", path)
        store.append(FIRST, drafts("after all"))
        assert texts(store.window(FIRST).entries) == ["after all"]


def test_a_file_that_is_replaced_during_a_write_leaves_the_write_whole(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(Database(path)) as database:
        with database.read() as connection, closing(sqlite3.connect(tmp_path / "c.db")) as copy:
            connection.backup(copy)
        with database.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('a', '1')")
            put_in_place(tmp_path / "c.db", path)
            with database.read() as other:
                assert other.execute("SELECT count(*) FROM meta").fetchone() is not None
            connection.execute("INSERT INTO meta VALUES ('b', '2')")
    assert open_files(path) == 0


def test_a_file_that_is_gone_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "inner" / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(SESSION)
        shutil.rmtree(path.parent)
        for work in (lambda: store.head(FIRST), lambda: store.append(FIRST, drafts("a"))):
            with pytest.raises(StoreError, match="is gone"):
                work()


def test_a_table_that_is_missing_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(SESSION)
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE leases")
        with pytest.raises(StoreError, match="no such table: leases"):
            store.acquire(Lease(FIRST, "me", 9), 0)
        store.append(FIRST, drafts("a"))


def test_a_number_that_no_database_holds_is_a_sentence(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.create(SESSION)
        with pytest.raises(StoreError, match="64 bits"):
            store.append(FIRST, [said("a", 2**70)])
        assert store.head(FIRST).size == 0


def test_words_of_what_was_rolled_back_are_found_later(tmp_path: Path) -> None:
    """What the index remembers as written must have been written."""
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.create(SESSION)
        with pytest.raises(StoreError):
            store.append(FIRST, [said("hippopotamus"), said("b", 2**70)])
        assert store.search("hippopotamus", Filters(), limit=3, now=1) == ()
        store.append(FIRST, drafts("hippopotamus"))
        assert len(store.search("popotam", Filters(), limit=3, now=1)) == 1


def put_in_place(copy: Path, path: Path) -> None:
    """Restore a backup; what waits beside the old file does not belong to it."""
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    copy.replace(path)


def open_files(path: Path) -> int:
    """Return how many handles this process has on a file."""
    handles = Path("/proc/self/fd")
    if not handles.exists():
        pytest.skip("open files cannot be counted here")
    found = 0
    for handle in handles.iterdir():
        try:
            found += handle.readlink() == path
        except OSError:
            continue
    return found


def test_a_thread_that_never_ends_its_write_does_not_stop_the_others_for_ever(
    tmp_path: Path,
) -> None:
    """A listener inside a write may wait for a thread that waits for the write."""
    database = Database(tmp_path / "store.db", LockPatience(tries=1, timeout_ms=100, longest=0.02))
    refused: list[BaseException] = []

    def write() -> None:
        try:
            with database.write():
                pass
        except StoreBusy as error:
            refused.append(error)

    with database.write():
        waiting = threading.Thread(target=write)
        waiting.start()
        waiting.join(20)
    assert [str(error) for error in refused] == [
        f"{tmp_path / 'store.db'} was held by another thread of this process for too long; "
        "nothing was written, try again"
    ]
    database.close()
