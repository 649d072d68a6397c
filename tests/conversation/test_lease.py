"""The lease: one compaction at a time, and a broken lock stops nobody."""

import logging
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from holdfast.conversation import StoredConversation
from holdfast.conversation.lease import Free, Taken, hold_lease, lease_holder
from holdfast.conversation.passes import CompactionTrigger, commit, compaction_pass
from holdfast.conversation.waiting import wait
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


def test_a_lease_far_in_the_future_is_not_believed(chat: StoredConversation) -> None:
    talk(chat, range(8))
    store, now = chat.store, chat.live.deps.clock.moment()
    theirs = Lease(chat.id, "77:main:agent:abc", now + 86_400_000)
    assert store.acquire(theirs, now) == theirs
    assert chat.compress().outcome == "folded"
    assert store.acquire(Lease(chat.id, "probe", now + 1), now).holder == "probe"


def test_the_lease_of_a_process_that_is_gone_is_taken_over(chat: StoredConversation) -> None:
    talk(chat, range(8))
    store, now = chat.store, chat.live.deps.clock.moment()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    name = lease_holder("main", "agent", 1).partition(":")[2]
    assert store.acquire(Lease(chat.id, f"{os.getpid()}:{name}", now + 60_000), now)
    assert chat.compress().outcome == "abandoned"
    store.release(Lease(chat.id, f"{os.getpid()}:{name}", 0))
    assert store.acquire(Lease(chat.id, f"{gone.pid}:{name}", now + 60_000), now)
    assert chat.compress().outcome == "folded"


def test_the_holder_is_named_and_the_lease_is_given_back(chat: StoredConversation) -> None:
    store, now = chat.store, chat.live.deps.clock.moment()
    probe = Lease(chat.id, "probe", now + 1)
    with hold_lease(chat.live.deps, chat.id) as lease:
        assert isinstance(lease, Free)
        pid, thread, agent, nonce, machine = store.acquire(probe, now).holder.split(":")
        assert (thread, agent) == (threading.current_thread().name, "holdfast")
        assert pid.isdigit()
        assert len(nonce) == 6
        assert machine.startswith("@")
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


class Unplugged:
    """A store that fails with an error of its own when a lease is renewed."""

    def __init__(self, chat: StoredConversation) -> None:
        self._chat = chat
        self.tries = 0

    def acquire(self, lease: Lease, _: int) -> Lease:
        self.tries += 1
        if self.tries > 1:
            raise OSError("unplugged")
        return lease

    def release(self, lease: Lease) -> None:
        self._chat.store.release(lease)


def test_a_renewal_that_fails_in_its_own_way_ends_no_others(chat: StoredConversation) -> None:
    deps = chat.live.deps
    store = Unplugged(chat)
    quick = replace(deps, options=replace(deps.options, lease_seconds=0.15))
    with hold_lease(replace(quick, store=store), chat.id):  # type: ignore[arg-type] - all it uses
        end = time.monotonic() + 10
        while store.tries < 4 and time.monotonic() < end:
            time.sleep(0.01)
    assert store.tries >= 4
