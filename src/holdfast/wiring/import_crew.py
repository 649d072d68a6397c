"""Takes files in several processes at once, each of which has the store open for itself.

Reading and packing keep one core busy, and only the writing itself is done by one at a time. An
import is safe beside another, so a process that ends early costs nothing but time.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.agent_files.opening import Found, examine_all
from holdfast.formats.catalog import agent_of
from holdfast.stores.registry import is_durable
from holdfast.system.processes import can_fork
from holdfast.wiring.import_workers import ended, forked, ready, spawned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from holdfast.agent_files.finding import File
    from holdfast.agent_files.opening import Look, Reading
    from holdfast.config import Settings
    from holdfast.wiring.import_workers import Worker
    from holdfast.wiring.importing import Taken

__all__ = ["Crew", "families_of"]

_WORTH_A_FORK = 1_000_000
"""Bytes for each process that is split off: to do so and to open the store takes a moment."""
_WORTH_A_START = 8_000_000
"""Bytes for each process that begins with nothing: it loads as long as it imports some of them."""
_MOST = 4
"""More would only wait for each other: a quarter to a third of the work is done in turns."""
_WAITING = 1
"""Processes more than cores, because now and then one waits for its turn to write."""
_WORTH_A_GLANCE = 8
"""Files that are looked at by others: fewer are looked at here in the time it takes to ask."""
_LOAD = 64_000
"""Bytes that go to a process at once, where a family has fewer."""
_Family: TypeAlias = list["Found"]
"""What must be taken by one process, in its order."""
_Name: TypeAlias = tuple[str, str]


class Crew:
    """Has finds taken by other processes, while this one hands them out.

    What a process could not do is done here, where what is wrong is said.
    """

    def __init__(self, settings: Settings, jobs: int | None = None) -> None:
        """Start nothing yet.

        Args:
            settings: Says where the store is.
            jobs: How many processes import at once; None goes by the machine and by how much there
                is to do.
        """
        self._settings = settings
        self._jobs = jobs
        self._workers: list[Worker] = []
        self._is_ready = False
        """Whether the processes have loaded what they need."""

    def __enter__(self) -> Crew:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the processes: at once if something went wrong here."""
        workers, self._workers = self._workers, []
        ended(workers, at_once=error is not None)

    def start_early(self, files: Iterable[File]) -> None:
        """Start processes that are ready at once, where the system can; no store may be open."""
        if not self._workers and can_fork():
            self._workers = forked(self._settings, self._wanted(files, _WORTH_A_FORK))
            self._is_ready = True

    def start(self, files: Iterable[File]) -> None:
        """Start processes unless some have been."""
        if not self._workers:
            self._workers = spawned(self._settings, self._wanted(files, _WORTH_A_START))
            self._is_ready = False

    def examine(self, files: Sequence[File], reading: Reading) -> list[Look]:
        """Return what each of the files is; each process looks at a part of them."""
        workers = self._workers if self._is_ready else []
        if not workers or len(files) < _WORTH_A_GLANCE:
            return examine_all(files, reading)
        parts = [files[start :: len(workers)] for start in range(len(workers))]
        for worker, part in zip(workers, parts, strict=True):
            worker.ask(part, reading)
        looks: list[Look | None] = [None] * len(files)
        for start, part in enumerate(parts):
            found = workers[start].looks()
            looks[start :: len(workers)] = (
                examine_all(part, reading) if found is None else _read_here(found, reading)
            )
        return cast("list[Look]", looks)

    def take(
        self, finds: Sequence[Found], take: Callable[[Found], Taken]
    ) -> Iterator[Taken] | None:
        """Return each find as it is taken, in any order; None where one process is as fast.

        Args:
            finds: What is to be taken.
            take: Takes one here, where others cannot.
        """
        families = families_of(finds)
        return self._taken(families, take) if self._workers and len(families) > 1 else None

    def _wanted(self, files: Iterable[File], worth: int) -> int:
        """Return how many processes are to be started; none where this one is as fast."""
        sizes = [file.size for file in files]
        jobs = self._jobs
        if jobs is None:
            cores = os.cpu_count() or 1
            jobs = min(cores + _WAITING, sum(sizes) // worth, _MOST) if cores > 1 else 1
        # Other processes would fill stores of their own where this one's is not shared with them.
        if not is_durable(self._settings.store.url):
            return 0
        jobs = min(jobs, len(sizes))
        return jobs if jobs > 1 else 0

    def _taken(self, families: list[_Family], take: Callable[[Found], Taken]) -> Iterator[Taken]:
        # What is large comes first, so that nobody has it for the end.
        waiting = deque(sorted(families, key=_size, reverse=True))
        idle = [*self._workers]
        busy: list[Worker] = []
        while waiting or busy:
            while waiting and idle:
                worker = idle.pop()
                worker.give(_load(waiting))
                busy.append(worker)
            for worker in ready(busy):
                busy.remove(worker)
                done = worker.taken()
                if done is None:
                    yield from map(take, worker.finds)
                else:
                    idle.append(worker)
                    yield from done
            while waiting and not (idle or busy):  # nobody else is left
                yield from map(take, waiting.popleft())


def _size(family: _Family) -> int:
    return sum(found.size for found in family)


def _load(waiting: deque[_Family]) -> _Family:
    """Return what a process is to take next: the largest, or some of the small ones."""
    load = [*waiting.popleft()]
    size = _size(load)
    while waiting and (size := size + _size(waiting[0])) <= _LOAD:
        load += waiting.popleft()
    return load


def _read_here(looks: Iterable[Look], reading: Reading) -> list[Look]:
    """Return what another process has found, to be read as it is here."""
    return [replace(look, reading=reading) if isinstance(look, Found) else look for look in looks]


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
    system, about = agent_of(found.guess.format), found.about
    known = [(system, name) for name in (about.id, about.parent) if name]
    return known if about.id else [("", str(found.size)), *known]
