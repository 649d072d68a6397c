"""Processes beside this one that look at files and take finds: started, asked, heard, ended."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, cast

from holdfast.agent_files.opening import examine_all
from holdfast.errors import HoldfastError
from holdfast.system.processes import safe_path
from holdfast.wiring.importing import Intake, collecting_seldom
from holdfast.wiring.stores import store_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext
    from multiprocessing.process import BaseProcess

    from holdfast.agent_files.finding import File
    from holdfast.agent_files.opening import Found, Look, Reading
    from holdfast.config import Settings
    from holdfast.wiring.importing import Taken

__all__ = ["Worker", "ended", "forked", "ready", "spawned"]


@dataclass(frozen=True, slots=True)
class _Glance:
    """Asks what files are."""

    files: tuple[File, ...]
    reading: Reading


class Worker:
    """A process that answers one question at a time."""

    def __init__(self, line: Connection, process: BaseProcess) -> None:
        """Hold a process that was started."""
        self.line = line
        self.process = process
        self.finds: list[Found] = []
        """What it is taking."""
        self.is_new = True
        """Whether it was never asked for anything."""

    def give(self, finds: list[Found]) -> None:
        """Ask it to take finds, in their order."""
        self.finds = finds
        self._send(finds)

    def ask(self, files: Sequence[File], reading: Reading) -> None:
        """Ask it what files are."""
        self._send(_Glance(tuple(files), reading))

    def taken(self) -> list[Taken] | None:
        """Return what became of the finds that it was given; None when it has ended."""
        return cast("list[Taken] | None", self._received())

    def looks(self) -> list[Look] | None:
        """Return what the files are that it was asked for; None when it has ended."""
        return cast("list[Look] | None", self._received())

    def _send(self, request: list[Found] | _Glance) -> None:
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
        intake = None
        while True:
            request = cast("list[Found] | _Glance", line.recv())
            if isinstance(request, _Glance):
                line.send(examine_all(request.files, request.reading))
                continue
            if intake is None:
                store = stack.enter_context(closing(store_of(settings, os.environ)))
                intake = Intake(store, settings)
            line.send(intake.take_all(request))
