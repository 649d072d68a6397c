"""Draws the list of sessions for a terminal of any width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, table
from holdfast.cli.session_fields import state_of, title_of
from holdfast.cli.times import ago, clock_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.sessions_listing import Row
    from holdfast.session import Session

__all__ = ["drawn"]

_NARROW = 76
"""Columns from which on there is room for sizes and forks."""
_WIDE = 110
"""Columns from which on there is room for dates, sources and models."""
_STYLES = {"live": "", "trash": "red"}


def drawn(rows: Sequence[Row], width: int, now: int) -> list[Line]:
    """Return a heading and one line for each row."""
    wide = width >= _WIDE
    collapsed = any(row.sessions is not None for row in rows)
    columns = ["id", "used", "state"]
    if width >= _NARROW:
        columns = ["id", "used", "entries", "state", "forks" if collapsed else "fork"]
    columns += ["source", "model", "title"] if wide else ["title"]
    known = [_cells(row, now, wide=wide) for row in rows]
    cells = [[each[column] for column in columns] for each in known]
    right = frozenset(place for place, column in enumerate(columns) if column == "entries")
    first, *lines = table([columns, *cells], width, right=right)
    styled = [_styled(line, row) for line, row in zip(lines, rows, strict=True)]
    return [first, *styled]


def _cells(row: Row, now: int, *, wide: bool) -> dict[str, str]:
    session = row.session
    used = session.trashed or session.touched
    return {
        "id": session.id,
        "used": f"{clock_time(used)}, {ago(used, now)}" if wide else _short(ago(used, now)),
        "entries": f"{session.size:,}",
        "state": state_of(session),
        "forks": str((row.sessions or 1) - 1 or ""),
        "fork": str(session.fork or ""),
        "source": session.source,
        "model": session.model,
        "title": title_of(session),
    }


def _short(words: str) -> str:
    """Return how long ago in few columns: `3 hours ago` is `3h ago`."""
    count, _, rest = words.partition(" ")
    if not count.isdigit():
        return words
    unit, _, last = rest.partition(" ")
    return f"{count}{'mo' if unit.startswith('mo') else unit[0]} {last}"


def _styled(line: Line, row: Row) -> Line:
    session: Session = row.session
    style = _STYLES.get(state_of(session), "dim")
    (words,) = line
    at = words.text.find(session.id) + len(session.id)
    return (Span(words.text[:at], style or "cyan"), Span(words.text[at:], style))
