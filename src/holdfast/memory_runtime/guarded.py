"""A provider behind a guard: it may hang, fail or say too much, and the turn goes on."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import MemoryRefused
from holdfast.memory import plain, softened, without_tags
from holdfast.memory_runtime.lane import Lane, Raised, Returned, Ticket
from holdfast.memory_runtime.offered import name_of, plain_value
from holdfast.memory_runtime.standing import Standing, Troubles, sentence_of
from holdfast.ports.memory import MemoryProvider
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Answer", "Guarded", "Missing"]

_MOST_WAITING = 2_000
"""Jobs that may wait in the background; a service that hangs must not fill the memory."""
_CUT = "\n[{:,} more characters were left out]"


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no answer."""

    reason: str


Answer: TypeAlias = Returned | Missing


class Guarded:
    """One provider with two lanes: one that turns wait for up to a deadline, one in the background.

    While a call that was given up still hangs, no further one is begun on its lane: a service that
    is down costs one thread and one deadline, not one for each turn.
    """

    def __init__(self, provider: MemoryProvider, seconds: float) -> None:
        """Take the provider.

        Args:
            provider: Somebody's code.
            seconds: How long it may take to say its name.
        """
        self.provider = provider
        self.name = name_of(provider, seconds)
        self.troubles = Troubles(Standing(name=self.name))
        self._front = Lane(f"holdfast-memory-{self.name}")
        self._back = Lane(f"holdfast-memory-{self.name}-background")
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
        return self._put(self._front, label, lambda: plain_value(job()))

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

    def standing(self, patience: float) -> Standing:
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
        """Wait for the background; return a sentence about what did not end in time, or nothing.

        What was not begun by then never is: a caller who was told so can hand it in elsewhere.
        """
        end = time.monotonic() + seconds
        is_done = self._back.wait_idle(seconds)
        asked, waits = self._front.running, ""
        is_given_up = asked is not None and asked.is_given_up
        # A call that nobody has begun yet is waited for like one that runs.
        if is_given_up or not self._front.wait_idle(_left(end)):
            asked = self._front.running or asked
            waits = f"{asked.label if asked else 'a call'} still hangs"
        if is_done:
            return f"{self.name}: {waits}" if waits else ""
        running = self._back.running
        dropped = self._back.drop()
        if "shutdown" in dropped and running is not None:
            self._shut_down()
        unmade = [label for label in dropped if label != "shutdown"]
        hangs = f"{running.label} did not end in time" if running is not None else ""
        rest = f"{len(unmade)} more calls were not made ({_listed(unmade)})" if unmade else ""
        said = "; ".join(filter(None, (waits, hangs, rest)))
        return f"{self.name}: {said}" if said else ""

    def _shut_down(self) -> None:
        provider = self.provider
        self._put(
            self._back, "shutdown", lambda: self._noted("shutdown", lambda: provider.shutdown())
        )

    def _put(self, lane: Lane, label: str, job: Callable[[], object]) -> Ticket | Missing:
        try:
            return lane.put(label, job)
        except RuntimeError as error:
            return Missing(self.troubles.has_raised(label, error))

    def _noted(self, label: str, job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001 - a thread's edge; nobody else would see it
            self.troubles.has_raised(label, error)


def _left(end: float) -> float:
    return max(end - time.monotonic(), 0.0)


def _listed(labels: list[str]) -> str:
    counts = {label: labels.count(label) for label in dict.fromkeys(labels)}
    return ", ".join(
        f"{count} times {label}" if count > 1 else label for label, count in counts.items()
    )
