"""Draws what a search found: the conversation, when and where, and the words with the match."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, cells, clean, crop
from holdfast.cli.times import ago, clock_time
from holdfast.recall.sources import agent_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.screen import Screen
    from holdfast.recall.shapes import Excerpt, Excerpts

__all__ = ["drawn"]

_MARKED = re.compile(r"(>>>(?:(?!>>>).)*?<<<)")
_PIECE = re.compile(r"\s+|\S+")
_INDENT = "    "
_MATCH = "bold yellow"


def drawn(found: Excerpts, view: Screen, now: int, *, is_within: bool) -> list[Line]:
    """Return the results, a blank line between them.

    Args:
        found: What the search found.
        view: Where it is drawn; without colors the matches keep their marks.
        now: The time.
        is_within: Whether all of it is from one conversation, which is then named once.
    """
    lines: list[Line] = []
    for number, each in enumerate(found.excerpts):
        lines += [()] if number else []
        if not (is_within and number):
            lines.append((Span(crop(clean(each.title or "(no title)"), view.width), "bold"),))
        lines.append(_place(each, view.width, now))
        lines += _wrapped(each.snippet, view)
    return lines


def _place(each: Excerpt, width: int, now: int) -> Line:
    at = each.focus.at
    role = f"{each.focus.role} {each.focus.tool}".rstrip()
    agent = agent_of(each.session.source)
    where = f"  {agent}" if agent else ""
    rest = f"  message {each.focus.id}{where}  {role}  {ago(at, now)}, {clock_time(at)}"
    id_ = f"  {each.session.id}"
    return (Span(id_, "cyan"), Span(crop(clean(rest), max(width - cells(id_), 1)), "dim"))


def _wrapped(snippet: str, view: Screen) -> list[Line]:
    """Return the words in lines that fit; a word that does not fit a line is cropped."""
    room = view.width - len(_INDENT)
    lines: list[list[Span]] = [[Span(_INDENT)]]
    used = 0
    for text, style in _pieces(snippet, is_colored=view.colored):
        shown = crop(text, room)
        if used + cells(shown) > room:
            lines.append([Span(_INDENT)])
            used = 0
        if used or not shown.isspace():
            lines[-1].append(Span(shown, style))
            used += cells(shown)
    return [tuple(line) for line in lines]


def _pieces(snippet: str, *, is_colored: bool) -> Iterator[tuple[str, str]]:
    for part in _MARKED.split(clean(snippet)):
        is_match = _MARKED.fullmatch(part) is not None
        text = part[3:-3] if is_match and is_colored else part
        for piece in _PIECE.findall(text):
            yield piece, _MATCH if is_match else ""
