"""Takes files in several processes at once, each of which has the store open for itself.

Reading and packing keep one core busy, and only the writing itself is done by one at a time. An
import is safe beside another, so a process that ends early costs nothing but time.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from contextlib import closing, contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.errors import HoldfastError
from holdfast.wiring.importing import Intake
from holdfast.wiring.stores import store_of

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

    from holdfast.adapters.archives.opening import Found
    from holdfast.config import Settings
    from holdfast.wiring.importing import Taken

__all__ = ["Crew", "families_of"]

_WORTH = 8_000_000
"""Bytes for each process: to start one takes as long as importing some of them."""
_MOST = 8
"""More would only wait for each other, because one at a time writes."""
_Family: TypeAlias = list["Found"]
_Name: TypeAlias = tuple[str, str]


class Crew:
    """Takes finds here and in other processes.

    What a process could not do is done here, where what is wrong is said.
    """

    def __init__(self, intake: Intake, settings: Settings, jobs: int | None = None) -> None:
        """Start nothing yet.

        Args:
            intake: Takes finds here.
            settings: Says where the store is.
            jobs: How many processes there are in all; None goes by the machine and by how much
                there is to do.
        """
        self._intake = intake
        self._settings = settings
        self._jobs = jobs

    def take(self, finds: Sequence[Found]) -> Iterator[Taken] | None:
        """Return each find as it is taken, in any order; None where one process is as fast."""
        families = families_of(finds)
        jobs = self._jobs
        if jobs is None:
            worth = sum(map(_size, families)) // _WORTH
            jobs = min(os.cpu_count() or 1, worth, _MOST)
        workers = min(jobs, len(families)) - 1
        return self._taken(families, workers) if workers > 0 else None

    def _taken(self, families: list[_Family], workers: int) -> Iterator[Taken]:
        waiting = deque(sorted(families, key=_size, reverse=True))
        busy: dict[Connection, _Family] = {}
        with _started(self._settings, workers) as idle:
            while waiting or busy:
                while idle and waiting:
                    line = idle.pop()
                    busy[line] = waiting.popleft()
                    with suppress(OSError):  # one that has ended is noticed below
                        line.send(busy[line])
                if waiting:
                    # The smallest, so that the others do not wait long for what comes next.
                    yield from map(self._intake.take, waiting.pop())
                for line, done in _answers(busy, patient=not waiting):
                    family = busy.pop(line)
                    if done is None:
                        waiting.append(family)
                    else:
                        idle.append(line)
                        yield from done


def families_of(finds: Sequence[Found]) -> list[_Family]:
    """Return what must be taken by one process: in its order, a session before its children.

    Files of one session belong together. So do files without an id that have the same size: they
    may be copies of each other, and the second is known by the first.
    """
    leaders: dict[_Name, _Name] = {}

    def leader(name: _Name) -> _Name:
        while leaders.setdefault(name, name) != name:
            leaders[name] = leaders[leaders[name]]
            name = leaders[name]
        return name

    for found in finds:
        first, *others = _names(found)
        for other in others:
            leaders[leader(other)] = leader(first)
    families: dict[_Name, _Family] = {}
    for found in finds:
        families.setdefault(leader(_names(found)[0]), []).append(found)
    return list(families.values())


def _names(found: Found) -> list[_Name]:
    system, about = found.guess.format, found.about
    known = [(system, name) for name in (about.id, about.parent) if name]
    return known if about.id else [("", str(found.size)), *known]


def _size(family: _Family) -> int:
    return sum(found.size for found in family)


def _answers(
    lines: Collection[Connection], *, patient: bool
) -> list[tuple[Connection, list[Taken] | None]]:
    """Return what processes have done; None for one that has ended."""
    answers: list[tuple[Connection, list[Taken] | None]] = []
    if not lines:
        return answers  # nobody would ever end the wait
    for line in cast("list[Connection]", wait(list(lines), None if patient else 0)):
        try:
            answers.append((line, cast("list[Taken]", line.recv())))
        except (EOFError, OSError):
            answers.append((line, None))
    return answers


@contextmanager
def _started(settings: Settings, count: int) -> Generator[list[Connection]]:
    """Start processes and lend the lines to them; they end when the lines are closed."""
    # A fork would share the state of the open database, which must not be.
    context = get_context("spawn")
    lines: list[Connection] = []
    processes: list[SpawnProcess] = []
    try:
        for _ in range(count):
            line, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, settings), daemon=True)
            process.start()
            theirs.close()
            lines.append(cast("Connection", line))
            processes.append(process)
        yield lines.copy()
    except BaseException:
        for process in processes:
            process.terminate()
        raise
    finally:
        for line in lines:
            line.close()
        for process in processes:
            process.join()


def _serve(line: Connection, settings: Settings) -> None:
    """Take families of finds until nobody asks for more."""
    # Ctrl-C reaches every process of a terminal; whoever started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (
        suppress(EOFError, OSError, HoldfastError),
        closing(store_of(settings, os.environ)) as store,
    ):
        intake = Intake(store, settings)
        while True:
            family = cast("_Family", line.recv())
            line.send([intake.take(found) for found in family])
