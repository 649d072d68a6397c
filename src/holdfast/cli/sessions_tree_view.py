"""Draws a lineage as a tree, with lines that the terminal can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, cells, crop
from holdfast.cli.session_fields import state_of, title_of
from holdfast.cli.sessions_show_view import belonging
from holdfast.cli.streams import output_text
from holdfast.cli.times import clock_time
from holdfast.session import Cause, Fork

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.session import CompactionRecord, Session, View
    from holdfast.transfer import StatedParent

__all__ = ["Twig", "drawn", "drawn_relations"]

_FINE = ("├─ ", "└─ ", "│  ", "   ")
_COARSE = ("|- ", "`- ", "|  ", "   ")


@dataclass(frozen=True, slots=True)
class Twig:
    """A session with what became of its window."""

    session: Session
    views: tuple[View, ...]
    compactions: tuple[CompactionRecord, ...]


@dataclass(frozen=True, slots=True)
class _Pen:
    """What is marked, how wide a line may be and what branches are drawn with."""

    current: str
    leaf: str
    width: int
    strokes: tuple[str, str, str, str]


def drawn(twigs: Sequence[Twig], current: str, leaf: str, width: int) -> list[Line]:
    """Return the tree; the session asked for and the one where it goes on are marked."""
    pen = _Pen(current, leaf, width, _strokes())
    marks = "  * the one you asked for, > where it goes on"
    return [*_lines(twigs, pen), (), (Span(marks, "dim"),)]


def drawn_relations(elder: StatedParent | None, early: Sequence[Session], width: int) -> list[Line]:
    """Return what the tree belongs to, and what belongs to it, where they are not joined."""
    words = [] if elder is None else [f"  belongs to {belonging(elder)}"]
    words += (f"  {each.id} belongs to it: {title_of(each)}" for each in early)
    return [(Span(crop(each, width)),) for each in words]


def _lines(twigs: Sequence[Twig], pen: _Pen) -> Iterator[Line]:
    """Draw every session below the one it came from.

    A conversation may have been rotated a thousand times, so nothing here calls itself, and a
    rotation that nothing branches from takes no room to the right.
    """
    known = {twig.session.id: twig for twig in twigs}
    children: dict[str, list[Twig]] = {}
    # Forks that copied their beginning are of one age, and may have been imported in any order.
    for twig in sorted(twigs, key=lambda each: (each.session.started, each.session.id)):
        parent = twig.session.parent or ""
        children.setdefault(parent if parent in known else "", []).append(twig)
    tee, corner, bar, gap = pen.strokes
    waiting = [(twig, "", "") for twig in reversed(children.get("", []))]
    while waiting:
        twig, lead, below = waiting.pop()
        yield _line(twig.session, lead, pen)
        onward = children.get(twig.session.id, [])
        straight = len(onward) == 1 and onward[0].session.fork is Fork.COMPRESSION
        stem = below + (bar if onward and not straight else gap)
        yield from ((Span(stem + words, "dim"),) for words in _views(twig))
        for child in reversed(onward):
            is_last = child is onward[-1]
            side = (corner, gap) if is_last else (tee, bar)
            waiting.append((child, below, below) if straight else (child, *_beside(below, side)))


def _beside(below: str, side: tuple[str, str]) -> tuple[str, str]:
    return below + side[0], below + side[1]


def _line(session: Session, lead: str, pen: _Pen) -> Line:
    mark = ("*" if session.id == pen.current else "") + (">" if session.id == pen.leaf else "")
    state = state_of(session)
    kind = f"by {session.fork}, " if session.fork else ""
    ended = state if state in ("live", "trash") else f"ended ({state})"
    about = f"  {kind}{ended}, {session.size:,} {'entry' if session.size == 1 else 'entries'}  "
    marked = f" {mark}" if mark else ""
    room = pen.width - cells(lead) - len(session.id) - cells(marked) - cells(about)
    style = "bold green" if session.id == pen.leaf else "bold" if session.id == pen.current else ""
    return (
        Span(lead, "dim"),
        Span(session.id, style or "cyan"),
        Span(marked, "bold"),
        Span(about, "" if state == "live" else "dim"),
        Span(crop(title_of(session), room) if room > 1 else ""),
    )


def _views(twig: Twig) -> Iterator[str]:
    passes = {record.after: record for record in twig.compactions}
    for view in twig.views:
        if view.cause in (Cause.COMPACTION, Cause.REWIND):
            record = passes.get(view.id)
            words = _pass(record) if record else ""
            yield f"{view.cause} {clock_time(view.at)}{words}"


def _pass(record: CompactionRecord) -> str:
    report = record.report
    before, after = report.get("tokens_before"), report.get("tokens_after")
    figures = f": {before:,} -> {after:,} tokens" if isinstance(before, int | float) else ""
    focus = f", focus {record.focus!r}" if record.focus else ""
    return f" ({record.trigger}){figures}{focus}"


def _strokes() -> tuple[str, str, str, str]:
    """Return lines for drawing, or signs like them where the output cannot encode lines."""
    try:
        "".join(_FINE).encode(output_text().encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return _COARSE
    return _FINE
