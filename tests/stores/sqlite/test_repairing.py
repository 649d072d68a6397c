"""Damage of every kind is found, named and mended, and nothing that can be read is lost."""

import json
import random
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from holdfast.errors import StoreDamaged, StoreError
from holdfast.ports import Listing
from holdfast.recall import Filters
from holdfast.session import Cause, Change, Draft, Session
from holdfast.stores.sqlite import SqliteStore, salvage
from holdfast.testing.store_case import FIRST, SECOND, drafts, said, texts
from holdfast.transcript import Message, Role, Text, ToolResult

LONG = "a long sentence about a walrus and its tusks, " * 100
PAGE = 4096


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a store with two sessions: one compacted, one with a thousand messages."""
    path = tmp_path_factory.mktemp("sound") / "store.db"
    with closing(SqliteStore(path)) as store:
        store.create(Session(id=FIRST, source="cli", started=1_000, title="Kept"))
        entries = store.append(FIRST, drafts("a walrus", LONG, "c"))
        whole = Message(Role.TOOL, (ToolResult("c", (Text(f"{LONG} whole"),)),))
        short = Message(Role.TOOL, (ToolResult("c", (Text("cut"),)),))
        store.append(FIRST, [Draft(message=short, at=6_000, whole=whole)])
        head = store.head(FIRST)
        change = Change(
            cause=Cause.COMPACTION,
            pieces=(said("summary"), *entries[1:]),
            generation=head.generation,
            seen=head.size,
            at=7_000,
        )
        store.change(FIRST, change)
        store.create(Session(id=SECOND, source="cli", started=2_000))
        store.append(SECOND, [said(f"number {n} {words(n)}") for n in range(1_000)])
    return path.read_bytes()


@pytest.fixture
def file(sound: bytes, tmp_path: Path) -> Path:
    """Return the store as a file that may be damaged."""
    path = tmp_path / "store.db"
    path.write_bytes(sound)
    return path


def words(seed: int) -> str:
    chance = random.Random(seed)
    return " ".join(f"w{chance.randrange(10**6)}" for _ in range(12))


@contextmanager
def raw(path: Path) -> Generator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def problems(path: Path) -> tuple[str, ...]:
    with closing(SqliteStore(path)) as store:
        return store.check().problems


def repaired(path: Path) -> tuple[str, ...]:
    with closing(SqliteStore(path)) as store:
        done = store.repair()
        assert store.check().problems == ()
    assert [each for each in path.parent.iterdir() if each.name.startswith(".")] == []
    return done


def set_aside(path: Path) -> dict[str, object]:
    with raw(path) as connection:
        return dict(connection.execute("SELECT place, content FROM set_aside").fetchall())


def test_the_fixture_is_healthy(file: Path) -> None:
    assert problems(file) == ()
    with closing(SqliteStore(file)) as store:
        assert store.check().messages == 1_005


def test_a_lost_index_is_found_and_built_anew(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("INSERT INTO message_words(message_words) VALUES ('delete-all')")
    assert any("missing in the index" in each for each in problems(file))
    assert repaired(file)[-1] == "built the index anew from 1004 messages"
    with closing(SqliteStore(file)) as store:
        assert {hit.session_id for hit in store.search("walrus", Filters(), limit=9, now=1)} == {
            FIRST
        }


def test_a_wrong_size_is_counted_anew(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("UPDATE sessions SET size = 2 WHERE id = ?", (SECOND,))
    assert problems(file) == (f"session {SECOND} says its newest message is 2, and it is 1000",)
    assert "counted the messages of 1 sessions anew" in repaired(file)


def test_what_is_said_after_lost_rows_is_shown_and_counted(file: Path) -> None:
    """Views that reached farther than the log end with it, and so does the session's size."""
    with raw(file) as connection:
        connection.execute("DELETE FROM messages WHERE session = 1 AND position >= 4")
    assert any("that are not there" in each for each in problems(file))
    repaired(file)
    with closing(SqliteStore(file)) as store:
        assert store.session(FIRST).size == 3
        assert store.head(FIRST).generation > 1
        (entry,) = store.append(FIRST, drafts("next"))
        assert entry.position == 4
        assert texts(store.window(FIRST).entries) == [LONG, "c", "next"]


def test_a_body_that_cannot_be_read_is_set_aside(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("UPDATE messages SET body = x'ff00' WHERE id = 3")
        connection.execute("UPDATE messages SET body = CAST(x'ff41' AS TEXT) WHERE id = 1")
    with closing(SqliteStore(file)) as store:
        with pytest.raises(StoreDamaged, match=r"message 3: .*holdfast doctor --repair"):
            store.window(FIRST)
        with pytest.raises(StoreDamaged, match="holdfast doctor --repair"):
            store.entry(1)
        assert store.check().problems
    assert "mended 2 messages; what they were is set aside" in repaired(file)
    with closing(SqliteStore(file)) as store:
        shown = texts(store.window(FIRST).entries)
        assert shown[:2] == ["summary", LONG]
        assert "could not be read" in shown[2]
        assert store.entry(2).message.text == LONG
    assert set_aside(file) == {"messages 3 role 1": b"\xff\0", "messages 1 role 1": b"\xffA"}


def test_a_body_that_is_a_number_is_set_aside(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("UPDATE messages SET body = 5 WHERE id = 3")
    assert problems(file) == ("message 3: its content is a number, or nothing",)
    assert "mended 1 messages; what they were is set aside" in repaired(file)
    assert set_aside(file) == {"messages 3 role 1": 5}


def test_a_title_that_is_no_text_keeps_what_can_be_read(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("UPDATE sessions SET title = x'4b65ff' WHERE id = ?", (FIRST,))
    assert len(problems(file)) == 1
    assert "mended the title of 1 rows of sessions" in repaired(file)
    with closing(SqliteStore(file)) as store:
        assert store.session(FIRST).title == "Ke\ufffd"
    assert set_aside(file) == {"sessions 1 title": b"Ke\xff"}


def test_content_that_is_not_what_was_written_is_set_aside(file: Path) -> None:
    """Its message keeps everything else."""
    with raw(file) as connection:
        (digest,) = connection.execute("SELECT hash FROM blobs ORDER BY size LIMIT 1").fetchone()
        connection.execute("UPDATE blobs SET body = x'7244' WHERE hash = ?", (digest,))
    assert any("its hash is another" in each for each in problems(file))
    done = repaired(file)
    assert "set aside 1 contents that are not what was written" in done
    assert set_aside(file)[f"blobs {digest.hex()}"] == b"rD"


def test_a_whole_message_that_is_lost_leaves_the_short_one(file: Path) -> None:
    with raw(file) as connection:
        (digest,) = connection.execute("SELECT whole FROM messages WHERE whole NOTNULL").fetchone()
        connection.execute("DELETE FROM blobs WHERE hash = ?", (digest,))
    assert any("is missing" in each for each in problems(file))
    repaired(file)
    with closing(SqliteStore(file)) as store:
        assert store.entry(4).message.results[0].text == "cut"
        assert "could not be read" in store.whole(4).text


def test_views_show_what_is_left(file: Path) -> None:
    with raw(file) as connection:
        (spans,) = connection.execute("SELECT spans FROM views").fetchone()
        broken = [*json.loads(spans), [1, 90, 99], [77, 1, 2]]
        connection.execute("UPDATE views SET spans = ?", (json.dumps(broken),))
    assert len(problems(file)) == 2
    assert "view 1 shows what is left of what it showed" in repaired(file)
    with closing(SqliteStore(file)) as store:
        assert texts(store.window(FIRST).entries)[:3] == ["summary", LONG, "c"]
    assert json.loads(str(set_aside(file)["views 1 spans"])) == broken


def test_a_view_that_is_no_json_shows_the_log_that_follows(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("UPDATE views SET spans = '[[1'")
    assert problems(file) == ("view 1 cannot be read",)
    repaired(file)
    with closing(SqliteStore(file)) as store:
        assert texts(store.window_at(FIRST, None).entries)[:3] == ["a walrus", LONG, "c"]


def test_a_lost_view_leaves_the_newest_or_the_log(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("DELETE FROM views")
    assert any("refers to a row of views" in each for each in problems(file))
    assert any("because theirs was lost" in each for each in repaired(file))
    with closing(SqliteStore(file)) as store:
        assert store.head(FIRST).view is None
        assert texts(store.window(FIRST).entries)[0] == "a walrus"


def test_messages_without_a_session_get_one(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("DELETE FROM sessions WHERE id = ?", (FIRST,))
    done = repaired(file)
    assert any("whose own was lost" in each for each in done)
    with closing(SqliteStore(file)) as store:
        (found,) = store.sessions(Listing(sources=("recovered",)))
        assert (found.id, found.title, found.size) == ("19700101_000002_000001", "Recovered", 5)
        assert texts(store.window_at(found.id, None).entries)[:3] == ["a walrus", LONG, "c"]


def test_loose_rows_are_set_aside(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("INSERT INTO pins VALUES (1, 99999), (88, 1)")
        connection.execute("INSERT INTO leases VALUES (88, 'x', 1)")
        connection.execute("UPDATE sessions SET parent = 88, root = 88 WHERE id = ?", (SECOND,))
    assert len(problems(file)) == 5
    done = repaired(file)
    assert "set aside 2 rows of pins that refer to what is lost" in done
    assert "cut 1 sessions loose from a root that is lost" in done
    with closing(SqliteStore(file)) as store:
        assert store.session(SECOND).root == SECOND


def test_many_problems_are_counted(file: Path) -> None:
    with raw(file) as connection:
        connection.execute("UPDATE messages SET body = x'00' WHERE session = 2")
    found = problems(file)
    assert (len(found), found[-1]) == (101, "and 900 more")


def pages_of(path: Path, table: str) -> list[int]:
    with raw(path) as connection:
        rows = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)
        )
        return [page for (page,) in rows]


def spoil(path: Path, pages: list[int], content: bytes = b"\xff" * PAGE) -> None:
    with path.open("r+b") as handle:
        for page in pages:
            handle.seek((page - 1) * PAGE)
            handle.write(content)


def leaves(path: Path) -> list[int]:
    """Return the pages on which only messages of the second session stand."""
    try:
        return pages_of(path, "messages")[2:]
    except sqlite3.OperationalError:
        pytest.skip("this SQLite cannot tell which pages belong to a table")


def test_damaged_pages_cost_what_stood_on_them(file: Path) -> None:
    found = leaves(file)
    spoil(file, [found[3], found[7]])
    before = file.read_bytes()
    assert any("SQLite" in each or "cannot be read" in each for each in problems(file))
    done = repaired(file)
    (kept,) = (each for each in file.parent.glob("*.damaged-*") if each.name[-4:] != "-wal")
    assert done[0] == f"kept the damaged file as {kept}"
    assert kept.read_bytes() == before
    with closing(SqliteStore(file)) as store:
        assert texts(store.window(FIRST).entries)[:3] == ["summary", LONG, "c"]
        left = texts(store.window(SECOND).entries)
        assert 800 < len(left) < 1_000
        assert all(text.startswith("number ") for text in left)
        assert left[-1].startswith("number 999 ")
        (hit,) = store.search("number 999", Filters(sessions=(SECOND,)), limit=1, now=1)
        assert hit.position == 1_000
        (entry,) = store.append(SECOND, drafts("next"))
        assert (entry.id, entry.position) == (1_006, 1_001)


def test_a_lost_first_page_costs_nothing(file: Path) -> None:
    with closing(SqliteStore(file)) as store:
        before = (store.window(FIRST), store.window(SECOND), store.views(FIRST))
    spoil(file, [1], b"garbage!" * 512)
    with pytest.raises(StoreDamaged, match="holdfast doctor --repair"):
        SqliteStore(file)
    salvage(file)
    with closing(SqliteStore(file)) as store:
        assert store.check().problems == ()
        assert (store.window(FIRST), store.window(SECOND), store.views(FIRST)) == before


def test_a_file_that_was_cut_short_gives_back_its_beginning(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as handle:
        handle.truncate(size // 2 // PAGE * PAGE + 100)
    salvage(file)
    with closing(SqliteStore(file)) as store:
        assert store.check().problems == ()
        assert texts(store.window(FIRST).entries)[:2] == ["summary", LONG]
        assert len(store.window(SECOND).entries) > 100


def test_what_waits_beside_a_damaged_file_is_saved_too(tmp_path: Path, file: Path) -> None:
    """Messages that were committed and not yet moved into the file."""
    copy = tmp_path / "copy" / "store.db"
    copy.parent.mkdir()
    with closing(SqliteStore(file)) as store:
        store.append(FIRST, drafts("newest words"))
        for suffix in ("", "-wal"):
            (copy.parent / f"store.db{suffix}").write_bytes(Path(f"{file}{suffix}").read_bytes())
    spoil(copy, [leaves(file)[3]])
    salvage(copy)
    with closing(SqliteStore(copy)) as store:
        assert texts(store.window(FIRST).entries)[-1] == "newest words"
    assert len(list(copy.parent.glob("store.db.damaged-*-wal"))) == 1


@pytest.mark.parametrize("size", [50, PAGE, 10 * PAGE])
def test_nothing_readable_gives_an_empty_file_and_keeps_the_other(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(random.Random(1).randbytes(size))
    before = path.read_bytes()
    kept, nothing = salvage(path)
    assert nothing.startswith("nothing could be read from it")
    (beside,) = tmp_path.glob("store.db.damaged-*")
    assert str(beside) in kept
    assert beside.read_bytes() == before
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()


def test_salvage_of_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot"):
        salvage(tmp_path / "none" / "store.db")
    assert list(tmp_path.iterdir()) == []


def test_another_store_object_goes_on_with_the_fresh_file(file: Path) -> None:
    with closing(SqliteStore(file)) as other:
        other.head(FIRST)
        spoil(file, [leaves(file)[3]])
        with closing(SqliteStore(file)) as store:
            store.repair()
        other.append(FIRST, drafts("after the repair"))
        with closing(SqliteStore(file)) as store:
            assert texts(store.window(FIRST).entries)[-1] == "after the repair"
            assert store.check().problems == ()


@pytest.mark.parametrize("seed", range(12))
def test_random_damage_never_raises_anything_but_sentences(file: Path, seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 5, 40))):
        at = chance.randrange(len(content))
        length = chance.choice((1, 16, 600))
        content[at : at + length] = chance.randbytes(len(content[at : at + length]))
    file.write_bytes(content)
    try:
        with closing(SqliteStore(file)) as store:
            store.check()
            store.repair()
    except StoreDamaged:
        try:
            salvage(file)
        except StoreDamaged:
            return
    with closing(SqliteStore(file)) as store:
        assert store.check().problems == ()
        for session in store.sessions(Listing(limit=None)):
            store.window(session.id)
