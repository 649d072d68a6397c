"""The lease: one compaction at a time, and a broken lock stops nobody."""

import logging
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from holdfast.conversation import LiveSession
from holdfast.conversation.compacting import Order, commit, compact
from holdfast.conversation.holding import Free, Taken, holding
from holdfast.conversation.lease_holders import lease_holder
from holdfast.ports import Lease
from holdfast.testing import FixedClock
from tests.conversation.talking import talk


def test_a_second_compaction_is_told_who_runs_the_first(chat: LiveSession) -> None:
    talk(chat, range(8))
    before = chat.window()
    store, now = chat.parts.store, chat.parts.clock.moment()
    theirs = Lease(chat.id, "77:main:agent:abc", now + 60_000)
    assert store.acquire(theirs, now) == theirs
    report = chat.compress()
    assert report.outcome == "abandoned"
    assert "77:main:agent:abc" in report.reason
    assert chat.window() == before
    store.release(theirs)
    assert chat.compress().outcome == "folded"


def test_the_lease_of_a_crashed_holder_runs_out(chat: LiveSession) -> None:
    talk(chat, range(8))
    clock = chat.parts.clock
    assert isinstance(clock, FixedClock)
    theirs = Lease(chat.id, "77:main:agent:abc", clock.moment() + 60_000)
    chat.parts.store.acquire(theirs, clock.moment())
    clock.advance(61)
    assert chat.compress().outcome == "folded"


def test_a_lease_far_in_the_future_is_not_believed(chat: LiveSession) -> None:
    talk(chat, range(8))
    store, now = chat.parts.store, chat.parts.clock.moment()
    theirs = Lease(chat.id, "77:main:agent:abc", now + 86_400_000)
    assert store.acquire(theirs, now) == theirs
    assert chat.compress().outcome == "folded"
    assert store.acquire(Lease(chat.id, "probe", now + 1), now).holder == "probe"


def test_the_lease_of_a_process_that_is_gone_is_taken_over(chat: LiveSession) -> None:
    talk(chat, range(8))
    store, now = chat.parts.store, chat.parts.clock.moment()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    name = lease_holder("main", "agent", 1).partition(":")[2]
    assert store.acquire(Lease(chat.id, f"{os.getpid()}:{name}", now + 60_000), now)
    assert chat.compress().outcome == "abandoned"
    store.release(Lease(chat.id, f"{os.getpid()}:{name}", 0))
    assert store.acquire(Lease(chat.id, f"{gone.pid}:{name}", now + 60_000), now)
    assert chat.compress().outcome == "folded"


def test_the_holder_is_named_and_the_lease_is_given_back(chat: LiveSession) -> None:
    store, now = chat.parts.store, chat.parts.clock.moment()
    probe = Lease(chat.id, "probe", now + 1)
    with holding(chat.parts, chat.id) as lease:
        assert isinstance(lease, Free)
        pid, thread, agent, nonce, machine = store.acquire(probe, now).holder.split(":")
        assert (thread, agent) == (threading.current_thread().name, "holdfast")
        assert pid.isdigit()
        assert len(nonce) == 6
        assert machine.startswith("@")
        with holding(chat.parts, chat.id) as second:
            assert isinstance(second, Taken)
    assert store.acquire(probe, now).holder == "probe"


def test_a_long_pass_renews_its_lease(chat: LiveSession) -> None:
    clock = chat.parts.clock
    assert isinstance(clock, FixedClock)
    parts = replace(chat.parts, options=replace(chat.parts.options, lease_seconds=0.06))
    probe = Lease(chat.id, "probe", 0)
    with holding(parts, chat.id):
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
    chat: LiveSession, beside: Callable[[], LiveSession], caplog: pytest.LogCaptureFixture
) -> None:
    talk(chat, range(8))
    with closing(sqlite3.connect(chat.parts.store.name, isolation_level=None)) as connection:
        connection.execute("DROP TABLE leases")
    caplog.set_level(logging.WARNING)
    snapshot = beside()
    window = snapshot.parts.store.window(chat.id)
    assert chat.compress().outcome == "folded"
    talk(chat, range(8, 16))
    assert chat.compress().outcome == "folded"
    assert caplog.text.count("does not work") == 1
    late = compact(
        snapshot.parts,
        snapshot.session,
        window,
        Order("manual"),
        partial(commit, snapshot.parts, snapshot.session, window),
    )
    assert late.report.outcome in ("abandoned", "unchanged")
    assert len(chat.log) == 16 * 6
