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
from dataclasses import replace
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Protocol

from holdfast.trajectories.work import Failed, Outcome, Work, process

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.process import BaseProcess

    from holdfast.trajectories.items import Batch, Item

__all__ = ["DIED", "Executor", "HereExecutor", "PoolExecutor", "jobs_for"]

_AHEAD = 2
"""Batches that wait for each process, so that none runs dry."""
DIED = "the process that took it ended; it may need more memory than there is"


class Executor(Protocol):
    """Processes batches somewhere."""

    def outcomes(
        self, batches: Iterable[Batch], work: Work
    ) -> Iterator[tuple[Batch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch, in order, taking from the input as room is made."""
        ...


class HereExecutor:
    """Processes batches in this process."""

    def outcomes(
        self, batches: Iterable[Batch], work: Work
    ) -> Iterator[tuple[Batch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch."""
        for batch in batches:
            yield batch, process(batch, work)


class PoolExecutor:
    """Processes batches in several processes at once."""

    def __init__(self, jobs: int) -> None:
        """Take how many processes there are to be; they are started with the first batch."""
        self._jobs = jobs

    def outcomes(
        self, batches: Iterable[Batch], work: Work
    ) -> Iterator[tuple[Batch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch, in order."""
        incoming = iter(batches)
        waiting: deque[tuple[Batch, Future[tuple[Outcome, ...]]]] = deque()
        pool = _pool(self._jobs)
        try:
            while True:
                while len(waiting) < self._jobs * _AHEAD and (batch := next(incoming, None)):
                    waiting.append((batch, pool.submit(process, batch, work)))
                if not waiting:
                    return
                batch, future = waiting[0]
                try:
                    done = future.result()
                except BrokenProcessPool:
                    # Whose fault it was is not known: all that was under way is done one by one.
                    pool.shutdown(wait=False)
                    for each, _ in waiting:
                        yield each, _alone(each, work)
                    waiting.clear()
                    pool = _pool(self._jobs)
                    continue
                waiting.popleft()
                yield batch, done
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def jobs_for(jobs: int | None) -> int:
    """Return how many processes are used: as many as were asked for, or one for each core."""
    if jobs is not None:
        return jobs
    # A container may have been given fewer cores than the machine has; not every system says so.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Started anew rather than split off: this process may have threads by now.
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_serve)


def _serve() -> None:
    """Leave Ctrl-C to the process that hands out the work, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := parent_process()) is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _alone(batch: Batch, work: Work) -> tuple[Outcome, ...]:
    """Process a batch in a process of its own, and if that dies, its trajectories one by one."""
    with _pool(1) as pool:
        try:
            return pool.submit(process, batch, work).result()
        except BrokenProcessPool:
            pass
    if batch.session is not None:
        return (Failed(1, DIED, ""),)
    return tuple(outcome for item in batch.items for outcome in _single(batch, item, work))


def _single(batch: Batch, item: Item, work: Work) -> tuple[Outcome, ...]:
    with _pool(1) as pool:
        try:
            return pool.submit(process, replace(batch, items=(item,)), work).result()
        except BrokenProcessPool:
            return (Failed(item.number, DIED, ""),)
