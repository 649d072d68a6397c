"""Killed at any instant, a store opens again and has everything that it had confirmed."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random

import pytest

from holdfast.errors import UnknownSession
from holdfast.recall import Filters
from holdfast.session import Cause, Draft, EndReason, Entry, Kind, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.schema import VERSION
from holdfast.transcript import Message, Role, Text
from holdfast.wire import DIALECTS
from holdfast.wiring import Conversation
from tests.promises.killing import SOAKS, Facts, killed

ROUNDS = 25 if SOAKS else 2
KILLS = 8 if SOAKS else 4
"""Kills of a talking worker: rounds on a fresh store each, times kills in a row."""
OTHER_KILLS = 15 if SOAKS else 2
MOST_AT_ONCE = 4
"""Messages that a worker writes between two looks at its window."""


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_nothing_that_was_confirmed_is_lost(tmp_path: Path, round_: int) -> None:
    random = Random(round_)
    path = tmp_path / "store.db"
    with Conversation.open(store=path, active=False) as chat:
        root = chat.id
    confirmed: list[Facts] = []
    for kill in range(KILLS):
        seed = round_ * KILLS + kill
        said = killed("talking", str(path), root, str(seed), after=random.uniform(0, 0.25))
        confirmed += [fact for fact in said if fact["kind"] == "message"]
        (*_, known) = (fact for fact in said if fact["kind"] == "window")
        with closing(SqliteStore(path)) as store:
            assert store.check().problems == ()
            assert_confirmed(store, confirmed, random)
            assert_old_or_made(store, root, known)
            confirmed += talked_on(store, root)
    assert confirmed


@pytest.mark.parametrize("seed", range(OTHER_KILLS))
def test_a_compaction_in_the_background_happens_whole_or_not_at_all(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    path = tmp_path / "store.db"
    with Conversation.open(store=path, active=False) as chat:
        root = chat.id
    said = killed("ahead", str(path), root, str(seed), after=random.uniform(0.2, 0.6))
    confirmed = [fact for fact in said if fact["kind"] == "message"]
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()
        assert_confirmed(store, confirmed, random)
        (leaf,) = [session for session in store.lineage(root) if session.is_live]
        window = store.window(leaf.id)
        assert window.entries == rebuilt(store, leaf.id, window.head.view)
        assert talked_on(store, root)


@pytest.mark.parametrize("seed", range(OTHER_KILLS))
def test_a_store_that_was_being_made_can_be_made_again(tmp_path: Path, seed: int) -> None:
    said = killed("creating", str(tmp_path), "", "0", after=Random(seed).uniform(0, 0.05))
    for number in count():
        path = tmp_path / f"{number}.db"
        if not path.exists():
            assert number >= len(said)
            break
        with closing(SqliteStore(path)) as store:
            if number >= len(said) and not _has(store, "first"):
                store.create(Session(id="first", source="test", started=1))
            assert store.session("first").is_live
            assert store.append("first", [Draft(message=_said("on"), at=1)])
            assert store.check().problems == ()


@pytest.mark.parametrize("seed", range(OTHER_KILLS))
def test_a_migration_happens_whole_or_not_at_all(tmp_path: Path, seed: int) -> None:
    said = killed("migrating", str(tmp_path), "", "0", after=Random(seed).uniform(0, 0.05))
    done = {fact["number"] for fact in said if fact["kind"] == "migrated"}
    made = {fact["number"] for fact in said if fact["kind"] == "made"}
    for number in made:
        with closing(sqlite3.connect(tmp_path / f"{number}.db")) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (title,) = connection.execute("SELECT title FROM sessions").fetchone()
            tables = connection.execute(
                "SELECT count(*) FROM sqlite_master WHERE name = 'later'"
            ).fetchone()
            found = version, title, tables
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        before, after = (VERSION, "earlier", (0,)), (VERSION + 1, "later", (1,))
        assert found == after if number in done else found in (before, after)


@pytest.mark.parametrize("seed", range(OTHER_KILLS))
def test_a_backup_that_was_interrupted_leaves_the_one_before_it(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "store.db"
    prepare(path)
    said = killed("copying", str(path), "", "0", after=Random(seed).uniform(0, 0.1))
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()
        assert {fact["id"] for fact in said} <= {entry.id for entry in store.since("kept", 0)}
    with closing(SqliteStore(tmp_path / "copy.db")) as copy:
        assert copy.check().problems == ()
        assert {fact["id"] for fact in said} <= {entry.id for entry in copy.since("kept", 0)}


@pytest.mark.parametrize("seed", range(OTHER_KILLS))
def test_a_purge_that_was_interrupted_takes_nothing_from_others(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "store.db"
    prepare(path)
    said = killed("purging", str(path), "", "0", after=Random(seed).uniform(0, 0.1))
    kept = {fact["id"] for fact in said if fact["kind"] == "kept"}
    purged = {fact["id"] for fact in said if fact["kind"] == "purged"}
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()
        log = store.since("kept", 0)
        assert kept <= {entry.id for entry in log}
        assert {entry.message.text for entry in log[1:]} <= {"shared content " * 400}
        assert not any(_has(store, id_) for id_ in purged)


def prepare(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.create(Session(id="kept", source="test", started=1))
        store.append("kept", [Draft(message=_said("begin " * 500), at=1)])


def assert_confirmed(store: SqliteStore, confirmed: Sequence[Facts], random: Random) -> None:
    """Look for every message in its log, and for some of them by their word."""
    for fact in confirmed:
        entry = store.entry(fact["id"])
        assert fact["word"] in shown(entry)
        assert entry.kind is Kind.SAID
    for fact in random.sample(confirmed, min(5, len(confirmed))):
        hits = store.search(fact["word"], Filters(), limit=5, now=0)
        assert fact["id"] in {hit.message_id for hit in hits}


def assert_old_or_made(store: SqliteStore, root: str, known: Facts) -> None:
    """Check that the window is the one before the last step or the one after it."""
    (leaf,) = [session for session in store.lineage(root) if session.is_live]
    window = store.window(leaf.id)
    assert window.entries == rebuilt(store, leaf.id, window.head.view)
    ids = [entry.id for entry in window.entries]
    if leaf.id != known["session"]:
        assert leaf.parent == known["session"]
        parent = store.session(known["session"])
        assert parent.end_reason in (EndReason.COMPRESSION, EndReason.BRANCHED)
        (first, *others) = store.views(leaf.id)
        assert first.cause is Cause.FORK
        assert [view.cause for view in others] in ([], [Cause.COMPACTION])
        ids = [entry.id for entry in store.window_at(leaf.id, first.id).entries]
        assert_grown(known["ids"], ids)
    elif window.head.generation == known["generation"]:
        assert_grown(known["ids"], ids)
    else:
        assert window.head.generation == known["generation"] + 1
        before = store.window_at(leaf.id, known["view"]).entries
        assert_grown(known["ids"], [entry.id for entry in before])
    passes = {record.after for record in store.compactions(leaf.id)}
    causes = {view.id for view in store.views(leaf.id) if view.cause is Cause.COMPACTION}
    assert passes == causes


def assert_grown(before: Sequence[int], after: Sequence[int]) -> None:
    """Check that nothing came since but what one step may have written."""
    assert list(after[: len(before)]) == list(before)
    assert len(after) - len(before) <= MOST_AT_ONCE


def rebuilt(store: SqliteStore, id_: str, view: int | None) -> tuple[Entry, ...]:
    """Compute a window from the log and its view alone."""
    upto, entries = 0, list[Entry]()
    for each in store.views(id_):
        if each.id == view:
            upto = each.upto
            for span in each.spans:
                entries += store.entries(span.session, span.first, span.last)
    return (*entries, *store.since(id_, upto))


def talked_on(store: SqliteStore, root: str) -> list[Facts]:
    """Resume the conversation as its user would, and say something."""
    chat = Conversation.open(root, store=store, active=False, automatic=False)
    before = chat.messages()
    word = f"resumed{chat.session.size}"
    id_ = chat.add_user(word).id
    after = chat.body()
    assert DIALECTS["openai"].validate(after) == ()
    assert after.messages[: len(before)] == before
    assert after.messages[-1] == {"role": "user", "content": word}
    return [{"kind": "message", "id": id_, "word": word}]


def shown(entry: Entry) -> str:
    message = entry.message
    results = [piece for result in message.results for piece in result.content]
    texts = [piece.text for piece in results if isinstance(piece, Text)]
    return " ".join([message.text, *texts])


def _has(store: SqliteStore, id_: str) -> bool:
    try:
        store.session(id_)
    except UnknownSession:
        return False
    return True


def _said(text: str) -> Message:
    return Message(Role.USER, (Text(text),))
