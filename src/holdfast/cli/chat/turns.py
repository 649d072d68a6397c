"""Draws a turn while it happens, in lines that fit the terminal, and stops it when told so."""

from __future__ import annotations

import unicodedata
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import click

from holdfast.agent.events import (
    Answered,
    Done,
    Retrying,
    Stopped,
    TextStreamed,
    ThinkingStreamed,
    ToolCallRequested,
    Warned,
    WindowCompacted,
)
from holdfast.cli.screen import Styled
from holdfast.errors import HoldfastError
from holdfast.views.words import cells, clean, crop

if TYPE_CHECKING:
    from holdfast.agent.events import Event
    from holdfast.agent.turn import Turn
    from holdfast.cli.chat.room import ChatRoom
    from holdfast.cli.screen import OutputScreen

_FENCE = "```"
_WIDE = 2
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SAFE = "\n\t\u200c\u200d"
"""Line breaks, tabs, and the joiners that scripts and emoji are written with."""
_STOPPED = "[stopped; what was said is kept]"
_AGAIN = "What you said is kept; /retry asks again."


class LineWrapper:
    """Lines of at most so many columns; code and other lines that are laid out stay as they are.

    A word is held back until it ends, which is never longer than a line. A word that is longer
    than a line is left to the terminal.
    """

    def __init__(self, width: int) -> None:
        """Begin at the start of a line."""
        self._width = width
        self._column = 0
        self._space = ""
        self._word = ""
        self._is_code = False
        self._is_laid_out = False

    def push(self, text: str) -> str:
        """Take in more of the text, and return what can be shown of it."""
        return "".join(map(self._taken, text))

    def finish(self) -> str:
        """Return what was held back, at the end of the text."""
        return self._flushed()

    def _taken(self, sign: str) -> str:
        if sign == "\n":
            shown = self._flushed()
            self._column, self._space, self._is_laid_out = 0, "", False
            return shown + sign
        if self._is_laid_out:
            return sign
        if sign.isspace():
            # Whoever indents a line has laid it out.
            self._is_laid_out = self._is_code or not (self._column or self._word)
            shown = self._flushed()
            self._space += "" if self._is_laid_out else sign
            return shown + (sign if self._is_laid_out else "")
        is_wide = cells(sign) == _WIDE
        shown = self._flushed() if is_wide else ""
        self._word += sign
        if is_wide or self._begins_code() or cells(self._word) >= self._width:
            shown += self._flushed()
        return shown

    def _begins_code(self) -> bool:
        """Decide about a line of code, or about its fence, as soon as its first word shows it."""
        if self._column:
            return False
        if self._word == _FENCE:
            self._is_code = not self._is_code
            self._is_laid_out = True
        elif self._is_code and not _FENCE.startswith(self._word):
            self._is_laid_out = True
        return self._is_laid_out

    def _flushed(self) -> str:
        """Return the word that was held back, on a line where it fits."""
        word, space = self._word, self._space
        if not word:
            return ""
        self._word = self._space = ""
        needed = self._column + cells(space) + cells(word)
        # The rest of a long word is no word: an address stays in one piece.
        may_break = bool(space) or cells(word[0]) == _WIDE
        if may_break and self._column and needed > self._width and not self._is_laid_out:
            self._column = cells(word)
            return f"\n{word}"
        self._column = needed
        return space + word


def readable(text: str) -> str:
    """Return words of a model without anything that a terminal would obey; lines stay lines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        sign for sign in text if sign in _SAFE or unicodedata.category(sign) not in _UNSAFE
    )


class TurnView:
    """Where a turn is drawn; it remembers whether the cursor stands inside a line."""

    def __init__(self, view: OutputScreen, *, wraps: bool = False) -> None:
        """Begin at the start of a line.

        Args:
            wraps: Whether answers are broken into lines that fit, as on a terminal.
        """
        self._view = view
        self._wraps = wraps
        self._inside = False
        self._thinking = False
        self._flow: LineWrapper | None = None

    def event(self, event: Event) -> None:
        """Draw one thing that happened."""
        match event:
            case TextStreamed(text):
                if self._thinking:
                    self.end_line()
                if self._flow is None and self._wraps:
                    self._flow = LineWrapper(self._view.width)
                shown = readable(text)
                self._write(self._flow.push(shown) if self._flow else shown)
            case ThinkingStreamed():
                if not self._thinking:
                    self.end_line()
                    self._write("(thinking)")
                    self._thinking = True
            case ToolCallRequested(call):
                self.note(self._cropped(f"-> {call.name} {call.arguments}"), "cyan")
            case Answered(_, text, is_error):
                first = text.strip().partition("\n")[0]
                self.note(self._cropped(f"   {first}"), "red" if is_error else "dim")
            case WindowCompacted(record):
                figures = record.report
                where = " in the background" if record.trigger == "ahead_of_time" else ""
                self.note(
                    f"[folded] {figures.get('messages_before')} -> {figures.get('messages_after')} "
                    f"messages, about {figures.get('tokens_before'):,} -> "
                    f"{figures.get('tokens_after'):,} tokens{where}",
                    "bold green",
                )
            case Warned(text):
                self.note(f"[warning] {text}", "yellow")
            case Retrying(reason, seconds):
                when = f"again in {seconds:g} s" if seconds else "again"
                self.note(f"[{when}] {reason}", "yellow")
            case Stopped(reason):
                self.note(f"[stopped] {reason}", "bold red")
            case Done(is_cut=is_cut):
                # An answer that ended speaks for itself.
                if is_cut:
                    self.note("[cut off at the longest answer]", "dim")

    def note(self, words: str, style: str = "") -> None:
        """Draw a line of our own, apart from the model's words."""
        self.end_line()
        self._view.show([(Styled(words, style),)])

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

    def _write(self, text: str) -> None:
        if text:
            click.echo(text, nl=False)
            self._inside = not text.endswith("\n")


def play(room: ChatRoom, turn: Turn) -> bool:
    """Draw a turn until it ends, and say whether there was an answer.

    Ctrl-C ends it and keeps what was said; that counts as an answer, since the user wanted it so.

    Raises:
        KeyboardInterrupt: where nobody types, so that it is meant for more than this turn.
    """
    is_typed = room.reader is not None and not room.reader.echoes
    showing = TurnView(room.view, wraps=is_typed)
    answered = True
    # Closed whatever happens, also when nobody reads what is shown: it keeps what was said.
    with closing(turn):
        try:
            for event in turn:
                showing.event(event)
                answered = answered and not isinstance(event, Stopped)
        except KeyboardInterrupt:
            turn.close()
            showing.note(_STOPPED, "yellow")
            if not is_typed:
                raise
        finally:
            showing.end_line()
    if not answered:
        showing.note(_AGAIN, "dim")
    return answered


def show_news(room: ChatRoom) -> None:
    """Draw what happened beside the turns, such as a compaction in the background."""
    showing = TurnView(room.view)
    # A store that cannot be read is told of by the status line.
    with suppress(HoldfastError):
        for event in room.agent.news():
            showing.event(event)
