"""Text laid out for a terminal, and the standard streams of the process that it is drawn on.

Views return lines; what draws them decides whether styles become colors. Transcripts hold
whatever tools printed, so every character that a terminal could obey is taken out here.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from holdfast.errors import HoldfastError
from holdfast.views.words import cells, clean, crop, spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO, TextIO, TypeAlias

__all__ = [
    "Line",
    "OutputScreen",
    "Styled",
    "Unusable",
    "crop_middle",
    "error_text",
    "flush_output",
    "forgive",
    "input_bytes",
    "is_interrupt",
    "output_bytes",
    "output_text",
    "plain",
    "screen",
    "show_answer",
    "show_json",
    "silence_log",
    "table",
    "tell",
    "wrapped",
]


@dataclass(frozen=True, slots=True)
class Styled:
    """Some words, and how they are to look; safe to print whatever they are."""

    text: str
    style: str = ""

    def __post_init__(self) -> None:
        """Take out what a terminal would obey rather than show."""
        object.__setattr__(self, "text", clean(self.text))


Line: TypeAlias = tuple[Styled, ...]


def crop_middle(text: str, width: int) -> str:
    """Return the text in at most `width` columns, cut where names differ least: in the middle."""
    if cells(text) <= width:
        return text
    tail = ""
    for sign in reversed(text):
        if cells(sign + tail) > width // 2:
            break
        tail = sign + tail
    return crop(text, width - cells(tail)) + tail


def plain(lines: Sequence[Line]) -> str:
    """Return the lines as bare text."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def table(rows: Sequence[Sequence[str]], width: int | None, *, right: frozenset[int]) -> list[Line]:
    """Lay rows out in columns; the first row is the heading, the last column gets the rest.

    Args:
        rows: The heading and the rows.
        width: How many columns there are in all; None for as many as it takes.
        right: The indices of the columns that hold figures.
    """
    shown = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*shown, strict=True)]
    if width is not None:
        widths[-1] = max(width - sum(widths[:-1]) - 2 * len(widths), 8)
    found: list[Line] = []
    for number, row in enumerate(shown):
        padded = [
            _padded(crop(cell, widths[place]), widths[place], right=place in right)
            for place, cell in enumerate(row)
        ]
        found.append((Styled("  " + "  ".join(padded), "" if number else "bold"),))
    return found


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of at most `width` columns, its own line breaks kept.

    A line that continues is indented as deep as the words of its first line.
    """
    import textwrap

    found: list[str] = []
    for line in text.split("\n"):
        shown = clean(line)
        mark = len(shown) - len(shown.lstrip(" -0123456789.>"))
        deeper = indent + " " * min(mark, 6)
        found += textwrap.wrap(
            shown, max(width, 20), initial_indent=indent, subsequent_indent=deeper
        ) or [""]
    return found


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - cells(text))
    return space + text if right else text + space


_NARROWEST = 40


class Unusable(HoldfastError):
    """A file or a stream cannot be used; the message names it and says why."""


def input_bytes() -> BinaryIO:
    """Return standard input.

    Raises:
        Unusable: when it is closed.
    """
    stream = _present(sys.stdin)
    if stream is None:
        raise Unusable("cannot read standard input: it is closed")
    return stream.buffer


def output_bytes() -> BinaryIO:
    """Return standard output for bytes.

    Raises:
        Unusable: when it is closed.
    """
    return output_text().buffer


def output_text() -> TextIO:
    """Return standard output for text.

    Raises:
        Unusable: when it is closed.
    """
    stream = _present(sys.stdout)
    if stream is None:
        raise Unusable("cannot write standard output: it is closed")
    return stream


def error_text() -> TextIO | None:
    """Return standard error, or None when it is closed: then nobody wants to be told."""
    return _present(sys.stderr)


def is_interrupt(error: BaseException) -> bool:
    """Say whether an error is what became of Ctrl-C: pydantic raises its own while it is loaded."""
    seen = {id(error): error}
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in seen:
        seen[id(cause)] = error = cause
    return any(
        isinstance(each, KeyboardInterrupt) or "KeyboardInterrupt: " in str(each)
        for each in seen.values()
    )


def flush_output() -> None:
    """Write out what is still held, so that a full disk is noticed while it can be told."""
    stream = _present(sys.stdout)
    if stream is not None:
        stream.flush()


def forgive() -> None:
    """Let a terminal that cannot show a character show a question mark, and go on."""
    for stream in (_present(sys.stdout), _present(sys.stderr)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _present(stream: TextIO | None) -> TextIO | None:
    """Return the stream; the interpreter has None for one that was closed at its start."""
    return stream


@dataclass(frozen=True, slots=True)
class OutputScreen:
    """What is known about where output goes."""

    width: int
    colored: bool
    is_error: bool = False

    def show(self, lines: Sequence[Line]) -> None:
        """Draw the lines."""
        if not self.colored:
            _write(plain(lines), is_error=self.is_error)
            return
        # Imported only here: a pipe needs none of it.
        from rich.console import Console
        from rich.text import Text

        console = Console(
            file=_stream(is_error=self.is_error), force_terminal=True, width=self.width
        )
        for line in lines:
            words = [(span.text, span.style) for span in line]
            console.print(Text.assemble(*words), soft_wrap=True, highlight=False)


def screen(*, is_error: bool = False) -> OutputScreen:
    """Return the screen behind standard output or standard error.

    `COLUMNS` sets the width. `NO_COLOR` turns colors off, `FORCE_COLOR` turns them on.
    """
    columns = shutil.get_terminal_size((80, 24)).columns
    stream = _stream(is_error=is_error)
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        is_colored = False
    else:
        is_colored = bool(os.environ.get("FORCE_COLOR")) or stream.isatty()
    return OutputScreen(max(columns, _NARROWEST), is_colored, is_error)


def show_answer(
    value: object, drawn: Callable[[OutputScreen], Sequence[Line]], *, as_json: bool
) -> None:
    """Print a command's answer as JSON, or what is drawn of it for a person."""
    if as_json:
        show_json(value)
        return
    view = screen()
    view.show(drawn(view))


def show_json(value: object) -> None:
    """Write a value as JSON to standard output."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    _write(spelled_out(text) if output_text().isatty() else text)


def tell(*sentences: str) -> None:
    """Write sentences for a person to standard error, one a line whatever stands in them."""
    _write("\n".join(map(clean, sentences)), is_error=True)


def silence_log(name: str) -> None:
    """Let what a command tells by itself be told once: Python prints a log that nobody reads."""
    import logging

    logging.getLogger(name).addHandler(logging.NullHandler())


def _stream(*, is_error: bool) -> TextIO | None:
    return error_text() if is_error else output_text()


def _write(text: str, *, is_error: bool = False) -> None:
    stream = _stream(is_error=is_error)
    if stream is not None:
        click.echo(text, file=stream)
