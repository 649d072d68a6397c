"""A memory provider behind deadlines: it may hang, fail or say too much, and the turn goes on.

Its calls run beside the turn, one after the other, in the order in which they came.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from holdfast.deadline import Raised, Returned, call_within, run_on_thread, sentence_of
from holdfast.errors import MemoryRefused
from holdfast.memory import plain, softened, without_tags
from holdfast.ports.memory import MemoryProvider
from holdfast.wire.json_text import encodable

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderStatus:
    """One provider since the session began."""

    name: str
    trouble: str = ""
    """The last thing that went wrong, as a sentence."""
    late: int = 0
    """How often its deadline passed."""
    raised: int = 0
    skipped: int = 0
    """How often it was not asked, because an earlier call still hung or too much waited."""
    left_out: int = 0
    """Suspicious lines of its texts that were replaced by a note."""
    waiting: int = 0
    """Calls in the background that have not ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStatus:
    """How memory is doing."""

    builtin: ProviderStatus
    external: ProviderStatus | None = None

    @property
    def provider(self) -> str:
        """Return the name of the external provider; "" where there is none."""
        return self.external.name if self.external else ""

    @property
    def trouble(self) -> str:
        """Return the last thing that went wrong, the external provider's first."""
        return (self.external.trouble if self.external else "") or self.builtin.trouble

    @property
    def late(self) -> int:
        """Return how often a deadline passed."""
        return self.builtin.late + (self.external.late if self.external else 0)

    @property
    def waiting(self) -> int:
        """Return how many calls in the background have not ended."""
        return self.builtin.waiting + (self.external.waiting if self.external else 0)


@dataclass(slots=True)
class ProviderTroubles:
    """What went wrong with one provider; several threads write it down.

    Each kind of trouble is logged once: a service that is down is down at every turn.
    """

    standing: ProviderStatus
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _logged: set[str] = field(default_factory=set[str])

    def was_late(self, label: str) -> str:
        """Note that a deadline passed; return the sentence about it, as the others do."""
        with self._lock:
            self.standing = replace(self.standing, late=self.standing.late + 1)
        return self._note(
            label, f"{label} did not answer within its deadline and was not waited for"
        )

    def has_raised(self, label: str, error: BaseException) -> str:
        """Note that a call failed."""
        with self._lock:
            self.standing = replace(self.standing, raised=self.standing.raised + 1)
        kind = f"{label} {type(error).__name__}"
        said = sentence_of(error)[:300]
        words = f"{type(error).__name__}: {said}" if said else type(error).__name__
        return self._note(kind, f"{label} failed: {words}")

    def was_skipped(self, label: str, reason: str) -> str:
        """Note that the provider was not asked."""
        with self._lock:
            self.standing = replace(self.standing, skipped=self.standing.skipped + 1)
        return self._note(f"skipped {label}", f"{label} was left out: {reason}")

    def was_screened(self, label: str, lines: int) -> str:
        """Note that a text had suspicious lines."""
        with self._lock:
            self.standing = replace(self.standing, left_out=self.standing.left_out + lines)
        plural = "s" if lines > 1 else ""
        words = f"{lines} suspicious line{plural} of {label} left out"
        return self._note(f"screened {label}", words)

    def was_refused(self, label: str, reason: str) -> str:
        """Note that something of the provider's is not used."""
        return self._note(f"refused {label}", f"{label} is not used: {reason}")

    def was_cut(self, label: str, size: int, kept: int) -> str:
        """Note that a text was too long."""
        words = f"{label} has {size:,} characters; {kept:,} are used"
        return self._note(f"cut {label}", words)

    def _note(self, kind: str, words: str) -> str:
        with self._lock:
            self.standing = replace(self.standing, trouble=words)
            is_first = kind not in self._logged
            self._logged.add(kind)
        level = logging.WARNING if is_first else logging.DEBUG
        _log.log(level, "memory provider %s: %s", self.standing.name, words)
        return words


_LONGEST_NAME = 60
_MOST_WAITING = 2_000
"""Jobs that may wait in the background; a service that hangs must not fill the memory."""
_CUT = "\n[{:,} more characters were left out]"


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


class SerialExecutor:
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
                try:
                    run_on_thread(self._work, name=self._name)
                except RuntimeError:
                    self._jobs.clear()
                    raise
                self._has_thread = True
        return ticket

    def give_up(self, ticket: Ticket) -> None:
        """Stop waiting for a job: it is not begun any more; what hangs now blocks the others."""
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

    def _work(self) -> None:
        while True:
            with self._changed:
                ticket = self._current = self._jobs.popleft() if self._jobs else None
                if ticket is None:
                    # The thread ends under the same lock.
                    self._has_thread = False
                    self._changed.notify_all()
                    return
                ticket.since = time.monotonic()
            ticket.run()


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no answer."""

    reason: str


Answer: TypeAlias = Returned | Missing


class TimeoutProvider:
    """One provider with two executors: one that turns wait for, one in the background.

    While a call that was given up still hangs, no further one is begun there: a service that is
    down costs one thread and one deadline, not one for each turn.
    """

    def __init__(self, provider: MemoryProvider, seconds: float) -> None:
        """Take the provider.

        Args:
            seconds: How long it may take to say its name.
        """
        self.provider = provider
        self.name = _name_of(provider, seconds)
        self.troubles = ProviderTroubles(ProviderStatus(name=self.name))
        self._front = SerialExecutor(f"holdfast-memory-{self.name}")
        self._back = SerialExecutor(f"holdfast-memory-{self.name}-background")
        self._is_closed = False

    def takes(self, hook: str) -> bool:
        """Say whether the provider has this hook: for one that was left as it is, none is asked."""
        own = getattr(type(self.provider), hook, None)
        return own is not None and own is not getattr(MemoryProvider, hook)

    def begin(self, label: str, job: Callable[[], object]) -> Ticket | Missing:
        """Begin a job that somebody may wait for, unless the provider cannot be asked now."""
        if self._is_closed:
            return Missing(f"memory {self.name} is closed")
        running = self._front.running
        if running is not None and running.is_given_up:
            reason = f"an earlier {running.label} still hangs"
            return Missing(self.troubles.was_skipped(label, reason))
        return self._put(self._front, label, lambda: _plain_text(job()))

    def collect(self, ticket: Ticket | Missing, seconds: float) -> Answer:
        """Return what a job came to within the time; what went wrong is noted."""
        if isinstance(ticket, Missing):
            return ticket
        match ticket.wait(seconds):
            case Returned() as answer:
                return answer
            case Raised(MemoryRefused() as error):
                # The provider did its work, and said no.
                return Missing(sentence_of(error) or "it was refused")
            case Raised(error):
                return Missing(self.troubles.has_raised(ticket.label, error))
            case None:
                self._front.give_up(ticket)
                return Missing(self.troubles.was_late(ticket.label))

    def ask(self, label: str, job: Callable[[], object], seconds: float) -> Answer:
        """Do a job within the time."""
        return self.collect(self.begin(label, job), seconds)

    def tell(self, label: str, job: Callable[[], object]) -> None:
        """Do a job before the next one that somebody waits for, and do not wait for it."""
        self.begin(label, lambda: self._noted(label, job))

    def later(self, label: str, job: Callable[[], object]) -> None:
        """Do a job in the background, after all that came before it."""
        if self._is_closed:
            return
        if self._back.waiting >= _MOST_WAITING:
            self.troubles.was_skipped(label, f"{_MOST_WAITING:,} calls wait already")
            return
        self._put(self._back, label, lambda: self._noted(label, job))

    def text(self, label: str, answer: Answer, most: int) -> str:
        """Return a text of the provider as it may be shown: cut to size, screened, sendable."""
        if isinstance(answer, Missing):
            return ""
        value = answer.value
        if not isinstance(value, str):
            error = TypeError(f"it returned {type(value).__name__} and not a text")
            self.troubles.has_raised(label, error)
            return ""
        shown, found = softened(without_tags(plain(encodable(value[:most]))).strip())
        if found:
            self.troubles.was_screened(label, len(found))
        if len(value) > most:
            self.troubles.was_cut(label, len(value), most)
            shown += _CUT.format(len(value) - most)
        return shown

    def standing(self, patience: float) -> ProviderStatus:
        """Return how the provider is doing; a background call older than the patience is said."""
        now = replace(self.troubles.standing, waiting=self._back.waiting)
        running = self._back.running
        if running is None:
            return now
        age = time.monotonic() - running.since
        if age <= patience:
            return now
        behind = f"; {now.waiting - 1} wait behind it" if now.waiting > 1 else ""
        return replace(now, trouble=f"{running.label} has been running for {age:.0f} s{behind}")

    def close(self) -> None:
        """Take nothing more, and shut the provider down after what waits."""
        if not self._is_closed:
            self._is_closed = True
            self._shut_down()

    def leftovers(self, seconds: float) -> str:
        """Wait for the background; returns a sentence about what did not end in time, or "".

        What was not begun by then never is: a caller who was told so can hand it in elsewhere.
        """
        end = time.monotonic() + seconds
        is_done = self._back.wait_idle(seconds)
        asked, waits = self._front.running, ""
        is_given_up = asked is not None and asked.is_given_up
        # A call that nobody has begun yet is waited for like one that runs.
        if is_given_up or not self._front.wait_idle(end - time.monotonic()):
            asked = self._front.running or asked
            waits = f"{asked.label if asked else 'a call'} still hangs"
        if is_done:
            return f"{self.name}: {waits}" if waits else ""
        running = self._back.running
        dropped = self._back.drop()
        if "shutdown" in dropped and running is not None:
            self._shut_down()
        unmade = Counter(label for label in dropped if label != "shutdown")
        hangs = f"{running.label} did not end in time" if running is not None else ""
        counts = (
            f"{count} times {label}" if count > 1 else label for label, count in unmade.items()
        )
        rest = f"{unmade.total()} more calls were not made ({', '.join(counts)})" if unmade else ""
        said = "; ".join(filter(None, (waits, hangs, rest)))
        return f"{self.name}: {said}" if said else ""

    def _shut_down(self) -> None:
        provider = self.provider
        self._put(
            self._back, "shutdown", lambda: self._noted("shutdown", lambda: provider.shutdown())
        )

    def _put(
        self, executor: SerialExecutor, label: str, job: Callable[[], object]
    ) -> Ticket | Missing:
        try:
            return executor.put(label, job)
        except RuntimeError as error:
            return Missing(self.troubles.has_raised(label, error))

    def _noted(self, label: str, job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - a thread's edge; nobody else would see it
            self.troubles.has_raised(label, error)


def _name_of(provider: MemoryProvider, seconds: float) -> str:
    """Return what a provider calls itself; the name of its class, where it does not say in time."""
    kind = type(provider).__name__
    match call_within(seconds, lambda: provider.name, name=f"holdfast-memory-{kind}-name"):
        case Returned(str() as name):
            said = " ".join(encodable(plain(str.__str__(name))).split())
            return said[:_LONGEST_NAME] or kind
        case _:
            return kind


def _plain_text(value: object) -> object:
    """Return what a provider returned; a text of its own kind as an ordinary one.

    Called on its thread: a kind of text may hang or fail in everything that is done to it.
    """
    return str.__str__(value) if isinstance(value, str) else value
