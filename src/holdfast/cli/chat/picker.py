"""Choosing one of the stored conversations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, table
from holdfast.cli.screen import Unusable
from holdfast.ports.store import Listing
from holdfast.session import EndReason, Fork
from holdfast.views.sessions import find_session
from holdfast.views.words import ago, clean, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["Choice", "chosen", "listed", "recent"]

_MOST = 15
_LOOKED_AT = 200
_BESIDE = (Fork.DELEGATION, Fork.REVIEW)
"""Forks in which no conversation goes on."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A conversation that may be gone on with."""

    session: Session
    size: int
    """How many messages its window has."""


def recent(store: Store, limit: int = _MOST) -> tuple[Choice, ...]:
    """Return the conversations used last; those with nothing but a prompt are left out.

    Branches are conversations of their own here, unlike in `holdfast sessions list`: somebody who
    went another way may want either.
    """
    found: list[Choice] = []
    for session in store.sessions(Listing(limit=_LOOKED_AT)):
        if session.fork in _BESIDE or session.end_reason is EndReason.COMPRESSION:
            continue
        size = len(store.window(session.id).entries)
        if size > 1:
            found.append(Choice(session, size))
        if len(found) == limit:
            break
    return tuple(found)


def listed(rows: Sequence[Choice], width: int, now: int) -> list[Line]:
    """Return the conversations as numbered lines."""
    if not rows:
        return [(Span("there are no conversations yet", "yellow"),)]
    cells = [["", "used", "window", "title"]]
    for number, row in enumerate(rows, 1):
        session = row.session
        used, size = ago(session.touched, now), counted(row.size, "message")
        cells.append([str(number), used, size, clean(session.title) or session.id])
    return table(cells, width, right=frozenset({0}))


def chosen(store: Store, rows: Sequence[Choice], answer: str) -> Session | None:
    """Return the conversation that an answer means, by number, title or id; None for none.

    Raises:
        Unusable: when the answer means no conversation, or several.
    """
    answer = answer.strip()
    if not answer:
        return None
    if answer.isdecimal() and 1 <= int(answer) <= len(rows):
        return rows[int(answer) - 1].session
    words = answer.casefold()
    titled = [row.session for row in rows if words in row.session.title.casefold()]
    if len(titled) == 1:
        return titled[0]
    if titled:
        raise Unusable(f"{len(titled)} conversations have {answer!r} in their title")
    return find_session(store, answer)
