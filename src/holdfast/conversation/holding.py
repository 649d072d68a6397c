"""The lease on a session: one compaction at a time, whoever runs it and however long it takes."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.conversation.lease_holders import lease_holder, why_void
from holdfast.errors import StoreError
from holdfast.ports import Lease

if TYPE_CHECKING:
    from collections.abc import Generator

    from holdfast.conversation.parts import Parts

__all__ = ["Free", "Taken", "holding"]

_log = logging.getLogger(__name__)
_BEATS = 3
"""A lease is renewed this often before it would run out."""
_warned: set[str] = set()


@dataclass(frozen=True, slots=True)
class Free:
    """The lease is ours, or there is no working lock and the pass goes on without one."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Somebody else works on the session."""

    lease: Lease


@contextmanager
def holding(parts: Parts, session: str) -> Generator[Free | Taken]:
    """Hold the lease on a session while the body runs, renewing it in the background.

    A lock that does not work must not stop a conversation for ever: the pass goes on without it,
    with one warning for each session. The window is changed by compare-and-swap, so that even two
    passes at once lose nothing.
    """
    wanted = Lease(session, _holder(parts), _expiry(parts))
    try:
        granted = parts.store.acquire(wanted, parts.clock.moment())
        if granted.holder != wanted.holder and _is_void(parts, granted):
            # Another that takes it in between has another name, and keeps it.
            parts.store.release(granted)
            granted = parts.store.acquire(wanted, parts.clock.moment())
    except StoreError as error:
        if session not in _warned:
            _warned.add(session)
            _log.warning("the lock of session %s does not work: %s", session, error)
        yield Free()
        return
    if granted.holder != wanted.holder:
        yield Taken(granted)
        return
    done = threading.Event()
    heart = threading.Thread(
        target=_beat, args=(parts, wanted, done), name="holdfast-lease", daemon=True
    )
    heart.start()
    try:
        yield Free()
    finally:
        done.set()
        heart.join()
        _release(parts, wanted)


def _holder(parts: Parts) -> str:
    return lease_holder(threading.current_thread().name, parts.options.agent, parts.nonce())


def _is_void(parts: Parts, lease: Lease) -> bool:
    reason = why_void(lease, parts.clock.moment(), int(parts.options.lease_seconds * 1000))
    if reason:
        _log.warning("the lease of %s on %s is taken over: %s", lease.holder, lease.session, reason)
    return bool(reason)


def _expiry(parts: Parts) -> int:
    return parts.clock.moment() + int(parts.options.lease_seconds * 1000)


def _beat(parts: Parts, lease: Lease, done: threading.Event) -> None:
    while not done.wait(parts.options.lease_seconds / _BEATS):
        try:
            parts.store.acquire(replace(lease, expires=_expiry(parts)), parts.clock.moment())
        except StoreError as error:
            _log.warning("the lease on session %s was not renewed: %s", lease.session, error)


def _release(parts: Parts, lease: Lease) -> None:
    try:
        parts.store.release(lease)
    except StoreError as error:
        _log.warning("the lease on session %s was not given back: %s", lease.session, error)
