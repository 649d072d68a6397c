"""The line below the prompt: how full the window is, what is wrong, what the cache saves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, cells, clean, crop
from holdfast.conversation.compactor import GIVEN_UP

if TYPE_CHECKING:
    from holdfast.conversation.status import Status

__all__ = ["Footing", "status_line"]

_WARM = 0.85
_BAR = 12
_FULL, _EMPTY = "█", "░"
_SEPARATOR = " · "
_TITLE = 8
"""Columns below which a title is not worth showing."""
_HEADLINE = 48
_CLAUSE_END = re.compile(r"[:;.]\s|\s\(")


@dataclass(frozen=True, slots=True)
class Footing:
    """What is known beside the conversation's own status."""

    cached: float | None = None
    """The share of the prompts that came from the provider's cache; None before the first call."""
    cost: float | None = None
    """Dollars spent so far; None where no price is known."""
    trouble: str = ""
    """What the user should look into; `/status` says more."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something to say in the line."""

    forms: tuple[str, ...]
    """The longest first; the first that fits is shown."""
    style: str = "dim"
    least: int | None = None
    """Columns from which on the last form is cropped where none fits."""

    def within(self, room: int) -> str:
        """Return what fits into so many columns; empty when nothing does."""
        for form in self.forms:
            if cells(form) <= room:
                return form
        is_worth_it = self.least is not None and room >= self.least
        return crop(self.forms[-1], room) if is_worth_it else ""


def status_line(status: Status, footing: Footing, width: int) -> Line:
    """Return the status in one line of at most `width` columns; what matters least goes first."""
    share = min(status.share, 1.0)
    style = "green" if share < _WARM else "bold yellow" if share < 1 else "bold red"
    filled = int(share * _BAR)
    bar = Span(_FULL * filled + _EMPTY * (_BAR - filled), style)
    figures = f" {_short(status.tokens)}/{_short(status.threshold)} tokens ({status.share:.0%})"
    line: list[Span] = [bar, Span(crop(figures, max(width - _BAR, 1)), style)]
    for piece in _rest(status, footing):
        room = width - sum(cells(span.text) for span in line) - len(_SEPARATOR)
        if words := piece.within(room):
            line.append(Span(f"{_SEPARATOR}{words}", piece.style))
    return tuple(line)


def _rest(status: Status, footing: Footing) -> list[_Piece]:
    found: list[_Piece] = []
    if status.troubles:
        head = _headline(status.troubles[0])
        forms = (f"{head}, /status", head, "warning, /status", "warning", "!")
        found.append(_Piece(forms, "bold yellow"))
    if status.compacting:
        found.append(_Piece(("folding in the background",), "bold cyan"))
    elif status.undone:
        found.append(_Piece(("undone, /redo",), "cyan"))
    if footing.trouble:
        found.append(_Piece((footing.trouble,), "yellow"))
    if footing.cached is not None:
        found.append(_Piece((f"cache {footing.cached:.0%}",)))
    if footing.cost is not None:
        digits = 4 if footing.cost < 1 else 2
        found.append(_Piece((f"${footing.cost:.{digits}f}",)))
    if status.compactions:
        found.append(_Piece((f"folded {status.compactions}x",)))
    found.append(_Piece((clean(status.model) or "no model",)))
    found.append(_Piece((clean(status.title) or status.session,), least=_TITLE))
    return found


def _headline(sentence: str) -> str:
    """Return who failed and how, without the details that follow."""
    words = clean(sentence)
    lead = GIVEN_UP if words.startswith(GIVEN_UP) else ""
    cause = _CLAUSE_END.split(words.removeprefix(lead), maxsplit=1)[0] or words
    return crop(f"{lead}{cause.removesuffix('.')}", _HEADLINE)


def _short(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:,.0f}k"
