"""The lease: one compaction at a time, and a broken lock stops nobody."""

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from holdfast.conversation import StoredConversation
from holdfast.conversation.effects import wait
from holdfast.conversation.lease import Free, Taken, hold_lease
from holdfast.conversation.passes import CompactionTrigger, commit, compaction_pass
from holdfast.ports import Lease
from holdfast.testing import FixedClock
from tests.conversation.talking import talk


def test_a_second_compaction_is_told_who_runs_the_first(chat: StoredConversation) -> None:
    talk(chat, range(8))
    before = chat.messages()
    store, now = chat.store, chat.live.deps.clock.moment()
    theirs = Lease(chat.id, "77:main:agent:abc", now + 60_000)
    assert store.acquire(theirs, now) == theirs
    report = chat.compress()
    assert report.outcome == "abandoned"
    assert "77:main:agent:abc" in report.reason
    assert chat.messages() == before
    store.release(theirs)
    assert chat.compress().outcome == "folded"


def test_the_lease_of_a_crashed_holder_runs_out(chat: StoredConversation) -> None:
    talk(chat, range(8))
    clock = chat.live.deps.clock
    assert isinstance(clock, FixedClock)
    theirs = Lease(chat.id, "77:main:agent:abc", clock.moment() + 60_000)
    chat.store.acquire(theirs, clock.moment())
    clock.advance(61)
    assert chat.compress().outcome == "folded"


def test_the_holder_is_named_and_the_lease_is_given_back(chat: StoredConversation) -> None:
    store, now = chat.store, chat.live.deps.clock.moment()
    probe = Lease(chat.id, "probe", now + 1)
    with hold_lease(chat.live.deps, chat.id) as lease:
        assert isinstance(lease, Free)
        pid, thread, agent, nonce = store.acquire(probe, now).holder.split(":")
        assert (thread, agent) == (threading.current_thread().name, "holdfast")
        assert pid.isdigit()
        assert len(nonce) == 6
        with hold_lease(chat.live.deps, chat.id) as second:
            assert isinstance(second, Taken)
    assert store.acquire(probe, now).holder == "probe"


def test_a_long_pass_renews_its_lease(chat: StoredConversation) -> None:
    clock = chat.live.deps.clock
    assert isinstance(clock, FixedClock)
    parts = replace(chat.live.deps, options=replace(chat.live.deps.options, lease_seconds=0.06))
    probe = Lease(chat.id, "probe", 0)
    with hold_lease(parts, chat.id):
        first = parts.store.acquire(probe, 0).expires
        clock.advance(5)
        renewed = threading.Event()
        for _ in range(200):
            if parts.store.acquire(probe, 0).expires > first:
                renewed.set()
                break
            threading.Event().wait(0.01)
        assert renewed.is_set()


def test_a_broken_lock_warns_once_and_nothing_is_lost(
    chat: StoredConversation,
    beside: Callable[[], StoredConversation],
    caplog: pytest.LogCaptureFixture,
) -> None:
    talk(chat, range(8))
    with closing(sqlite3.connect(chat.store.name, isolation_level=None)) as connection:
        connection.execute("DROP TABLE leases")
    caplog.set_level(logging.WARNING)
    snapshot = beside()
    window = snapshot.store.window(chat.id)
    assert chat.compress().outcome == "folded"
    talk(chat, range(8, 16))
    assert chat.compress().outcome == "folded"
    assert caplog.text.count("does not work") == 1
    late = wait(
        compaction_pass(
            snapshot.live.deps,
            snapshot.session,
            window,
            CompactionTrigger("manual"),
            partial(commit, snapshot.live, snapshot.session, window),
        )
    )
    assert late.report.outcome in ("abandoned", "unchanged")
    assert len(chat.log) == 16 * 6
