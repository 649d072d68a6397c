"""The line below the prompt: how full the window is, what the cache saves, what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.lines import Line, Span, cells, clean, crop

if TYPE_CHECKING:
    from holdfast.conversation.status import Status

__all__ = ["Footing", "status_line"]

_WARM = 0.85
_BAR = 12
_FULL, _EMPTY = "█", "░"
_SEPARATOR = " · "
_TITLE = 8
"""Columns below which a title is not worth showing."""


@dataclass(frozen=True, slots=True)
class Footing:
    """What is known beside the conversation's own status."""

    cached: float | None = None
    """The share of the prompts that came from the provider's cache; None before the first call."""
    cost: float | None = None
    """Dollars spent so far; None where no price is known."""
    trouble: str = ""
    """What the user should look into; `/status` says more."""


def status_line(status: Status, footing: Footing, width: int) -> Line:
    """Return the status in one line of at most `width` columns; what matters least goes first."""
    share = min(status.share, 1.0)
    style = "green" if share < _WARM else "bold yellow" if share < 1 else "bold red"
    filled = int(share * _BAR)
    bar = Span(_FULL * filled + _EMPTY * (_BAR - filled), style)
    figures = f" {_short(status.tokens)}/{_short(status.threshold)} tokens ({status.share:.0%})"
    line: list[Span] = [bar, Span(crop(figures, max(width - _BAR, 1)), style)]
    for words, look in _rest(status, footing):
        room = width - sum(cells(span.text) for span in line) - len(_SEPARATOR)
        if room < _TITLE if look == "title" else room < cells(words):
            continue
        shown = crop(words, room)
        line.append(Span(f"{_SEPARATOR}{shown}", "dim" if look == "title" else look))
    return tuple(line)


def _rest(status: Status, footing: Footing) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if status.compacting:
        found.append(("folding in the background", "bold cyan"))
    elif status.undone:
        found.append(("undone, /redo", "cyan"))
    if footing.trouble:
        found.append((footing.trouble, "yellow"))
    if footing.cached is not None:
        found.append((f"cache {footing.cached:.0%}", "dim"))
    if footing.cost is not None:
        digits = 4 if footing.cost < 1 else 2
        found.append((f"${footing.cost:.{digits}f}", "dim"))
    if status.compactions:
        found.append((f"folded {status.compactions}x", "dim"))
    found.append((clean(status.model) or "no model", "dim"))
    found.append((clean(status.title) or status.session, "title"))
    return found


def _short(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:,.0f}k"
