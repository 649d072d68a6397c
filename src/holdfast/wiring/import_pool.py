"""Imports files in several processes at once, each of which has the store open for itself.

Reading and packing keep one core busy, and only the writing itself is done by one at a time. An
import is safe beside another, so a process that ends early costs nothing but time.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.agent_files.detection import FoundFile, examine_all
from holdfast.errors import HoldfastError
from holdfast.formats.catalog import agent_of
from holdfast.stores import is_durable
from holdfast.system.processes import can_fork, safe_path
from holdfast.wiring.import_job import ImportJob, collecting_seldom
from holdfast.wiring.stores import store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext
    from multiprocessing.process import BaseProcess

    from holdfast.agent_files.detection import Look, ReadOptions
    from holdfast.agent_files.finding import File
    from holdfast.config import Settings
    from holdfast.wiring.import_job import ImportResult

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
_LOAD = 1_000_000
"""Bytes that go to a process at once, where a family has fewer: they fill a transaction or two.

Each transaction is a piece of the word index that must be merged with others later.
"""
_TURNS = 4
"""How often each process is given something at least, so that none has much for the end."""
_Family: TypeAlias = list["FoundFile"]
"""What must be taken by one process, in its order."""
_Name: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Glance:
    """Asks what files are."""

    files: tuple[File, ...]
    reading: ReadOptions


class Worker:
    """A process that answers one question at a time."""

    def __init__(self, line: Connection, process: BaseProcess) -> None:
        """Hold a process that was started."""
        self.line = line
        self.process = process
        self.finds: list[FoundFile] = []
        """What it is taking."""
        self.is_new = True
        """Whether it was never asked for anything."""

    def give(self, finds: list[FoundFile]) -> None:
        """Ask it to take finds, in their order."""
        self.finds = finds
        self._send(finds)

    def ask(self, files: Sequence[File], reading: ReadOptions) -> None:
        """Ask it what files are."""
        self._send(_Glance(tuple(files), reading))

    def taken(self) -> list[ImportResult] | None:
        """Return what became of the finds that it was given; None when it has ended."""
        return cast("list[ImportResult] | None", self._received())

    def looks(self) -> list[Look] | None:
        """Return what the files are that it was asked for; None when it has ended."""
        return cast("list[Look] | None", self._received())

    def _send(self, request: list[FoundFile] | _Glance) -> None:
        self.is_new = False
        with suppress(OSError):  # one that has ended is noticed when it does not answer
            self.line.send(request)

    def _received(self) -> object:
        try:
            return self.line.recv()
        except (EOFError, OSError):
            return None


def ready(workers: Iterable[Worker]) -> list[Worker]:
    """Wait for some of the processes, and return those that have answered or ended."""
    lines = {worker.line: worker for worker in workers}
    return [lines[line] for line in cast("list[Connection]", wait(list(lines)))]


def forked(settings: Settings, count: int) -> list[Worker]:
    """Start processes that are ready at once, before anything opens a store here.

    A fork would share the state of an open database, which must not be.
    """
    # Loaded before the fork, so that no process loads it again.
    import holdfast.stores.sqlite  # noqa: F401  # pyright: ignore[reportUnusedImport]

    return _started(get_context("fork"), settings, count)


def spawned(settings: Settings, count: int) -> list[Worker]:
    """Start processes that begin with nothing, wherever and whenever that is."""
    return _started(get_context("spawn"), settings, count)


def ended(workers: Iterable[Worker], *, at_once: bool) -> None:
    """End processes: those that work when they are done, or at once with nothing half-written."""
    workers = [*workers]
    for worker in workers:
        if at_once or worker.is_new:
            worker.process.terminate()
        worker.line.close()
    for worker in workers:
        worker.process.join()


def _started(context: ForkContext | SpawnContext, settings: Settings, count: int) -> list[Worker]:
    workers: list[Worker] = []
    is_fork = context.get_start_method() == "fork"
    try:
        with _deaf_to_interrupts(), safe_path():
            for _ in range(count):
                ours, theirs = cast("tuple[Connection, Connection]", context.Pipe())
                # A fork has every line that is open here; with one of them open, none would end.
                others = (*(worker.line for worker in workers), ours) if is_fork else ()
                process = context.Process(
                    target=_serve, args=(theirs, others, settings), daemon=True
                )
                process.start()
                theirs.close()
                workers.append(Worker(ours, process))
    except BaseException:
        ended(workers, at_once=True)
        raise
    return workers


@contextmanager
def _deaf_to_interrupts() -> Generator[None]:
    """Let Ctrl-C wait while processes are started, which never hear it.

    It reaches every process of a terminal, and whoever started one ends it.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(line: Connection, others: Sequence[Connection], settings: Settings) -> None:
    """Answer what is asked until nobody asks for more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
        other.close()
    with ExitStack() as stack, suppress(EOFError, OSError, HoldfastError):
        stack.enter_context(collecting_seldom())
        job = None
        while True:
            request = cast("list[FoundFile] | _Glance", line.recv())
            if isinstance(request, _Glance):
                line.send(examine_all(request.files, request.reading))
                continue
            if job is None:
                store = stack.enter_context(closing(store_of(settings, os.environ)))
                job = ImportJob(store, settings)
            line.send(job.take_all(request))


class ImportPool:
    """Has finds taken by other processes, while this one hands them out.

    What a process could not do is done here, where what is wrong is said.
    """

    def __init__(self, settings: Settings, jobs: int | None = None) -> None:
        """Start nothing yet.

        Args:
            jobs: How many processes import at once; None goes by the machine and by how much there
                is to do.
        """
        self._settings = settings
        self._jobs = jobs
        self._workers: list[Worker] = []
        self._is_ready = False
        """Whether the processes have loaded what they need."""

    def __enter__(self) -> ImportPool:
        """Begin."""
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
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

    def examine(self, files: Sequence[File], reading: ReadOptions) -> list[Look]:
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
            if found is None:
                found = examine_all(part, reading)
            else:
                # What another process has found is read as it is here.
                found = [
                    replace(look, reading=reading) if isinstance(look, FoundFile) else look
                    for look in found
                ]
            looks[start :: len(workers)] = found
        return cast("list[Look]", looks)

    def take(
        self, finds: Sequence[FoundFile], take: Callable[[FoundFile], ImportResult]
    ) -> Iterator[ImportResult] | None:
        """Return each find as it is taken, in any order; None where one process is as fast.

        Args:
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

    def _taken(
        self, families: list[_Family], take: Callable[[FoundFile], ImportResult]
    ) -> Iterator[ImportResult]:
        # What is large comes first, so that nobody has it for the end.
        waiting = deque(sorted(families, key=_size, reverse=True))
        idle = [*self._workers]
        most = min(_LOAD, sum(map(_size, families)) // (_TURNS * len(idle)))
        busy: list[Worker] = []
        while waiting or busy:
            while waiting and idle:
                worker = idle.pop()
                # The largest, or some of the small ones.
                load = [*waiting.popleft()]
                size = _size(load)
                while waiting and (size := size + _size(waiting[0])) <= most:
                    load += waiting.popleft()
                worker.give(load)
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


def families_of(finds: Sequence[FoundFile]) -> list[_Family]:
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


def _names(found: FoundFile) -> list[_Name]:
    system, about = agent_of(found.guess.format), found.about
    known = [(system, name) for name in (about.id, about.parent) if name]
    return known if about.id else [("", str(found.size)), *known]
