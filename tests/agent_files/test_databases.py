"""Databases of other agents are read as they are found, and nothing is left beside them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from holdfast.agent_files.databases import detect_database, tell_database
from holdfast.agent_files.files import begins_database
from holdfast.errors import DecodeError
from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.reader import Guess
from holdfast.formats.replay import replay
from tests.formats.langgraph.graphs import Saver, human

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holdfast.formats.events import Event

SESSIONS = """
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT,
    system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL,
    end_reason TEXT, message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0"""
MESSAGES = """
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
    token_count INTEGER, finish_reason TEXT"""
# What the columns of each release are, the newer ones added to the older.
RELEASES = {
    2: ("", ""),
    6: (
        ", title TEXT, cache_read_tokens INTEGER DEFAULT 0, estimated_cost_usd REAL",
        ", reasoning TEXT, reasoning_details TEXT, codex_reasoning_items TEXT",
    ),
    17: (
        ", title TEXT, cwd TEXT, archived INTEGER NOT NULL DEFAULT 0",
        ", reasoning TEXT, reasoning_content TEXT, platform_message_id TEXT,"
        " observed INTEGER DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,"
        " compacted INTEGER NOT NULL DEFAULT 0",
    ),
    23: (
        ", title TEXT, cwd TEXT, git_branch TEXT, api_call_count INTEGER DEFAULT 0",
        ", active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0,"
        " effect_disposition TEXT, api_content TEXT, display_kind TEXT",
    ),
}
CHECKPOINTS = """CREATE TABLE checkpoints (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))"""
WRITES = """CREATE TABLE writes (
    thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))"""


def owner_of(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def hermes(path: Path, release: int = 23, *, logged: bool = False) -> Path:
    sessions, messages = RELEASES[release]
    with closing(owner_of(path)) as owner:
        if logged:
            owner.execute("PRAGMA journal_mode = WAL")
        owner.execute(f"CREATE TABLE sessions ({SESSIONS}{sessions})")
        owner.execute(f"CREATE TABLE messages ({MESSAGES}{messages})")
        owner.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        add_session(owner, "s")
        add_message(owner, "s", "hello")
    return path


def add_session(owner: sqlite3.Connection, name: str) -> None:
    text = "INSERT INTO sessions (id, source, started_at) VALUES (?, 'cli', 1700000000.5)"
    owner.execute(text, (name,))


def add_message(owner: sqlite3.Connection, session: str, words: object) -> None:
    text = "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, 1)"
    owner.execute(text, (session, words))


def langgraph(path: Path, saver: Saver) -> Path:
    with closing(owner_of(path)) as owner:
        owner.execute(CHECKPOINTS)
        owner.execute(WRITES)
        for table, rows in saver.tables.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                text = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
                owner.execute(text, tuple(row.values()))
    return path


def words(events: Sequence[Event]) -> list[str]:
    return [event.message.text for event in events if isinstance(event, MessageEvent)]


def beside(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_of_hermes_is_read_by_the_columns_it_has(
    tmp_path: Path, release: int
) -> None:
    path = hermes(tmp_path / "state.db", release)
    reason = "the tables `sessions` and `messages` have the columns of Hermes"
    assert detect_database(path) == Guess("hermes-state", 1.0, reason)
    begun, told = tell_database(path)
    about = About(id="s", started=1_700_000_000_500, more={"source": "cli"})
    assert begun == StrandStarted(strand="s", line=1, about=about)
    assert words([told]) == ["hello"]


def test_a_compaction_in_place_is_told_as_one(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db")
    summary = "[CONTEXT COMPACTION] Earlier turns were folded.\n\nThey met."
    with closing(owner_of(path)) as owner:
        owner.execute("UPDATE messages SET active = 0, compacted = 1")
        text = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', ?, ?, ?)"
        owner.execute(text, ("user", summary, 9.0))
        owner.execute(text, ("user", "hello", 1.0))
        owner.execute(text, ("assistant", "go on", 20.0))
    events = list(tell_database(path))
    assert [event.shows for event in events if isinstance(event, CompactionEvent)] == [("2", "1")]
    (conversation,) = replay(events)
    assert [message.text for message in conversation.window] == ["", "hello", "go on"]


def test_sessions_are_conversations_of_their_own(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db")
    with closing(owner_of(path)) as owner:
        add_session(owner, "z")
        add_message(owner, "z", "other")
    assert [each.about.id for each in replay(tell_database(path))] == ["s", "z"]


@pytest.mark.parametrize("as_json", [True, False])
def test_checkpoints_of_langgraph_are_read(tmp_path: Path, as_json: bool) -> None:
    saver = Saver(as_json=as_json)
    first = saver.put([human("a")])
    saver.put([human("a"), human("b")], first)
    path = langgraph(tmp_path / "checkpoints.sqlite", saver)
    assert detect_database(path).format == "langgraph"
    assert words(list(tell_database(path))) == ["a", "b"]


def test_what_its_owner_wrote_last_is_read_while_it_writes(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db", logged=True)
    with closing(owner_of(path)) as owner:
        add_message(owner, "s", "in the log")
        owner.execute("BEGIN IMMEDIATE")
        add_message(owner, "s", "not yet certain")
        files = beside(path)
        events = tell_database(path)
        begun = next(events)
        owner.execute("COMMIT")
        assert words([begun, *events]) == ["hello", "in the log"]
        assert beside(path) == files


@pytest.mark.parametrize("logged", [True, False])
def test_nothing_is_left_beside_a_database_at_rest(
    tmp_path: Path,
    logged: bool,
) -> None:
    path = hermes(tmp_path / "state.db", logged=logged)
    content = path.read_bytes()
    detect_database(path)
    assert words(list(tell_database(path))) == ["hello"]
    assert beside(path) == ["state.db"]
    assert path.read_bytes() == content


def test_a_change_during_the_reading_of_a_database_at_rest_is_said(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db", logged=True)
    events = tell_database(path)
    begun = next(events)
    with closing(owner_of(path)) as owner:
        add_message(owner, "s", "late")
    rest = list(events)
    reason = "its owner wrote to the database while it was read; import it again"
    assert words([begun, *rest])[:1] == ["hello"]
    assert rest[-1] == Problem(1, reason)


def test_a_log_is_read_where_no_index_of_it_can_be_made(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db", logged=True)
    copy = tmp_path / "copy" / "state.db"
    copy.parent.mkdir()
    with closing(owner_of(path)) as owner:
        add_message(owner, "s", "in the log")
        for suffix in ("", "-wal"):
            copy.with_name(copy.name + suffix).write_bytes(
                path.with_name(path.name + suffix).read_bytes()
            )
    copy.with_name("state.db-shm").mkdir()
    assert words(list(tell_database(copy))) == ["hello", "in the log"]


def test_a_database_that_its_owner_holds_is_a_sentence(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db")
    with closing(owner_of(path)) as owner:
        owner.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DecodeError, match="its owner is writing to it; try again"):
            detect_database(path, patience=0.01)


def test_the_database_of_somebody_else_has_no_name_and_cannot_be_told(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.sqlite"
    with closing(owner_of(path)) as owner:
        owner.execute('CREATE TABLE "pla""ces" (url TEXT)')
    reason = 'no agent that we know has these tables: pla"ces'
    assert detect_database(path) == Guess("", 0.0, reason)
    with pytest.raises(DecodeError, match="this is the database of no agent that we know"):
        next(tell_database(path))


def test_a_database_whose_tables_are_no_text_is_a_sentence(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db")
    path.write_bytes(
        path.read_bytes().replace(b"CREATE TABLE messages", b"CREATE \xd9ABLE messages")
    )
    with pytest.raises(DecodeError, match=r"sqlite: .*state.db: it is damaged"):
        detect_database(path)


def test_a_database_whose_beginning_is_damaged_is_a_sentence(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db")
    content = bytearray(path.read_bytes())
    content[100:600] = b"\xff" * 500
    path.write_bytes(bytes(content))
    with pytest.raises(DecodeError, match=r"sqlite: .*state.db: it is damaged"):
        detect_database(path)


def test_damage_further_on_ends_the_telling_with_a_problem(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db")
    with closing(owner_of(path)) as owner:
        owner.execute("BEGIN")
        for number in range(300):
            add_message(owner, "s", f"{number} " + "x" * 500)
        owner.execute("COMMIT")
    content = path.read_bytes()
    half = len(content) // 2 // 4096 * 4096
    path.write_bytes(content[:half] + b"\xff" * (len(content) - half))
    *events, last = tell_database(path)
    assert words(events)[:2] == ["hello", "0 " + "x" * 500]
    assert isinstance(last, Problem)
    assert last.reason.startswith("the rest of the database cannot be read: it is damaged")


def test_text_that_is_no_text_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    path = hermes(tmp_path / "state.db")
    with closing(owner_of(path)) as owner:
        owner.execute("UPDATE messages SET content = CAST(x'68ff69' AS TEXT)")
    assert words(list(tell_database(path))) == ["h\ufffdi"]


def test_a_database_is_known_by_how_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"SQLite format 4\0")
    assert not begins_database(path.read_bytes())
    with pytest.raises(DecodeError, match="this is no SQLite database"):
        detect_database(path)
    path.unlink()
    assert begins_database(hermes(path).read_bytes())


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="it cannot be read \\(No such file or directory\\)"):
        next(tell_database(tmp_path / "state.db"))


def test_a_name_with_marks_of_an_address_is_a_name(tmp_path: Path) -> None:
    folder = tmp_path / "100%? #1"
    folder.mkdir()
    assert words(list(tell_database(hermes(folder / "a?b#c.db")))) == ["hello"]


def test_a_real_database_of_langgraph_is_told_to_its_window(shared: Path) -> None:
    path = next((shared / "data" / "sessions" / "langgraph").glob("*.db"), None)
    if path is None:
        pytest.skip("no database here")
    events = list(tell_database(path))
    assert [type(event) for event in events if not isinstance(event, MessageEvent)] == [
        StrandStarted,
        CompactionEvent,
    ]
    assert len(words(events)) == 13
    (conversation,) = replay(events)
    assert len(conversation.window) == 7
    assert not any(isinstance(event, MetadataUpdated | RewindEvent) for event in events)
