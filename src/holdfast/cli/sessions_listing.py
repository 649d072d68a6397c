"""Collapses sessions to conversations: the one used last stands for its whole lineage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ports import Store
    from holdfast.ports.store import Listing
    from holdfast.session import Session

__all__ = ["Row", "conversations", "every_session"]

_AT_ONCE = 200
_BESIDE = frozenset({Fork.DELEGATION, Fork.REVIEW})
"""Forks beside a conversation; it never goes on in them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A session to be listed."""

    session: Session
    sessions: int | None = None
    """How many sessions its lineage has, those in the trash left out; None where nobody asked."""


def every_session(store: Store, wanted: Listing) -> tuple[Row, ...]:
    """Return each session as a row of its own."""
    return tuple(Row(session) for session in store.sessions(wanted))


def conversations(store: Store, wanted: Listing) -> tuple[Row, ...]:
    """Return one row for each lineage: its session that was used last.

    A sub-agent never stands for the conversation that sent it. It has a row only where its source
    was asked for and the conversation has another one.
    """
    found: dict[str, Session] = {}
    for session in _paged(store, wanted):
        if session.fork in _BESIDE and not (wanted.sources and _stands_alone(store, session)):
            continue
        if session.root not in found:
            if len(found) == wanted.limit:
                break
            found[session.root] = session
    return tuple(Row(each, _count(store, each)) for each in found.values())


def _stands_alone(store: Store, session: Session) -> bool:
    """Say whether the lineage of a session has no row from the same source."""
    return not any(
        each.source == session.source and each.fork not in _BESIDE and each.trashed is None
        for each in store.lineage(session.id)
    )


def _count(store: Store, session: Session) -> int:
    return sum(each.trashed is None for each in store.lineage(session.id))


def _paged(store: Store, wanted: Listing) -> Iterator[Session]:
    offset = 0
    while True:
        page = store.sessions(replace(wanted, limit=_AT_ONCE, offset=offset))
        yield from page
        if len(page) < _AT_ONCE:
            return
        offset += _AT_ONCE
