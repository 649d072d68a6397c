"""Text and progress laid out for a terminal, and the standard streams that they are drawn on.

Views return lines; what draws them decides whether styles become colors. Transcripts hold whatever
tools printed, so every character that a terminal could obey is taken out here.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import click

from holdfast.errors import HoldfastError
from holdfast.views.words import cells, clean, crop, spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO, TextIO, TypeAlias

    from rich.progress import Progress, ProgressColumn


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
        width: How many columns there are in all; None for as many as it takes.
        right: The indices of the columns that hold figures.
    """
    shown = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*shown, strict=True)]
    if width is not None:
        widths[-1] = max(width - sum(widths[:-1]) - 2 * len(widths), 8)
    found: list[Line] = []
    for number, row in enumerate(shown):
        padded: list[str] = []
        for place, cell in enumerate(row):
            words = crop(cell, widths[place])
            space = " " * (widths[place] - cells(words))
            padded.append(space + words if place in right else words + space)
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


_EVERY = 5.0
"""Seconds between two lines in a pipe."""
_WIDE = 100
"""Columns that the rate and the name of a file need besides the bar."""
_FIGURES = 36
"""Columns that the figures of a bar take, at most."""


class _Display(Protocol):
    """Who shows how far it is."""

    def begin(self, total: int) -> None: ...
    def show(self, done: int, name: str) -> None: ...
    def end(self) -> None: ...


class ProgressMeter:
    """Counts the bytes of files as they are read, each file once however often it is."""

    def __init__(self, display: _Display) -> None:
        """Take who shows it."""
        self._display = display
        self._before = 0
        self._size = 0
        self._here = 0
        self._name = ""

    def __enter__(self) -> ProgressMeter:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the display away."""
        self.end()

    def end(self) -> None:
        """Take the display away until the next beginning."""
        self._display.end()

    def begin(self, total: int) -> None:
        """Say how many bytes there are in all."""
        self._before = self._here = self._size = 0
        self._display.begin(total)

    def next(self, name: str, size: int) -> None:
        """Go on to a file; the one before is done."""
        self._before += self._size
        self._name, self._size, self._here = name, size, 0
        self._display.show(self._before, name)

    def rename(self, name: str) -> None:
        """Show another name beside the figures."""
        self._name = name
        self._display.show(self._before + self._here, name)

    def advance(self, count: int) -> None:
        """Count bytes that were read."""
        self._here = min(self._here + count, self._size)
        self._display.show(self._before + self._here, self._name)


def meter_for(*, silent: bool, clock: Callable[[], float] = time.monotonic) -> ProgressMeter:
    """Return the meter that fits where output goes."""
    stream = error_text()
    if silent or stream is None:
        return ProgressMeter(_Silence())
    return ProgressMeter(
        _Bar() if stream.isatty() and screen(is_error=True).colored else _Lines(clock)
    )


def megabytes(count: int) -> str:
    """Return a number of bytes in a unit that fits."""
    if count < 1_000_000:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:,.1f} MB"


class _Silence:
    def begin(self, total: int) -> None: ...
    def show(self, done: int, name: str) -> None: ...
    def end(self) -> None: ...


class _Lines:
    """A line every few seconds, so that a log shows that something happens."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._total = 0
        self._started = self._told = clock()

    def begin(self, total: int) -> None:
        self._total = total
        self._started = self._told = self._clock()

    def show(self, done: int, name: str) -> None:
        now = self._clock()
        if now - self._told < _EVERY:
            return
        self._told = now
        rate = done / (now - self._started)
        left = f", {(self._total - done) / rate:,.0f} s left" if rate else ""
        so_far = f"{megabytes(done)} of {megabytes(self._total)}"
        tell(f"read {so_far}, {megabytes(int(rate))}/s{left}: {name}")

    def end(self) -> None: ...


class _Bar:
    """A bar with the time that is left, and where there is room, the rate and the file."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._room = 0

    def begin(self, total: int) -> None:
        # Imported only here: a pipe needs none of it.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.table import Column

        self.end()
        console = Console(stderr=True)
        self._room = console.width - _FIGURES
        whole = Column(no_wrap=True)
        columns: list[ProgressColumn] = [
            BarColumn(min(40, max(console.width - _FIGURES, 10))),
            DownloadColumn(table_column=whole),
            TimeRemainingColumn(table_column=whole),
        ]
        if console.width >= _WIDE:
            self._room -= 40
            columns.insert(2, TransferSpeedColumn(table_column=whole))
            columns.append(TextColumn("{task.description}", markup=False))
        self._progress = Progress(*columns, console=console, transient=True)
        self._progress.add_task("", total=total)
        self._progress.start()

    def show(self, done: int, name: str) -> None:
        if self._progress is not None:
            (task,) = self._progress.task_ids
            shown = crop(name, max(self._room, 8))
            self._progress.update(task, completed=done, description=shown)

    def end(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
