"""Eight programs on one store: nothing is lost, nothing forks, nobody sees a lock."""

import json
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from holdfast.session import Kind, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.wiring import Conversation
from tests.promises.killing import SOAKS, Facts, start

PROCESSES = 8
SECONDS = 60.0 if SOAKS else 4.0
SLOWEST = 0.100
"""Seconds that 99 of 100 messages may take to be written."""


def test_eight_processes_share_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, active=False) as first:
        second = Conversation.open(store=first.store, active=False)
        shared = (first.id, second.id)
    told = crowd(path, shared)
    counts = sum((Counter(each["counts"]) for each in told), Counter[str]())
    with capsys.disabled():
        print(f"\n{figures(told)}, {dict(counts)}")
    assert all(counts[name] for name in ("compactions", "searches", "undos"))
    with closing(SqliteStore(path)) as store:
        assert store.check().problems == ()
        assert_nothing_is_lost(store, told)
        for root in {*shared, *(id_ for each in told for id_ in each["chats"])}:
            assert_one_line(store, root)
    if SOAKS:
        assert slowest(told) < SLOWEST


def crowd(path: Path, shared: tuple[str, str]) -> list[Facts]:
    """Let all work at once, and return what each says at its end."""
    arguments = ("-m", "tests.promises.crowd_worker", str(path), *shared, str(SECONDS))
    with ExitStack() as stack:
        workers = [stack.enter_context(start(*arguments)) for _ in range(PROCESSES)]
        for worker in workers:
            assert worker.stdin
            worker.stdin.write(b"go\n")
            worker.stdin.flush()
        ended = [worker.communicate(timeout=SECONDS + 100) for worker in workers]
    assert [errors.decode() for _, errors in ended] == [""] * PROCESSES
    return [json.loads(output) for output, _ in ended]


def assert_nothing_is_lost(store: SqliteStore, told: list[Facts]) -> None:
    for id_, word in (pair for each in told for pair in each["confirmed"]):
        entry = store.entry(id_)
        assert entry.message.text.split()[0] == word
        assert entry.kind is Kind.SAID


def assert_one_line(store: SqliteStore, root: str) -> None:
    """Check that a conversation is one line of sessions with one live end and dense logs."""
    lineage = store.lineage(root)
    assert len([session for session in lineage if session.is_live]) == 1
    parents = [session.parent for session in lineage]
    assert len(set(parents)) == len(parents)
    words: list[str] = []
    for session in lineage:
        log = store.entries(session.id, 1, session.size)
        assert [entry.position for entry in log] == list(range(1, session.size + 1))
        words += [entry.message.text.split()[0] for entry in log if entry.kind is Kind.SAID]
        assert_each_shown_once(store, session)
    assert len(set(words)) == len(words)


def assert_each_shown_once(store: SqliteStore, session: Session) -> None:
    """Check that no window, of now or of before, shows a message twice."""
    for view in (None, *(view.id for view in store.views(session.id))):
        shown = [entry.id for entry in store.window_at(session.id, view).entries]
        assert len(set(shown)) == len(shown)


def slowest(told: list[Facts], name: str = "times") -> float:
    times = sorted(time for each in told for time in each[name])
    return times[len(times) * 99 // 100]


def figures(told: list[Facts]) -> str:
    times = sorted(time for each in told for time in each["times"])
    return (
        f"{len(times):,} appends by {PROCESSES} processes in {SECONDS:.0f} s: "
        f"p50 {times[len(times) // 2] * 1000:.1f} ms, p99 {slowest(told) * 1000:.1f} ms, "
        f"slowest {times[-1] * 1000:.0f} ms; with a look at the window "
        f"p99 {slowest(told, 'looks') * 1000:.1f} ms"
    )
