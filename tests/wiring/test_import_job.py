"""Finds are taken into the store once, for as long as their files stay as they are."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.agent_files.detection import FoundFile, ReadOptions, gather
from holdfast.agent_files.finding import find_files
from holdfast.config import Settings
from holdfast.ports.store import Listing
from holdfast.session import Addition
from holdfast.stores.sqlite import SqliteStore
from holdfast.transfer import Count, ImportTally
from holdfast.wiring.import_job import ImportJob, ImportResult, ImportStatus, places_here, rehearsal
from tests.agent_files.agent_files import file_at, write_opencode, write_pi

CHAT = '{"messages": [{"role": "user", "content": "hello"}]}'


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path_factory.mktemp("store") / "holdfast.db")) as store:
        yield store


@pytest.fixture
def job(store: SqliteStore) -> ImportJob:
    return ImportJob(store, Settings())


def finds(*paths: Path) -> list[FoundFile]:
    looks = gather(find_files(map(str, paths)).files, ReadOptions())
    return [look for look in looks if isinstance(look, FoundFile)]


def taken(job: ImportJob, *paths: Path) -> list[ImportResult]:
    return [job.take(found) for found in finds(*paths)]


def test_a_file_is_imported_once_and_then_known(job: ImportJob, tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a", "a", "one", "two")
    assert not job.is_known(file_at(path))
    (first,) = taken(job, path)
    assert (first.status, first.tally.count) == (ImportStatus.IMPORTED, Count(messages=2))
    assert job.is_known(file_at(path))
    (again,) = taken(job, path)
    assert (again.status, again.tally) == (ImportStatus.UNCHANGED, ImportTally())


def test_a_file_that_grew_adds_what_is_new(job: ImportJob, tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a", "a", "one")
    (first,) = taken(job, path)
    write_pi(path, "a", "one", "two")
    assert not job.is_known(file_at(path))
    (second,) = taken(job, path)
    assert (second.tally.grown, second.tally.count.messages) == (first.tally.sessions, 1)


def test_a_copy_of_a_file_without_ids_is_no_other_session(
    job: ImportJob, store: SqliteStore, tmp_path: Path
) -> None:
    original, copy = tmp_path / "chat.json", tmp_path / "copy.json"
    for path in (original, copy):
        path.write_text(CHAT, "utf-8")
    first, second = taken(job, original, copy)
    assert (first.status, second.status) == (ImportStatus.IMPORTED, ImportStatus.UNCHANGED)
    assert second.reason == f"the same as {original}"
    assert len(store.sessions(Listing())) == 1


def test_small_files_are_taken_together_as_they_are_one_by_one(
    job: ImportJob, store: SqliteStore, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        write_pi(tmp_path / name, name, "one", "two")
    large = write_pi(tmp_path / "large", "large", "long " * 80_000)
    gone = write_pi(tmp_path / "gone", "gone", "one", "two", "three")
    copies = [tmp_path / "chat.json", tmp_path / "copy.json"]
    for path in copies:
        path.write_text(CHAT, "utf-8")
    found = finds(tmp_path)
    gone.unlink()
    done = {each.found.files[0].path: each for each in job.take_all(found)}
    assert done[gone].status is ImportStatus.FAILED
    assert done[copies[1]].reason == f"the same as {copies[0]}"
    others = [each for path, each in done.items() if path not in (gone, copies[1])]
    assert [each.status for each in others] == [ImportStatus.IMPORTED] * 5
    assert done[large].tally.count.messages == 1
    assert len(store.sessions(Listing())) == 5
    again = {each.found.files[0].path: each.status for each in job.take_all(found)}
    assert again == {path: ImportStatus.UNCHANGED for path in done} | {gone: ImportStatus.FAILED}


class CountingStore(SqliteStore):
    """Counts the transactions with messages in them."""

    written = 0

    def add(self, additions: Sequence[Addition]) -> None:
        self.written += 1
        super().add(additions)


def test_files_of_the_usual_size_are_written_in_one_transaction(tmp_path: Path) -> None:
    for number, name in enumerate("abcde"):
        # Files of the same size may be copies of each other, which is seen once one is written.
        write_pi(tmp_path / name, name, f"{name} one", "two " * (25_000 + number))
    with closing(CountingStore(tmp_path / "holdfast.db")) as store:
        done = ImportJob(store, Settings()).take_all(finds(tmp_path))
        assert [each.status for each in done] == [ImportStatus.IMPORTED] * 5
        assert store.written == 1


def test_a_session_that_openclaw_keeps_in_two_ways_is_one(
    job: ImportJob, store: SqliteStore, tmp_path: Path
) -> None:
    marked = {"role": "user", "content": "Which port?", "__openclaw": {}}
    lines = [
        json.dumps({"type": "session", "version": 3, "id": "w1", "cwd": "/srv"}),
        json.dumps({"type": "message", "id": "e1", "parentId": None, "message": marked}),
    ]
    left = tmp_path / "w1.jsonl.imported"
    left.write_text("".join(f"{line}\n" for line in lines))
    with closing(sqlite3.connect(tmp_path / "agent.sqlite", isolation_level=None)) as owner:
        owner.execute("CREATE TABLE session_windows (session_id TEXT, session_key TEXT)")
        owner.execute("CREATE TABLE transcript_events (session_id TEXT, seq INT, event_json TEXT)")
        owner.execute("INSERT INTO session_windows VALUES ('w1', 'agent:main:main')")
        rows = [("w1", place, line) for place, line in enumerate(lines)]
        owner.executemany("INSERT INTO transcript_events VALUES (?, ?, ?)", rows)
    assert [each.status for each in taken(job, left)] == [ImportStatus.IMPORTED]
    assert [each.status for each in taken(job, tmp_path / "agent.sqlite")] == [
        ImportStatus.UNCHANGED
    ]
    (session,) = store.sessions(Listing())
    assert session.source == "import:openclaw"


def test_a_session_that_opencode_moved_to_its_database_is_one_and_goes_on_there(
    job: ImportJob, store: SqliteStore, tmp_path: Path
) -> None:
    storage, moved = tmp_path / "storage", tmp_path / "moved"
    write_opencode(storage, "ses_a", "One")
    write_opencode(moved, "ses_a", "One", "Two")
    with closing(sqlite3.connect(tmp_path / "opencode.db", isolation_level=None)) as owner:
        owner.execute("CREATE TABLE session (id, project_id, directory, title, time_created)")
        owner.execute("CREATE TABLE message (id, session_id, time_created, data)")
        owner.execute("CREATE TABLE part (id, message_id, session_id, data)")
        for path in moved.rglob("*.json"):
            fields = json.loads(path.read_text())
            if path.parts[-3] == "session":
                names = ("id", "projectID", "directory", "title")
                row = [*(fields[name] for name in names), fields["time"]["created"]]
                owner.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
            elif path.parts[-3] == "message":
                row = [fields["id"], fields["sessionID"], fields["time"]["created"]]
                owner.execute("INSERT INTO message VALUES (?, ?, ?, ?)", [*row, path.read_text()])
            else:
                row = [fields[name] for name in ("id", "messageID", "sessionID")]
                owner.execute("INSERT INTO part VALUES (?, ?, ?, ?)", [*row, path.read_text()])
    assert [each.status for each in taken(job, storage)] == [ImportStatus.IMPORTED]
    (grown,) = taken(job, tmp_path / "opencode.db")
    assert (grown.tally.sessions, grown.tally.count.messages) == ((), 1)
    (session,) = store.sessions(Listing())
    assert (session.source, session.size) == ("import:opencode", 2)


def test_a_spread_session_is_known_until_one_of_its_files_changes(
    job: ImportJob, tmp_path: Path
) -> None:
    write_opencode(tmp_path, "ses_a", "one")
    write_pi(tmp_path / "pi", "a", "one")
    assert [each.status for each in taken(job, tmp_path)] == [ImportStatus.IMPORTED] * 2
    assert [each.status for each in taken(job, tmp_path)] == [ImportStatus.UNCHANGED] * 2
    write_opencode(tmp_path, "ses_a", "one", "two")
    (spread,) = [each for each in taken(job, tmp_path) if each.found.is_spread]
    assert (spread.status, spread.tally.count.messages) == (ImportStatus.IMPORTED, 1)


def test_a_file_that_goes_away_while_it_is_read_failed_and_is_not_known(
    job: ImportJob, tmp_path: Path
) -> None:
    path = write_pi(tmp_path / "a", "a", "one")
    (found,) = finds(path)
    path.unlink()
    outcome = job.take(found)
    reason = f"cannot read {path}: there is no such file or folder"
    assert outcome == ImportResult(found, ImportTally(), ImportStatus.FAILED, reason)
    write_pi(path, "a", "one")
    assert [each.status for each in taken(job, path)] == [ImportStatus.IMPORTED]


def test_a_session_in_the_trash_is_left_alone_and_its_file_stays_unknown(
    job: ImportJob, store: SqliteStore, tmp_path: Path
) -> None:
    path = write_pi(tmp_path / "a", "a", "one")
    (first,) = taken(job, path)
    store.trash(first.tally.sessions, at=1)
    write_pi(path, "a", "one", "two")
    (second,) = taken(job, path)
    assert [each.session for each in second.tally.skipped] == list(first.tally.sessions)
    assert not job.is_known(file_at(path))


def test_a_file_in_which_nothing_is_said_is_empty(job: ImportJob, tmp_path: Path) -> None:
    (found,) = finds(write_pi(tmp_path / "a", "a"))
    assert job.take(found) == ImportResult(
        found, ImportTally(), ImportStatus.EMPTY, "nothing is said in it"
    )
    other = ReadOptions(format="claude-code")
    (look,) = gather(find_files([str(write_pi(tmp_path / "b", "b", "one"))]).files, other)
    assert isinstance(look, FoundFile)
    outcome = job.take(look)
    assert (outcome.status, outcome.reason) == (
        ImportStatus.EMPTY,
        "no line at its beginning is one of claude-code",
    )
    assert [each.reason for each in outcome.tally.problems] == [
        "2 lines are of another format, pi, and left out"
    ]


def test_a_rehearsal_is_an_import_into_an_empty_store(job: ImportJob, tmp_path: Path) -> None:
    path = write_pi(tmp_path / "a", "a", "one", "two")
    path.write_text(path.read_text("utf-8") + "{broken\n", "utf-8")
    # The same session again, of which a part went another way.
    write_pi(tmp_path / "b", "a", "one", "three")
    found = finds(tmp_path)
    with rehearsal(Settings()) as rehearsed:
        expected = [rehearsed.take(each) for each in found]
    assert [each.tally.count.messages for each in expected] == [2, 1]
    assert [job.take(each) for each in found] == expected
    with rehearsal(Settings()) as again:
        assert [again.take(each) for each in found] == expected


def test_half_a_line_that_a_watch_did_not_name_is_named_by_the_next_import(
    store: SqliteStore, tmp_path: Path
) -> None:
    path = write_pi(tmp_path / "a", "a", "one")
    whole = path.read_text("utf-8")
    path.write_text(whole + "{half", "utf-8")
    watching = ImportJob(store, Settings(), live=True)
    assert [each.status for each in taken(watching, path)] == [ImportStatus.IMPORTED]
    assert not watching.is_known(file_at(path))
    path.write_text(whole + "{half\n", "utf-8")
    assert [len(each.tally.problems) for each in taken(watching, path)] == [1]
    assert watching.is_known(file_at(path))


def test_the_places_here_follow_the_environment() -> None:
    places = places_here({"HOME": "/home/ada", "CODEX_HOME": "/codex"})
    assert {Path("/home/ada/.claude/projects"), Path("/codex/sessions")} < {
        place.path for place in places
    }
