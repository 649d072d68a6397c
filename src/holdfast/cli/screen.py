"""The standard streams of the process, and lines drawn on them: colored on a terminal only."""

from __future__ import annotations

import io
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from holdfast.cli.lines import plain
from holdfast.errors import HoldfastError
from holdfast.views.words import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO, TextIO

    from holdfast.cli.lines import Line

__all__ = [
    "OutputScreen",
    "Unusable",
    "error_text",
    "flush_output",
    "forgive",
    "input_bytes",
    "output_bytes",
    "output_text",
    "screen",
    "show_answer",
    "show_json",
    "silence_log",
    "tell",
]

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

    _write(json.dumps(value, ensure_ascii=False, indent=2))


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
