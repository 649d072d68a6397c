"""Which model writes a summary, and what happens when it does not.

The rules are one generator, `answer_with_fallback`: it decides, and yields what it wants as values.
`SummarizerFallback` holds the little that outlives a call and carries the effects out, blocking or
awaiting.

- A separate summary model fails, in any way but its credential: the main model is asked at once.
  The session does not ask the failed model again, and `notes` says so.
- The last model fails: automatic asks are declined for 30 s after an unreadable answer, 600 s when
  nothing is configured, 60 s otherwise. A longer `Retry-After` extends that.
- The last model asks to come back within 5 s: it waits that long and retries once.
- HTTP 401 or 403: `Declined(AUTH)` at once. Asking another model would hide a broken credential;
  a conversation that cannot be sent as it is gets the record that needs no model.
- An empty answer is a failure like any other.
- A refusal, an echo of the request or more words than the turns had: one repair attempt, then a
  failure. Any other answer is used, whatever its form.
- A cooldown is running: automatic asks are declined without a call, a manual one is carried out.
- A model that nobody chose for this, such as the conversation's own, writes no record even after
  the repair: it is not asked again, and `notes` says so once.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.deadline import (
    Hung,
    Raised,
    Returned,
    SelfCancelled,
    await_within,
    call_within,
    sentence_of,
)
from holdfast.errors import (
    ConfigError,
    MissingExtra,
    SummarizerDenied,
    SummarizerMisread,
    SummarizerMissing,
    SummarizerUnavailable,
)
from holdfast.ports import Summarizer
from holdfast.summary import Answer, Ask, Declined, Failure, Written, problem, repair
from holdfast.wire.markers import read as read_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from holdfast.deadline import Ending
    from holdfast.ports import Clock

_SECONDS: Final = {
    # A garbled answer is mostly one bad connection; the next one is a different connection.
    Failure.MISREAD: 30.0,
    # Nothing changes until a person configures a provider.
    Failure.UNCONFIGURED: 600.0,
}
_OTHER_SECONDS: Final = 60.0

_REASON_LENGTH = 300
LONGEST_RETRY_AFTER = 5.0
"""Seconds of `Retry-After` that are waited out on the spot; a turn can bear that once."""
_NOBODY = Declined(
    Failure.UNCONFIGURED,
    "no summarizer is configured; set a model, or keep the record that needs none",
)


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A pause that ends at a moment of the clock, and why it was called."""

    until: float = float("-inf")
    reason: str = ""
    seconds: float = 0.0
    """How long it lasts from beginning to end."""

    def left(self, now: float) -> float:
        """Return the seconds that remain, 0.0 when the pause is over."""
        return max(0.0, self.until - now)

    def refusal(self, now: float) -> Declined | None:
        """Return what an automatic ask is told during the pause, or None after it."""
        left = self.left(now)
        if left == 0.0:
            return None
        # The whole pause, not what is left of it: a sentence that counts down is news every time,
        # and old when it is read in a status.
        reason = (
            f"the summarizer failed recently ({self.reason}); it is asked again "
            f"{self.seconds:.0f} s after that, or at once by a manual compress"
        )
        return Declined(Failure.COOLDOWN, reason, retry_after=left)


READY: Final = Cooldown()
"""No pause."""


def cooldown_after(declined: Declined, now: float) -> Cooldown:
    """Return the pause that follows the failure of the last model in the chain.

    The provider's own `Retry-After` counts when it asks for more. A refused credential has no
    pause: the compaction is aborted, and the next try with a repaired credential may work.
    """
    if declined.failure is Failure.AUTH:
        return READY
    pause = max(_SECONDS.get(declined.failure, _OTHER_SECONDS), declined.retry_after or 0.0)
    return Cooldown(now + pause, declined.reason, pause)


def call(summarizer: Summarizer, ask: Ask, timeout: float) -> Answer:
    """Return what the summarizer wrote, or why there is nothing, within `timeout` seconds."""
    ending = call_within(timeout, lambda: summarizer.write(ask), name=f"holdfast-{summarizer.name}")
    return _judge(summarizer, ending)


async def acall(summarizer: Summarizer, ask: Ask, timeout: float) -> Answer:
    """Return what `call` returns, without blocking the event loop."""
    return _judge(summarizer, await await_within(timeout, lambda: summarizer.awrite(ask)))


def diagnose(summarizer: Summarizer, error: Exception) -> Declined:
    """Return the failure that an exception stands for.

    What no adapter translated is taken for a passing fault: another try may work, and a pause
    follows if it does not.
    """
    said = sentence_of(error) or type(error).__name__
    if len(said) > _REASON_LENGTH:
        # A provider may quote the request in its error; a report needs its beginning only.
        said = said[: _REASON_LENGTH - 1] + "…"
    match error:
        case SummarizerDenied():
            reason = (
                f"{summarizer.name} refused the credential: {said}; check the API key or the "
                "login of this provider, then compress again"
            )
            return Declined(Failure.AUTH, reason)
        case SummarizerMissing():
            return Declined(Failure.MISSING, f"{summarizer.name} was not found: {said}")
        case SummarizerMisread():
            return Declined(Failure.MISREAD, f"{summarizer.name} could not be read: {said}")
        case SummarizerUnavailable(retry_after=retry_after):
            return Declined(
                Failure.TRANSIENT, f"{summarizer.name} is unavailable: {said}", retry_after
            )
        case ConfigError() | MissingExtra():
            return Declined(Failure.UNCONFIGURED, f"{summarizer.name} cannot be used: {said}")
        case _:
            reason = f"{summarizer.name} failed: {type(error).__name__}: {said}"
            return Declined(Failure.TRANSIENT, reason)


def _judge(summarizer: Summarizer, ending: Ending) -> Answer:
    match ending:
        case Hung(reason):
            return Declined(Failure.TRANSIENT, f"{summarizer.name} is unavailable: {reason}")
        case Raised(SelfCancelled()):
            return Declined(Failure.TRANSIENT, f"{summarizer.name} cancelled its own call")
        case Raised(Exception() as error):
            return diagnose(summarizer, error)
        case Raised(error):
            # A wish to end the program is not a failure of the summarizer.
            raise error
        case Returned(str() as text) if text.strip():
            # A summary in its frame tells the reader to go on; only what it tells counts.
            framed = read_frame(text)
            return Written(framed.summary.text if framed else text, summarizer.name)
        case Returned(None | str()):
            return Declined(Failure.EMPTY, f"{summarizer.name} returned an empty answer")
        case Returned(value):
            # The protocol promises text; a caller's own function may not keep the promise.
            kind = type(value).__name__
            return Declined(Failure.MISREAD, f"{summarizer.name} returned {kind} instead of text")


@dataclass(frozen=True, slots=True)
class AskSummarizer:
    """Ask this summarizer; the reply is its answer."""

    summarizer: Summarizer
    ask: Ask


@dataclass(frozen=True, slots=True)
class Wait:
    """Let this many seconds pass; the reply is None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Dropped:
    """Remember that this summarizer failed and is not asked again; the reply is None."""

    summarizer: Summarizer
    declined: Declined
    successor: Summarizer


Effect: TypeAlias = AskSummarizer | Wait | Dropped


def answer_with_fallback(
    ask: Ask, summarizers: tuple[Summarizer, ...]
) -> Generator[Effect, Answer | None, Answer]:
    """Answer an ask with the first summarizer that can, as a generator of effects.

    Args:
        ask: What is to be written.
        summarizers: The models that may be asked, in order; the last has no successor.
    """
    if not summarizers:
        return _NOBODY
    for summarizer, successor in pairwise(summarizers):
        answer = yield from _attempt(summarizer, ask)
        if isinstance(answer, Written) or answer.failure is Failure.AUTH:
            return answer
        yield Dropped(summarizer, answer, successor)
    last = summarizers[-1]
    answer = yield from _attempt(last, ask)
    if isinstance(answer, Written) or answer.retry_after is None:
        return answer
    if answer.retry_after <= LONGEST_RETRY_AFTER:
        yield Wait(answer.retry_after)
        answer = yield from _attempt(last, ask)
    return answer


def _attempt(summarizer: Summarizer, ask: Ask) -> Generator[Effect, Answer | None, Answer]:
    """Ask once, and once more for a repair when what came back is not a record."""
    answer = yield from _asked(summarizer, ask)
    if isinstance(answer, Declined):
        return answer
    flaw = problem(answer.text, ask.prompt)
    if flaw is None:
        return answer
    answer = yield from _asked(summarizer, repair(ask, flaw))
    if isinstance(answer, Declined):
        return answer
    flaw = problem(answer.text, ask.prompt)
    if flaw is None:
        return answer
    return Declined(Failure.MALFORMED, f"{summarizer.name} wrote no record: {flaw}")


def _asked(summarizer: Summarizer, ask: Ask) -> Generator[Effect, Answer | None, Answer]:
    answer = yield AskSummarizer(summarizer, ask)
    if answer is None:
        raise TypeError("an AskSummarizer is replied to with an Answer")
    return answer


class SummarizerFallback:
    """The summarizers of one session: a separate summary model if there is one, then the main.

    It remembers for the session which model failed and until when the last one is left alone.
    """

    def __init__(
        self,
        main: Summarizer | None,
        auxiliary: Summarizer | None = None,
        *,
        clock: Clock,
        timeout: float = 120.0,
        main_of: Callable[[str], Summarizer | None] | None = None,
        is_chosen: bool = True,
    ) -> None:
        """Line the summarizers up.

        Args:
            main: The model of the conversation, asked when the auxiliary one fails.
            auxiliary: A separate, mostly cheaper summary model, asked first.
            clock: Measures cooldowns.
            timeout: Seconds after which a call counts as failed.
            main_of: Returns the main one for another model, when the conversation switches.
            is_chosen: Whether somebody chose the main one to write records; one that happens to be
                there is given up once it wrote none.
        """
        # The comparison also refuses a value that is not a number.
        if not 0 < timeout <= 86_400:
            raise ConfigError(
                f"auxiliary.compression.timeout is {timeout}; allowed are seconds above 0 and "
                "up to a day"
            )
        line = (auxiliary, None if main is auxiliary else main)
        self._line = self._summarizers = tuple(each for each in line if each is not None)
        self._auxiliary = auxiliary
        self._main_of = main_of
        self._is_chosen = is_chosen
        self._clock = clock
        self._timeout = timeout
        self._cooldown: Cooldown = READY
        self._notes: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the user should know about this session's models, oldest first."""
        return self._notes

    @property
    def names(self) -> tuple[str, ...]:
        """Return the models that may still be asked, in order; none once all were given up."""
        return tuple(each.name for each in self._summarizers)

    def switch_main(self, model: str) -> None:
        """Go on with another main model: what was remembered of failures is forgotten."""
        line = (self._auxiliary, self._main_of(model)) if self._main_of else self._line
        self._summarizers = tuple(each for each in line if each is not None)
        self._cooldown, self._notes = READY, ()

    @property
    def window(self) -> int | None:
        """Return the smallest window that is known among the models that may still be asked.

        A request sized by it fits whichever of them answers in the end.
        """
        known = [each.window for each in self._summarizers if each.window is not None]
        return min(known, default=None)

    @property
    def cooldown(self) -> float:
        """Return for how many seconds automatic asks are still declined."""
        return self._cooldown.left(self._clock.now())

    def answer(self, ask: Ask, *, manual: bool) -> Answer:
        """Answer the ask, waiting for the model; `manual` ignores the cooldown."""
        if refusal := self._refusal(manual=manual):
            return refusal
        flow = answer_with_fallback(ask, self._summarizers)
        reply: Answer | None = None
        try:
            while True:
                effect = flow.send(reply)
                match effect:
                    case AskSummarizer(summarizer, question):
                        reply = call(summarizer, question, self._timeout)
                    case Wait(seconds):
                        time.sleep(seconds)
                        reply = None
                    case Dropped() as dropped:
                        self._drop(dropped)
                        reply = None
                    case _:
                        assert_never(effect)
        except StopIteration as ended:
            return self._settle(ended.value)

    async def aanswer(self, ask: Ask, *, manual: bool) -> Answer:
        """Answer the ask without blocking the event loop; otherwise as `answer`."""
        import asyncio

        if refusal := self._refusal(manual=manual):
            return refusal
        flow = answer_with_fallback(ask, self._summarizers)
        reply: Answer | None = None
        try:
            while True:
                effect = flow.send(reply)
                match effect:
                    case AskSummarizer(summarizer, question):
                        reply = await acall(summarizer, question, self._timeout)
                    case Wait(seconds):
                        await asyncio.sleep(seconds)
                        reply = None
                    case Dropped() as dropped:
                        self._drop(dropped)
                        reply = None
                    case _:
                        assert_never(effect)
        except StopIteration as ended:
            return self._settle(ended.value)

    def _refusal(self, *, manual: bool) -> Declined | None:
        return None if manual else self._cooldown.refusal(self._clock.now())

    def _drop(self, dropped: Dropped) -> None:
        # Two compactions may fail on the same model at once; one of them says so.
        remaining = tuple(each for each in self._summarizers if each is not dropped.summarizer)
        if len(remaining) == len(self._summarizers):
            return
        self._summarizers = remaining
        self._notes += (
            f"the summary model {dropped.summarizer.name} failed ({dropped.declined.reason}); "
            f"{dropped.successor.name} writes the summaries of this session from now on",
        )

    def _settle(self, answer: Answer) -> Answer:
        if isinstance(answer, Written):
            self._cooldown = READY
            return answer
        last = self._summarizers[-1] if self._summarizers else None
        happens_to_be_there = last is not self._auxiliary and not self._is_chosen
        if answer.failure is Failure.MALFORMED and last is not None and happens_to_be_there:
            self._summarizers = ()
            self._notes += (
                f"{last.name} cannot write a record ({answer.reason}); it is not asked again, and "
                "the records of this session are made without a model",
            )
            return answer
        now = self._clock.now()
        self._cooldown = cooldown_after(answer, now)
        left = self._cooldown.left(now)
        return Declined(answer.failure, answer.reason, left or None)
