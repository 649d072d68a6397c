"""Draws a turn while it happens: words as they come, tools, folds and warnings between them."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import click

from holdfast.agent.events import (
    Answered,
    Asked,
    Done,
    Folded,
    Retrying,
    Spoken,
    Stopped,
    Thought,
    Warned,
)
from holdfast.cli.chat.flow import Flow
from holdfast.cli.chat.words import fold_line
from holdfast.cli.lines import Span
from holdfast.views.words import clean, crop

if TYPE_CHECKING:
    from holdfast.agent.events import Event
    from holdfast.cli.screen import Screen

__all__ = ["Showing", "readable"]

_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SAFE = "\n\t\u200c\u200d"
"""Line breaks, tabs, and the joiners that scripts and emoji are written with."""


def readable(text: str) -> str:
    """Return words of a model without anything that a terminal would obey; lines stay lines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        sign for sign in text if sign in _SAFE or unicodedata.category(sign) not in _UNSAFE
    )


def _remark(event: Folded | Warned | Retrying | Stopped | Done) -> tuple[str, str]:
    """Return what we say of an event and how it looks; an answer that ended speaks for itself."""
    match event:
        case Folded(record):
            return f"[folded] {fold_line(record)}", "bold green"
        case Warned(text):
            return f"[warning] {text}", "yellow"
        case Retrying(reason, seconds):
            when = f"again in {seconds:g} s" if seconds else "again"
            return f"[{when}] {reason}", "yellow"
        case Stopped(reason):
            return f"[stopped] {reason}", "bold red"
        case Done(is_cut=is_cut):
            return ("[cut off at the longest answer]", "dim") if is_cut else ("", "")


class Showing:
    """Where a turn is drawn; it remembers whether the cursor stands inside a line."""

    def __init__(self, view: Screen, *, wraps: bool = False) -> None:
        """Begin at the start of a line.

        Args:
            view: Where lines of our own are drawn.
            wraps: Whether answers are broken into lines that fit, as on a terminal.
        """
        self._view = view
        self._wraps = wraps
        self._inside = False
        self._thinking = False
        self._flow: Flow | None = None

    def event(self, event: Event) -> None:
        """Draw one thing that happened."""
        match event:
            case Spoken(text):
                self._say(text)
            case Thought():
                self._think()
            case Asked(call):
                self.note(self._cropped(f"-> {call.name} {call.arguments}"), "cyan")
            case Answered(_, text, is_error):
                first = text.strip().partition("\n")[0]
                self.note(self._cropped(f"   {first}"), "red" if is_error else "dim")
            case Folded() | Warned() | Retrying() | Stopped() | Done():
                words, style = _remark(event)
                if words:
                    self.note(words, style)

    def note(self, words: str, style: str = "") -> None:
        """Draw a line of our own, apart from the model's words."""
        self.end_line()
        self._view.show([(Span(words, style),)])

    def end_line(self) -> None:
        """Go to the start of a line."""
        if self._flow is not None:
            self._write(self._flow.finish())
            self._flow = None
        if self._inside:
            click.echo()
        self._inside = self._thinking = False

    def _cropped(self, words: str) -> str:
        return crop(clean(words), self._view.width - 1)

    def _say(self, text: str) -> None:
        if self._thinking:
            self.end_line()
        if self._flow is None and self._wraps:
            self._flow = Flow(self._view.width)
        shown = readable(text)
        self._write(self._flow.push(shown) if self._flow else shown)

    def _write(self, text: str) -> None:
        if text:
            click.echo(text, nl=False)
            self._inside = not text.endswith("\n")

    def _think(self) -> None:
        if not self._thinking:
            self.end_line()
            self._write("(thinking)")
            self._thinking = True
