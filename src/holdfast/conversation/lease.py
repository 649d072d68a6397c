"""The lease on a session: one compaction at a time, whoever runs it and however long it takes.

A lease has a heartbeat: it is renewed before it runs out, for as long as it is held. One thread
renews all leases of the process, so that many passes at once cost no more threads than one.

A process that was killed leaves its lease behind. Most run out soon. One that was written before
the clock was set back would hold for as long as the clock was wrong, and on this machine a process
that is gone can be told from one that works.
"""

from __future__ import annotations

import hashlib
import logging
import os
import socket
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.ports import Lease

if TYPE_CHECKING:
    from collections.abc import Generator

    from holdfast.conversation.dependencies import Dependencies

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESSES = Path("/proc/self/ns/pid")
_MARK = "@"
_FEW = 5
"""A lease is renewed long before it runs out: one that is this many lengths ahead is wrong."""
_SHORTEST = 60_000
"""Milliseconds that a lease is taken to last at least: others may take longer ones than we do."""


def lease_holder(thread: str, agent: str, nonce: int) -> str:
    """Return how this process signs a lease: `pid:thread:agent:nonce:@machine`."""
    thread = thread.replace(":", "-")
    return f"{os.getpid()}:{thread}:{agent}:{nonce & 0xFFFFFF:06x}:{_MARK}{_machine()}"


def why_void(lease: Lease, now: int, length: int = _SHORTEST) -> str:
    """Return why a lease that has not run out counts no more; empty while it counts.

    Args:
        length: How long leases last that are taken here, in milliseconds.
    """
    if lease.expires - now > _FEW * max(length, _SHORTEST):
        return "it would run out far in the future, so it was taken by a clock that was wrong"
    process, _, rest = lease.holder.partition(":")
    if not process.isdecimal() or rest.rpartition(":")[2] != f"{_MARK}{_machine()}":
        return ""
    return "" if is_running(int(process)) else f"process {process} of this machine is gone"


def is_running(process: int) -> bool:
    """Say whether a process of this machine runs; yes where that cannot be known."""
    if sys.platform == "win32":
        # A signal of 0 is Ctrl-C there.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # Somebody else's process, or a number that is none.
        return True
    return True


@cache
def _machine() -> str:
    """Return what stands for the processes that this one can see.

    A container has processes of its own, and so has every boot: a number means another process
    there.
    """
    known = [socket.gethostname()]
    try:
        known += [_BOOT.read_text("ascii").strip(), str(_PROCESSES.readlink())]
    except OSError:
        # Only Linux says these.
        known.append(sys.platform)
    return hashlib.sha256("\n".join(known).encode("utf-8", "replace")).hexdigest()[:8]


_log = logging.getLogger(__name__)
_BEATS = 3
"""A lease is renewed this often before it would run out."""
_IDLE = 5.0
"""Seconds after which the thread ends that has nothing to renew."""
_warned: set[str] = set()


@dataclass(frozen=True, slots=True)
class Free:
    """The lease is ours, or there is no working lock and the pass goes on without one."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Somebody else works on the session."""

    lease: Lease


@contextmanager
def hold_lease(deps: Dependencies, session: str) -> Generator[Free | Taken]:
    """Hold the lease on a session while the body runs, renewing it in the background.

    A lock that does not work must not stop a conversation for ever: the pass goes on without it,
    with one warning for each session. The window is changed by compare-and-swap, so that even two
    passes at once lose nothing.
    """
    holder = lease_holder(threading.current_thread().name, deps.options.agent, deps.nonce())
    wanted = Lease(session, holder, _expiry(deps))
    try:
        granted = deps.store.acquire(wanted, deps.clock.moment())
        allowed = int(deps.options.lease_seconds * 1000)
        if granted.holder != wanted.holder and (
            reason := why_void(granted, deps.clock.moment(), allowed)
        ):
            _log.info("the lease of %s on %s is taken over: %s", granted.holder, session, reason)
            # Another that takes it in between has another name, and keeps it.
            deps.store.release(granted)
            granted = deps.store.acquire(wanted, deps.clock.moment())
    except StoreError as error:
        if session not in _warned:
            _warned.add(session)
            _log.warning("the lock of session %s does not work: %s", session, error)
        yield Free()
        return
    if granted.holder != wanted.holder:
        yield Taken(granted)
        return
    try:
        _heartbeat.add(wanted, deps)
        yield Free()
    finally:
        _heartbeat.remove(wanted)
        try:
            deps.store.release(wanted)
        except StoreError as error:
            _log.warning("the lease on session %s was not given back: %s", session, error)


def _expiry(deps: Dependencies) -> int:
    return deps.clock.moment() + int(deps.options.lease_seconds * 1000)


class _Heartbeat:
    """Renews every lease that the process holds, on one thread that lives while there are any."""

    def __init__(self) -> None:
        self._held: dict[Lease, tuple[Dependencies, float]] = {}
        """Each lease with when it is to be renewed next, by the monotonic clock."""
        self._changed = threading.Condition()
        # Not the lock of the condition: a store may take its time, and nobody waits for it.
        self._renewing = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, lease: Lease, deps: Dependencies) -> None:
        with self._changed:
            self._held[lease] = (deps, time.monotonic() + deps.options.lease_seconds / _BEATS)
            self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._beat, name="holdfast-lease-heartbeat", daemon=True
                )
                self._thread.start()

    def remove(self, lease: Lease) -> None:
        # A renewal under way would come after the release and keep the session for a minute.
        with self._renewing, self._changed:
            self._held.pop(lease, None)

    def _beat(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                due = min((at for _, at in self._held.values()), default=now + _IDLE)
                if due > now:
                    self._changed.wait(due - now)
                if not self._held:
                    self._thread = None
                    return
            self._renew()

    def _renew(self) -> None:
        with self._renewing:
            now = time.monotonic()
            with self._changed:
                due = [(lease, deps) for lease, (deps, at) in self._held.items() if at <= now]
                for lease, deps in due:
                    self._held[lease] = (deps, now + deps.options.lease_seconds / _BEATS)
            for lease, deps in due:
                try:
                    deps.store.acquire(replace(lease, expires=_expiry(deps)), deps.clock.moment())
                except Exception as error:  # noqa: BLE001 - one broken store must not end all renewals
                    _log.warning(
                        "the lease on session %s was not renewed: %s", lease.session, error
                    )


_heartbeat = _Heartbeat()


def _forget() -> None:
    global _heartbeat
    _heartbeat = _Heartbeat()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
