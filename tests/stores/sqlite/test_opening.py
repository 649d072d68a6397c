"""Every file that a store can be asked to open: fresh, newer, foreign, unreadable, damaged."""

import os
import sqlite3
import stat
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkdtemp

import pytest

from holdfast.errors import StoreBusy, StoreDamaged, StoreError
from holdfast.recall import Filters
from holdfast.session import Session
from holdfast.stores.sqlite import LockPatience, SqliteStore
from holdfast.stores.sqlite.opening import migrate
from holdfast.stores.sqlite.schema import APPLICATION_ID, MIGRATIONS, VERSION
from holdfast.testing.store_case import FIRST, drafts, texts

SESSION = Session(id=FIRST, source="cli", started=1)
NOBODY = 65_534


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a store with a session and two messages in it, closed."""
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(SESSION)
        store.append(FIRST, drafts("one walrus", "two"))
    return path


@contextmanager
def raw(path: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_and_directories_are_for_their_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "store.db"
    before = os.umask(0)
    try:
        with closing(SqliteStore(path)) as store:
            store.create(SESSION)
            files = sorted(path.parent.iterdir())
            assert [each.name for each in files] == ["store.db", "store.db-shm", "store.db-wal"]
            assert {mode(each) for each in files} == {0o600}
            assert {mode(path.parent), mode(path.parent.parent)} == {0o700}
    finally:
        os.umask(before)


def test_a_directory_that_was_there_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    SqliteStore(tmp_path / "store.db").close()
    assert mode(tmp_path) == 0o755


def test_a_file_is_ours_and_says_its_version(file: Path) -> None:
    with raw(file) as connection:
        found = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version", "journal_mode")
        ]
    assert found == [APPLICATION_ID, VERSION, "wal"]


def test_an_empty_file_is_a_fresh_one(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    with closing(SqliteStore(path)) as store:
        assert store.create(SESSION).id == FIRST


def test_a_newer_file_is_refused_with_both_versions(file: Path) -> None:
    with raw(file) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match=rf"version {VERSION + 1}.*up to {VERSION}"):
        SqliteStore(file)


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with raw(path) as connection:
        connection.execute("CREATE TABLE theirs (a)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        SqliteStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database\n" * 400, bytes(8192), b"SQLite format 3\0"])
def test_what_is_no_database_says_how_to_repair(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(StoreDamaged, match="holdfast doctor --repair"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_a_path_that_cannot_be_a_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, words in (
        (tmp_path, "directory"),
        (tmp_path / "file" / "store.db", "cannot be used"),
        (tmp_path / "a\0b", "null"),
        (tmp_path / ("n" * 300), "too long"),
    ):
        with pytest.raises(StoreError, match=words):
            SqliteStore(path)


def test_opening_for_reading_alone_creates_and_changes_nothing(tmp_path: Path, file: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        SqliteStore(tmp_path / "none" / "store.db", read_only=True)
    assert not (tmp_path / "none").exists()
    before = file.read_bytes()
    with closing(SqliteStore(file, read_only=True)) as store:
        assert texts(store.window(FIRST).entries) == ["one walrus", "two"]
        with pytest.raises(StoreError, match="read-only"):
            store.append(FIRST, drafts("three"))
    assert file.read_bytes() == before


def test_strange_names_are_names(tmp_path: Path) -> None:
    for name in ("a b?mode=memory#x%41.db", "é ☕.db", ":memory:"):
        with closing(SqliteStore(tmp_path / name)) as store:
            store.create(SESSION)
        assert (tmp_path / name).stat().st_size > 0


def test_a_file_without_read_permission_is_a_sentence(file: Path) -> None:
    with as_nobody(file.parent, 0o700, file, 0o000), pytest.raises(StoreError, match="permission"):
        SqliteStore(file)


@pytest.mark.parametrize(
    ("directory", "permissions"), [(0o700, 0o400), (0o500, 0o400), (0o500, 0o600)]
)
def test_what_cannot_be_written_can_be_read(file: Path, directory: int, permissions: int) -> None:
    with as_nobody(file.parent, directory, file, permissions), closing(SqliteStore(file)) as store:
        assert store.is_read_only
        assert texts(store.window(FIRST).entries) == ["one walrus", "two"]
        (hit,) = store.search("walrus", Filters(), limit=3, now=1)
        assert hit.session_id == FIRST
        with pytest.raises(StoreError, match="read-only"):
            store.append(FIRST, drafts("three"))
        assert store.check().problems == ()


def test_an_old_file_that_cannot_be_written_is_a_sentence(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("PRAGMA user_version = 0")
    with (
        as_nobody(file.parent, 0o500, file, 0o400),
        pytest.raises(StoreError, match="make it writable"),
    ):
        SqliteStore(file)


def test_a_step_is_taken_once_and_with_its_number(file: Path) -> None:
    taken: list[int] = []

    def step(connection: sqlite3.Connection) -> None:
        taken.append(connection.execute("SELECT count(*) FROM messages").fetchone()[0])
        connection.execute("ALTER TABLE sessions ADD COLUMN mood TEXT")

    with raw(file) as connection:
        for _ in range(2):
            migrate(connection, steps=(*MIGRATIONS, step))
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert (taken, version) == ([2], VERSION + 1)


def test_a_step_that_fails_leaves_the_old_version(file: Path) -> None:
    def step(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE sessions ADD COLUMN mood TEXT")
        raise RuntimeError("half way")

    with raw(file) as connection, pytest.raises(RuntimeError, match="half way"):
        migrate(connection, steps=(*MIGRATIONS, step))
    with closing(SqliteStore(file)) as store:
        assert texts(store.window(FIRST).entries) == ["one walrus", "two"]
        assert store.check().problems == ()


def test_an_older_sqlite_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreError, match=r"3\.35 or newer"):
        SqliteStore(tmp_path / "store.db")
    assert not (tmp_path / "store.db").exists()


def test_a_writer_that_never_yields_is_given_up(file: Path) -> None:
    patience = LockPatience(tries=2, timeout_ms=5, shortest=0.001, longest=0.002)
    with closing(SqliteStore(file, patience)) as store, raw(file) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"):
            store.append(FIRST, drafts("three"))
        assert texts(store.window(FIRST).entries) == ["one walrus", "two"]
        other.execute("ROLLBACK")
        store.append(FIRST, drafts("three"))
        assert store.head(FIRST).size == 3


def test_many_threads_open_a_fresh_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(open_and_write, [path] * 8, range(8)))
    with closing(SqliteStore(path)) as store:
        assert store.check().sessions == 8


def test_many_processes_open_a_fresh_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "store.db"
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        list(pool.map(open_and_write, [path] * 8, range(8)))
    with closing(SqliteStore(path)) as store:
        health = store.check()
        assert (health.sessions, health.problems) == (8, ())


def open_and_write(path: Path, number: int) -> None:
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=f"session {number}", source="cli", started=1))


@contextmanager
def as_nobody(directory: Path, directory_mode: int, file: Path, mode: int) -> Generator[None]:
    """Work as a user whom permissions bind, where the tests run as one whom they do not.

    The file moves to a place that this user can reach, and its name stays in use.
    """
    is_root = os.geteuid() == 0
    if is_root:
        place = Path(mkdtemp())
        place.chmod(0o755)
        (place / "inner").mkdir()
        file.replace(place / "inner" / file.name)
        directory.rmdir()
        directory.symlink_to(place / "inner")
        for above in directory.parents:
            if above.stat().st_uid == 0 and "pytest" in str(above):
                above.chmod(0o755)
        os.chown(place / "inner", NOBODY, NOBODY)
        os.chown(file, NOBODY, NOBODY)
    file.chmod(mode)
    directory.chmod(directory_mode)
    try:
        if is_root:
            os.seteuid(NOBODY)
        yield
    finally:
        if is_root:
            os.seteuid(0)
        directory.chmod(0o700)
        file.chmod(0o600)
