"""Whatever state a file is in: a sentence instead of a traceback, and nothing is thrown away."""

import os
import resource
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from holdfast.errors import HoldfastError, StoreDamaged, StoreError
from holdfast.ports import Amendment, Listing
from holdfast.recall import Filters
from holdfast.session import Draft, Session
from holdfast.stores.sqlite import SqliteStore, opening, salvage
from holdfast.stores.sqlite.schema import VERSION
from holdfast.transcript import Message, Role, Text
from tests.cli.running import Ended, launch
from tests.promises.killing import SOAKS
from tests.promises.store_text import BRANCH, FIXTURES, ROOT, fill, load

CASES = 600 if SOAKS else 40
PAGE = 4096
NOBODY = 65_534
VERSIONS = sorted(FIXTURES.glob("store_v*.sql"))


def made(path: Path, messages: int = 0) -> Path:
    with closing(SqliteStore(path)) as store:
        fill(store)
        store.create(Session(id="long", source="test", started=1))
        store.append("long", [_draft(f"word{number} " * 40) for number in range(messages)])
    return path


def listed(path: Path) -> Ended:
    """List the sessions of a file as a user does."""
    return launch("sessions", "list", env={"HOLDFAST_STORE_URL": str(path)})


def assert_sentence(ended: Ended, *words: str) -> None:
    assert ended.code in (1, 2)
    assert "Traceback" not in ended.errors
    assert all(word in " ".join(ended.errors.split()) for word in words), ended.errors


@pytest.mark.parametrize("text", VERSIONS, ids=lambda path: path.stem)
def test_a_file_of_any_version_opens_with_everything_in_it(text: Path, tmp_path: Path) -> None:
    old, fresh = tmp_path / "old.db", tmp_path / "fresh.db"
    load(text.read_text("utf-8"), old)
    with closing(SqliteStore(old)) as store, closing(SqliteStore(fresh)) as other:
        fill(other)
        assert store.check().problems == ()
        assert store.check().version == VERSION
        assert everything(store) == everything(other)
        store.append(BRANCH, [_draft("It goes on.")])
        assert store.search("goes", Filters(), limit=1, now=0)
        assert store.amend(BRANCH, Amendment(key="mine")) == store.keyed("mine")
    assert schema(old) == schema(fresh)


def test_the_present_version_is_kept_as_text() -> None:
    assert FIXTURES / f"store_v{VERSION}.sql" in VERSIONS


def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = made(tmp_path / "store.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"of version {VERSION + 1}.* newer holdfast"):
        SqliteStore(path)
    assert_sentence(listed(path), f"version {VERSION + 1}", "newer holdfast")
    assert path.read_bytes() == before


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE songs (name)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        SqliteStore(path)
    assert_sentence(listed(path), "another program")
    assert path.read_bytes() == before


def test_a_path_that_can_hold_no_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    with pytest.raises(StoreError, match="is a directory"):
        SqliteStore(tmp_path)
    assert_sentence(listed(tmp_path), "is a directory")
    below = tmp_path / "file" / "store.db"
    with pytest.raises(StoreError, match="cannot be used as a store"):
        SqliteStore(below)
    assert "Traceback" not in listed(below).errors


def test_words_are_no_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("These are words and no database. " * 300)
    with pytest.raises(StoreDamaged, match="doctor --repair"):
        SqliteStore(path)
    assert_sentence(listed(path), "doctor --repair")


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    made(path)
    assert listed(path).code == 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a store that nothing has happened to."""
    return made(tmp_path_factory.mktemp("whole") / "store.db", 120).read_bytes()


@pytest.mark.parametrize("seed", range(CASES))
def test_damage_anywhere_is_a_sentence_and_repair_loses_nothing_readable(
    tmp_path: Path, seed: int, whole: bytes
) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(damaged(whole, Random(seed)))
    readable = survivors(path)
    try:
        mended = repaired(path)
    except StoreDamaged:
        assert not readable
        return
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == (), mended
        # Of two rows that damage gave one number, one stays; the damaged file has the other.
        assert len(readable - messages_of(store)) <= 1
        store.create(Session(id="afterwards", source="test", started=1))
        store.append("afterwards", [_draft("It goes on.")])


def test_a_damaged_file_is_a_sentence_on_the_command_line(tmp_path: Path) -> None:
    path = made(tmp_path / "store.db", 60)
    content = bytearray(path.read_bytes())
    content[PAGE:] = bytes(len(content) - PAGE)
    path.write_bytes(content)
    ended = listed(path)
    assert "Traceback" not in ended.errors
    assert_sentence(ended, "doctor --repair")


def test_a_full_disk_is_a_sentence_and_what_was_stored_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "store.db")
    with monkeypatch.context() as patch:
        patch.setattr(opening, "connect", never_growing(opening.connect))
        store = SqliteStore(path)
    confirmed = fill_up(store)
    assert {entry.message.text for entry in store.since("long", 0)} == confirmed
    store.close()
    with closing(SqliteStore(path)) as again:
        assert again.check().problems == ()
        again.append("long", [_draft("There is room.")])


def test_a_file_that_may_not_grow_is_a_sentence_and_what_was_stored_stays(tmp_path: Path) -> None:
    store = SqliteStore(made(tmp_path / "store.db"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    try:
        confirmed = fill_up(store, match="cannot be read or written|no space left")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store.append("long", [_draft("There is room.")])
    store.close()
    with closing(SqliteStore(tmp_path / "store.db")) as again:
        texts = {entry.message.text for entry in again.since("long", 0)}
        assert texts == confirmed | {"There is room."}
        assert again.check().problems == ()


@pytest.mark.parametrize("folder_mode", [0o777, 0o555])
def test_what_cannot_be_written_can_be_read_and_searched(folder_mode: int) -> None:
    with TemporaryDirectory() as folder:
        path = made(Path(folder) / "store.db")
        path.chmod(0o444)
        Path(folder).chmod(folder_mode)
        with unprivileged(), closing(SqliteStore(path)) as store:
            assert store.is_read_only
            assert store.window(BRANCH).entries
            assert store.search("invoice", Filters(), limit=1, now=0)
            with pytest.raises(StoreError, match="is read-only"):
                store.append(BRANCH, [_draft("No.")])
        assert listed(path).code == 0
        Path(folder).chmod(0o700)


def test_a_file_that_may_not_be_read_is_a_sentence() -> None:
    with TemporaryDirectory() as folder:
        path = made(Path(folder) / "store.db")
        path.chmod(0o000)
        Path(folder).chmod(0o755)
        with unprivileged(), pytest.raises(StoreError, match="no permission to read it"):
            SqliteStore(path)


def test_a_folder_that_may_not_be_written_is_a_sentence() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        with unprivileged(), pytest.raises(StoreError, match="Permission denied"):
            SqliteStore(Path(folder) / "below" / "store.db")
        Path(folder).chmod(0o700)


@contextmanager
def unprivileged() -> Generator[None]:
    """Be somebody whom permissions stop: they do not stop the superuser."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def damaged(whole: bytes, random: Random) -> bytes:
    """Flip bytes, blank pages or cut the end off."""
    content = bytearray(whole)
    match random.randrange(4):
        case 0:
            for _ in range(random.choice((1, 3, 30))):
                content[random.randrange(len(content))] ^= random.randrange(1, 256)
        case 1:
            for _ in range(random.choice((1, 3))):
                at = random.randrange(len(content) // PAGE) * PAGE
                content[at : at + PAGE] = bytes(PAGE)
        case 2:
            del content[random.randrange(1, len(content)) :]
        case _:
            at = random.randrange(len(content))
            noise = random.randbytes(random.choice((8, 600, 9_000)))
            content[at : at + len(noise)] = noise
    return bytes(content)


def survivors(path: Path) -> set[str]:
    """Return the messages that a damaged file still gives out, using it in every way."""
    try:
        store = SqliteStore(path)
    except HoldfastError:
        return set()
    with closing(store):
        for use in (
            lambda: store.sessions(Listing()),
            lambda: store.window(BRANCH),
            lambda: store.lineage(ROOT),
            lambda: store.search("word7 invoice", Filters(), limit=5, now=0),
            lambda: store.views(ROOT),
            lambda: store.check(),
        ):
            with suppress(StoreError):
                use()
        return messages_of(store)


def messages_of(store: SqliteStore) -> set[str]:
    """Return what was said, wherever it stands: a damaged name or number may have been mended."""
    found: set[str] = set()
    for id_ in range(1, 200):
        with suppress(StoreError):
            found.add(repr(store.entry(id_).message.parts))
    return found


def repaired(path: Path) -> tuple[str, ...]:
    try:
        store = SqliteStore(path)
    except StoreDamaged:
        return salvage(path)
    except StoreError as error:
        # Of another program or another version, as far as one can tell.
        return salvage(path) if "version" in str(error) or "program" in str(error) else ()
    with closing(store):
        return store.repair()


def fill_up(store: SqliteStore, match: str = "no space left") -> set[str]:
    """Write until nothing fits any more, and return what was confirmed."""
    confirmed: set[str] = set()

    def write() -> None:
        for number in range(10_000):
            text = f"{number} {Random(number).randbytes(3_000).hex()}"
            store.append("long", [_draft(text)])
            confirmed.add(text)

    with pytest.raises(StoreError, match=match):
        write()
    assert confirmed
    return confirmed


def never_growing(
    connect: Callable[[str, opening.LockPatience], sqlite3.Connection],
) -> Callable[[str, opening.LockPatience], sqlite3.Connection]:
    def connected(address: str, patience: opening.LockPatience) -> sqlite3.Connection:
        connection = connect(address, patience)
        connection.execute("PRAGMA max_page_count = 200")
        return connection

    return connected


def everything(store: SqliteStore) -> list[object]:
    kept: list[object] = [
        [
            store.session(id_),
            store.window(id_),
            store.views(id_),
            store.compactions(id_),
            store.pins(id_),
            store.since(id_, 0),
        ]
        for id_ in (ROOT, BRANCH)
    ]
    found: list[object] = [
        [hit.message_id for hit in store.search(query, Filters(), limit=9, now=0)]
        for query in ("invoice", "kase", "請求", "may", "march.py")
    ]
    return kept + found


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def _draft(text: str) -> Draft:
    return Draft(message=Message(Role.USER, (Text(text),)), at=1)
