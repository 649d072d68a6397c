"""Runs an import: once over everything, or on and on as files grow."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.agent_files.opening import FileWatch, Reading, gather
from holdfast.cli.import_progress import meter_for
from holdfast.cli.import_result import Imported
from holdfast.cli.import_taking import Taking
from holdfast.cli.import_view import drawn_troubles
from holdfast.cli.lines import counted
from holdfast.cli.screen import screen, tell
from holdfast.wiring.import_job import ImportStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.agent_files.finding import File, Walk
    from holdfast.agent_files.opening import Found
    from holdfast.wiring.import_job import ImportResult
    from holdfast.wiring.import_pool import ImportPool

__all__ = ["Wanted", "follow", "import_once"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How the import is to run."""

    take: Callable[[Found], ImportResult]
    """Takes what was found."""
    join: Callable[[Iterable[ImportResult]], None]
    """Brings together what several processes took."""
    is_known: Callable[[File], bool]
    """Says which files need not be looked at."""
    format: str
    interval: float
    """Seconds between two looks at files that are followed."""
    silent: bool
    """Whether nothing is shown before it has ended."""
    pool: ImportPool | None = None
    """Takes many files at once; not those that are followed."""


def import_once(walk: Walk, wanted: Wanted, started: float) -> Imported:
    """Take everything that is there.

    Args:
        walk: What was found.
        wanted: How the import is to run.
        started: When the search for it began.
    """
    with meter_for(silent=wanted.silent) as meter:
        taking = Taking(wanted.take, meter)
        known = [file for file in walk.files if wanted.is_known(file)]
        seen = set(known)
        fresh = [file for file in walk.files if file not in seen]
        reading = Reading(format=wanted.format, seen=meter.advance)
        try:
            if wanted.pool is None:
                taking.take_all(gather(fresh, reading))
            else:
                wanted.pool.start(fresh)
                looks = gather(fresh, reading, wanted.pool.examine)
                wanted.join(taking.take_all(looks, wanted.pool))
        except KeyboardInterrupt:
            tell("what was read so far is stored; the same command goes on from there")
            raise
    return taking.result(walk, known, time.perf_counter() - started)


def follow(
    find: Callable[[], Walk], wanted: Wanted, sleep: Callable[[float], None] = time.sleep
) -> Imported:
    """Take everything, and then whatever is added, until somebody presses Ctrl-C."""
    started = time.perf_counter()
    walk = find()
    known = [file for file in walk.files if wanted.is_known(file)]
    if not wanted.silent:
        tell(f"following {counted(len(walk.files), 'file')}; Ctrl-C ends it")
    with meter_for(silent=wanted.silent) as meter:
        taking = Taking(wanted.take, meter)
        reading = Reading(format=wanted.format, live=True, seen=meter.advance)
        watch = FileWatch(find, reading, known)
        try:
            _show_first(taking.take_all(watch.look()), wanted)
            while True:
                sleep(wanted.interval)
                if looks := watch.look():
                    _show(taking.take_all(looks), wanted)
        except KeyboardInterrupt:
            pass
    return taking.result(walk, known, time.perf_counter() - started)


def _show_first(done: Sequence[ImportResult], wanted: Wanted) -> None:
    """Say in one line what was there, however many files that are."""
    if wanted.silent:
        return
    brought = [taken for taken in done if taken.status is ImportStatus.IMPORTED]
    files = sum(len(taken.found.files) for taken in brought)
    count = sum(taken.tally.count.messages for taken in brought)
    tell(f"{counted(count, 'message')} from {counted(files, 'file')}")
    _show_troubles(done)


def _show(done: Sequence[ImportResult], wanted: Wanted) -> None:
    if wanted.silent:
        return
    for taken in done:
        if taken.status is ImportStatus.IMPORTED:
            count = counted(taken.tally.count.messages, "message")
            tell(f"{count} from {taken.found.files[0].shown}")
    _show_troubles(done)


def _show_troubles(done: Sequence[ImportResult]) -> None:
    if lines := drawn_troubles(Imported(taken=tuple(done))):
        screen(is_error=True).show(lines)
