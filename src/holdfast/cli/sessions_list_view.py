"""Draws the list of sessions for a terminal of any width.

A title is what people know a conversation by, so that other columns give way to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, crop_middle, table
from holdfast.recall.sources import agent_of
from holdfast.views.sessions import UNTITLED, state_of, title_of
from holdfast.views.words import cells, shortly_ago

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.session import Session
    from holdfast.views.sessions import SessionRow

__all__ = ["drawn"]

_ORDER = ("id", "used", "from", "model", "entries", "state", "forks", "fork", "title")
_BY_WEIGHT = ("used", "from", "state", "entries", "forks", "fork", "model")
"""The columns beside id and title, what is wanted most first."""
_WIDEST = {"from": 14, "model": 20}
"""Names that are longer are cut in the middle."""
_TITLE = 24
"""Columns that a title needs at least."""
_GAP = 2
_USUAL = frozenset({"", "live"})
"""What says nothing; a column of nothing else is left out."""
_STYLES = {"live": "", "trash": "red"}


def drawn(rows: Sequence[SessionRow], width: int | None, now: int) -> list[Line]:
    """Return a heading and one line for each row.

    Args:
        rows: What is listed.
        width: The columns of the terminal; None for a pipe, into which everything is written.
        now: The time.
    """
    known = [_cells(row, now, is_whole=width is None) for row in rows]
    columns = _chosen(known, width)
    cells_shown = [[each[column] for column in columns] for each in known]
    right = frozenset({columns.index("entries")} if "entries" in columns else ())
    first, *lines = table([columns, *cells_shown], width, right=right)
    styled = [_styled(line, row) for line, row in zip(lines, rows, strict=True)]
    return [first, *styled]


def _chosen(known: Sequence[Mapping[str, str]], width: int | None) -> list[str]:
    """Return the columns that say something and leave the title enough room."""
    telling = [name for name in _BY_WEIGHT if any(each[name] not in _USUAL for each in known)]
    if width is not None:
        room = width - _TITLE - _GAP - _column("id", known)
        fitting: list[str] = []
        for name in telling:
            room -= _column(name, known)
            if room < 0:
                break
            fitting.append(name)
        telling = fitting
    return [name for name in _ORDER if name in {"id", "title", *telling}]


def _column(name: str, known: Sequence[Mapping[str, str]]) -> int:
    return _GAP + max(cells(name), *(cells(each[name]) for each in known))


def _cells(row: SessionRow, now: int, *, is_whole: bool) -> dict[str, str]:
    session = row.session
    found = {
        "id": session.id,
        "used": shortly_ago(session.trashed or session.touched, now),
        "from": agent_of(session.source) or session.source,
        "model": session.model,
        "entries": f"{session.size:,}",
        "state": state_of(session),
        "forks": str((row.sessions or 1) - 1 or ""),
        "fork": "" if row.sessions is not None else str(session.fork or ""),
        "title": title_of(session),
    }
    if is_whole:
        return {**found, "title": session.title or UNTITLED}
    cut = {name: crop_middle(found[name], most) for name, most in _WIDEST.items()}
    return {**found, **cut}


def _styled(line: Line, row: SessionRow) -> Line:
    session: Session = row.session
    style = _STYLES.get(state_of(session), "dim")
    (words,) = line
    at = words.text.find(session.id) + len(session.id)
    return (Span(words.text[:at], style or "cyan"), Span(words.text[at:], style))
