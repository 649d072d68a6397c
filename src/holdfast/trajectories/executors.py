"""Who processes batches: this process, or several of them, in the order of the input.

A process that dies takes nothing with it: what it had is tried again alone, and a trajectory that
ends its process every time is set aside.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Protocol

from holdfast.system.processes import can_fork, safe_path
from holdfast.trajectories.work import Failed, Outcome, Work, process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.process import BaseProcess
    from types import TracebackType

    from holdfast.trajectories.items import Item, TrajectoryBatch

__all__ = ["DIED", "Executor", "HereExecutor", "PoolExecutor", "jobs_for"]

_AHEAD = 2
"""Batches that wait for each process, so that none runs dry."""
DIED = "the process that took it ended; it may need more memory than there is"


class Executor(Protocol):
    """Processes batches somewhere."""

    def outcomes(
        self, batches: Iterable[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch, in order, taking from the input as room is made."""
        ...


class HereExecutor:
    """Processes batches in this process."""

    def outcomes(
        self, batches: Iterable[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch."""
        for batch in batches:
            yield batch, process(batch, work)


class PoolExecutor:
    """Processes batches in several processes at once; a context, because those have to be ended."""

    def __init__(self, jobs: int) -> None:
        """Take how many processes there are to be; they are started with the context."""
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._stack = ExitStack()

    def __enter__(self) -> PoolExecutor:
        """Start the processes: split off from this one where that is safe, which is quickest."""
        self._stack.enter_context(safe_path())
        self._pool = _pool(self._jobs, is_split=can_fork())
        # The first task starts them all; a thread that is started later is not in their way.
        self._pool.submit(os.getpid).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the processes; what they have not begun is not begun."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        self._stack.close()

    def outcomes(
        self, batches: Iterable[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch, in order."""
        incoming = iter(batches)
        waiting: deque[tuple[TrajectoryBatch, Future[tuple[Outcome, ...]]]] = deque()
        while True:
            while len(waiting) < self._jobs * _AHEAD and (batch := next(incoming, None)):
                waiting.append((batch, self._submit(batch, work)))
            if not waiting:
                return
            batch, future = waiting[0]
            try:
                done = future.result()
            except BrokenProcessPool:
                # Whose fault it was is not known: all that was under way is done one by one.
                self._pool = None
                for each, _ in waiting:
                    yield each, _alone(each, work)
                waiting.clear()
            else:
                waiting.popleft()
                yield batch, done

    def _submit(self, batch: TrajectoryBatch, work: Work) -> Future[tuple[Outcome, ...]]:
        if self._pool is None:
            self._pool = _pool(self._jobs)
        try:
            return self._pool.submit(process, batch, work)
        except BrokenProcessPool as error:
            # A process died while nobody waited; that is noticed when this one's turn comes.
            future: Future[tuple[Outcome, ...]] = Future()
            future.set_exception(error)
            return future


def jobs_for(jobs: int | None) -> int:
    """Return how many processes are used: as many as were asked for, or one for each core."""
    if jobs is not None:
        return jobs
    # A container may have been given fewer cores than the machine has; not every system says so.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _pool(jobs: int, *, is_split: bool = False) -> ProcessPoolExecutor:
    context = get_context("fork" if is_split else "spawn")
    return ProcessPoolExecutor(jobs, context, initializer=_serve)


def _serve() -> None:
    """Leave Ctrl-C to the process that hands out the work, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _alone(batch: TrajectoryBatch, work: Work) -> tuple[Outcome, ...]:
    """Process a batch in a process of its own, and if that dies, its trajectories one by one."""
    with _pool(1) as pool:
        try:
            return pool.submit(process, batch, work).result()
        except BrokenProcessPool:
            pass
    if batch.session is not None:
        return (Failed(1, DIED, ""),)
    return tuple(outcome for item in batch.items for outcome in _single(batch, item, work))


def _single(batch: TrajectoryBatch, item: Item, work: Work) -> tuple[Outcome, ...]:
    with _pool(1) as pool:
        try:
            return pool.submit(process, replace(batch, items=(item,)), work).result()
        except BrokenProcessPool:
            return (Failed(item.number, DIED, ""),)
