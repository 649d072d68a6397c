"""Jobs on one thread beside the turn, one after the other, in the order in which they came."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from holdfast.deadline import Raised, Returned, run_on_thread

__all__ = ["Lane", "Running", "Ticket"]


@dataclass(frozen=True, slots=True)
class Running:
    """The job under way."""

    label: str
    since: float
    """On the monotonic clock, in seconds."""
    is_given_up: bool


class Ticket:
    """A job that was handed in, for whoever waits for it."""

    def __init__(self, label: str, job: Callable[[], object]) -> None:
        """Name the job for reports."""
        self.label = label
        self.job = job
        self.since = 0.0
        self.is_given_up = False
        self._ended = threading.Event()
        self._outcome: Returned | Raised | None = None

    def wait(self, seconds: float) -> Returned | Raised | None:
        """Return how the job ended, or None when it did not in time."""
        self._ended.wait(max(seconds, 0.0))
        return self._outcome

    def run(self) -> None:
        """Do the job; whatever it raises is kept for whoever waits."""
        try:
            self._outcome = Returned(self.job())
        except BaseException as error:  # noqa: BLE001 - a thread's edge; nobody else would see it
            self._outcome = Raised(error)
        self._ended.set()


class Lane:
    """Does one job at a time; it has a thread only while there are jobs."""

    def __init__(self, name: str) -> None:
        """Begin without a thread."""
        self._name = name
        self._changed = threading.Condition()
        self._jobs: deque[Ticket] = deque()
        self._current: Ticket | None = None
        self._has_thread = False

    def put(self, label: str, job: Callable[[], object]) -> Ticket:
        """Hand a job in; it is done after all that came before it.

        Raises:
            RuntimeError: when the system has no thread to give.
        """
        ticket = Ticket(label, job)
        with self._changed:
            self._jobs.append(ticket)
            # Whether there are jobs does not say it: those of a thread may all have been given up.
            if not self._has_thread:
                self._start()
        return ticket

    def give_up(self, ticket: Ticket) -> None:
        """Stop waiting for a job: it is not begun any more, and what hangs now blocks the lane."""
        with self._changed:
            if ticket in self._jobs:
                self._jobs.remove(ticket)
            if self._current is not None:
                self._current.is_given_up = True

    def drop(self) -> tuple[str, ...]:
        """Take away every job that was not begun; return their labels."""
        with self._changed:
            labels = tuple(ticket.label for ticket in self._jobs)
            self._jobs.clear()
            return labels

    @property
    def running(self) -> Running | None:
        """Return the job under way."""
        with self._changed:
            ticket = self._current
            return Running(ticket.label, ticket.since, ticket.is_given_up) if ticket else None

    @property
    def waiting(self) -> int:
        """Return how many jobs have not ended."""
        with self._changed:
            return len(self._jobs) + (self._current is not None)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until every job has ended; says whether that happened in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._current is None and not self._jobs, max(seconds, 0.0)
            )

    def _start(self) -> None:
        try:
            run_on_thread(self._work, name=self._name)
        except RuntimeError:
            self._jobs.clear()
            raise
        self._has_thread = True

    def _work(self) -> None:
        while (ticket := self._next()) is not None:
            ticket.run()

    def _next(self) -> Ticket | None:
        """Return the next job; without one, the thread ends under the same lock."""
        with self._changed:
            self._current = self._jobs.popleft() if self._jobs else None
            if self._current is None:
                self._has_thread = False
                self._changed.notify_all()
            else:
                self._current.since = time.monotonic()
            return self._current
