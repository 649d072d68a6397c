"""Choosing one of the stored conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.finding import find_session
from holdfast.cli.lines import Line, Span, clean, counted, table
from holdfast.cli.sessions_listing import conversations
from holdfast.cli.streams import Unusable
from holdfast.cli.times import ago
from holdfast.ports.store import Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.cli.sessions_listing import Row
    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["chosen", "listed", "recent"]

_MOST = 15


def recent(store: Store, limit: int = _MOST) -> tuple[Row, ...]:
    """Return the conversations used last; those with nothing but a prompt are left out."""
    rows = conversations(store, Listing(limit=limit))
    return tuple(row for row in rows if row.session.size > 1 or row.session.title)


def listed(rows: Sequence[Row], width: int, now: int) -> list[Line]:
    """Return the conversations as numbered lines."""
    if not rows:
        return [(Span("there are no conversations yet", "yellow"),)]
    cells = [["", "used", "size", "title"]]
    for number, row in enumerate(rows, 1):
        session = row.session
        title = clean(session.title) or session.id
        cells.append(
            [str(number), ago(session.touched, now), counted(session.size, "message"), title]
        )
    return table(cells, width, right=frozenset({0}))


def chosen(store: Store, rows: Sequence[Row], ask: Callable[[str], str]) -> Session | None:
    """Return the conversation that the user picks by number, title or id; None for none.

    Raises:
        Unusable: when the answer means no conversation, or several.
    """
    answer = ask("which one (number, part of the title or id; empty for none)? ").strip()
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
