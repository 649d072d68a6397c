"""How far a run over files is: a bar on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from holdfast.cli.screen import error_text, screen, tell
from holdfast.views.words import crop

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.progress import Progress, ProgressColumn

__all__ = ["ProgressMeter", "megabytes", "meter_for"]

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
