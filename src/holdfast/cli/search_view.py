"""Draws what a search found: the conversation, when and where, and the words with the match."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, cells, clean, crop
from holdfast.cli.session_fields import UNTITLED
from holdfast.cli.times import clock_time, shortly_ago
from holdfast.recall.sources import agent_of
from holdfast.recall.values import MatchTier
from holdfast.session.titles import short_title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.screen import Screen
    from holdfast.recall.shapes import Excerpt, Excerpts

__all__ = ["drawn"]

_MARKED = re.compile(r"(>>>(?:(?!>>>).)*?<<<)")
_PIECE = re.compile(r"\s+|\S+")
_INDENT = "    "
_MATCH = "bold yellow"
_PARTIAL = "only some of the words:"


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
            title = short_title(each.title) or UNTITLED
            lines.append((Span(crop(clean(title), view.width), "bold"),))
        lines.append(_place(each, view.width, now))
        lines += [(Span(_INDENT + _PARTIAL, "dim"),)] if each.tier is MatchTier.SOME else []
        lines += _wrapped(each.snippet, view)
    return lines


def _place(each: Excerpt, width: int, now: int) -> Line:
    """Return where and when it was said; what is known best to others comes last and is cut."""
    focus = each.focus
    role = f"summary by {focus.summary_by}" if focus.summary_by else str(focus.role)
    agent = agent_of(each.session.source)
    known = [clock_time(focus.at), f"message {focus.id}", agent, f"{role} {focus.tool}".rstrip()]
    rest = "".join(f"  {words}" for words in known if words)
    id_ = f"  {each.session.id}"
    room = max(width - cells(id_), 1)
    since = f"  {shortly_ago(focus.at, now)}"
    rest += since if cells(rest + since) <= room else ""
    return (Span(id_, "cyan"), Span(crop(clean(rest), room), "dim"))


def _wrapped(snippet: str, view: Screen) -> list[Line]:
    """Return the words in lines that fit; a word that does not fit a line is cropped.

    Lines break between words only: a match stays together with its marks and with the rest of the
    word that it stands in, if a line can hold that.
    """
    room = view.width - len(_INDENT)
    lines: list[list[Span]] = [[Span(_INDENT)]]
    used = 0
    for pieces in _words(snippet, room, is_colored=view.colored):
        width = sum(cells(piece.text) for piece in pieces)
        if used + width > room:
            lines.append([Span(_INDENT)])
            used = 0
        if used or not pieces[0].text.isspace():
            lines[-1] += pieces
            used += width
    return [tuple(line) for line in lines]


def _words(snippet: str, room: int, *, is_colored: bool) -> Iterator[list[Span]]:
    """Return what no line break may part: words with the matches in them, and what is between."""
    word: list[Span] = []
    for piece in _pieces(snippet, is_colored=is_colored):
        if piece.text.isspace() or (word and word[-1].text.isspace()):
            yield from _fitting(word, room)
            word = []
        word.append(piece)
    yield from _fitting(word, room)


def _fitting(word: list[Span], room: int) -> Iterator[list[Span]]:
    if sum(cells(piece.text) for piece in word) <= room:
        yield from [word] if word else []
        return
    for piece in word:
        for part in _PIECE.findall(piece.text):
            yield [Span(crop(part, room), piece.style)]


def _pieces(snippet: str, *, is_colored: bool) -> Iterator[Span]:
    for part in _MARKED.split(clean(snippet)):
        if _MARKED.fullmatch(part):
            yield Span(part[3:-3] if is_colored else part, _MATCH)
        else:
            yield from map(Span, _PIECE.findall(part))
