"""When compaction is due, when to warn that it soon will be, and when to stop.

Automatic compaction stops when passes no longer gain anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.tokens import Scale
from holdfast.transcript import Role, Summary, newest_user

if TYPE_CHECKING:
    from holdfast.compaction.policy import Policy
    from holdfast.compaction.report import Outcome
    from holdfast.tokens import Load

WARN_AT = 0.85
"""The share of the threshold from which on the user is warned."""
_FEWEST_FOR_HYGIENE = 4

_ENOUGH = 10
"""A pass must take away at least one part in this many."""
_TRIES = 2
_SUMMARY_SHARE = _FIXED_SHARE = 0.5
_FULL = 0.75
"""The share of its room that a window fills when it is due again in a step or two."""
_APART = 2.0
"""How much larger one of two requests is that tell what does not grow."""
_WORTH_KNOWING = 256
"""Tokens below which a difference may be chance."""
_FLATTEST, _STEEPEST = 0.3, 4.0
"""What a token of an estimate may really be."""


def due(load: Load, policy: Policy) -> tuple[str, ...]:
    """Return which of the three budgets the load has reached; nothing means not due."""
    budget = policy.budget
    reached = f"{load.tokens:,} of {budget.tokens:,} tokens"
    others = budget.exceeded(replace(load, tokens=0))
    return (reached, *others) if load.tokens >= budget.tokens else others


def hygiene_due(load: Load, messages: int, policy: Policy) -> bool:
    """Say whether a session that grew between turns is compacted before an agent sees it."""
    return messages >= _FEWEST_FOR_HYGIENE and load.tokens >= policy.hygiene_tokens


@dataclass(frozen=True, slots=True)
class Pressure:
    """Warns once on the way to the threshold, and again only after usage fell below."""

    warned: bool = False

    def read(self, tokens: int, threshold: int) -> tuple[Pressure, str | None]:
        """Return the gauge after this reading, and the warning if it is time for one."""
        if tokens < WARN_AT * threshold:
            return Pressure(), None
        share = f"{round(100 * tokens / threshold)}% to compaction"
        warning = f"Context is {share} ({tokens:,}/{threshold:,} tokens)"
        return Pressure(warned=True), None if self.warned else warning


@dataclass(frozen=True, slots=True)
class Preflight:
    """Defers to the provider: a request that was just proved to fit is not judged by estimate.

    The rough estimate overstates requests with large tool schemas. Once a provider reports that
    the request stayed under the threshold, only growth beyond what it proved counts.
    """

    real: int = 0
    rough: int = 0

    def proved(self, *, real: int, rough: int) -> Preflight:
        """Return what is known after a provider reported the real size of a request."""
        return Preflight(real, rough) if real > 0 else self

    def expected(self, rough: int) -> int:
        """Return the size to judge by: the proven part as reported, the growth as estimated."""
        return self.real + rough - self.rough if self.real and rough >= self.rough else rough


@dataclass(frozen=True, slots=True)
class Overhead:
    """What a provider counts beside what was measured, such as tools that nobody told of.

    Of two requests of different size, it is what does not grow with the messages.
    """

    tokens: int = 0
    low: tuple[int, int] = (0, 0)
    """Of the smallest request since the last compaction, what was reported and what estimated."""
    high: tuple[int, int] = (0, 0)

    def after(self, *, real: int, rough: int) -> Overhead:
        """Return what is known after one more report of real usage."""
        if real <= 0 or rough <= 0:
            return self
        low = (real, rough) if not self.low[1] or rough <= self.low[1] else self.low
        high = (real, rough) if rough >= self.high[1] else self.high
        tokens = self.tokens
        if high[1] - low[1] >= _WORTH_KNOWING and high[1] >= _APART * low[1]:
            slope = (high[0] - low[0]) / (high[1] - low[1])
            tokens = round(low[0] - min(max(slope, _FLATTEST), _STEEPEST) * low[1])
        elif real > _STEEPEST * rough:
            # No estimate is wrong by so much.
            tokens = real - rough
        tokens = min(tokens, round(real - _FLATTEST * rough))
        return Overhead(tokens if tokens >= _WORTH_KNOWING else 0, low, high)


class StallCause(StrEnum):
    """Why passes gain nothing; what each means stands in its `advice`."""

    DENSE_SESSION = "dense session"
    POOR_SUMMARY = "poor summary"
    HEAVY_REQUEST = "heavy request"
    HEAVY_PROMPT = "heavy system prompt"
    HEAVY_TOOLS = "heavy tools"


@dataclass(frozen=True, slots=True)
class Progress:
    """The passes in a row that saved less than a tenth, and why."""

    poor: tuple[StallCause, ...] = ()
    tokens: int = 0
    """What a request weighed after the newest of them."""

    def after(
        self, outcome: Outcome, scale: Scale | None = None, policy: Policy | None = None
    ) -> Progress:
        """Return the progress after one more automatic pass, weighed as that pass was.

        A pass has gained nothing, either, if the overhead leaves the window due again at once.
        """
        report = outcome.report
        saved = report.tokens_before - report.tokens_after
        overhead, room = (policy.overhead, policy.room_tokens) if policy else (0, 0)
        is_due = overhead > 0 and report.tokens_after > _FULL * room
        if saved > 0 and saved * _ENOUGH >= report.tokens_before and not is_due:
            return Progress()
        # What cannot be folded comes before how well it was.
        scale, transcript = scale or Scale(), outcome.transcript
        prompt = scale.total(each for each in transcript if each.role is Role.SYSTEM)
        newest = newest_user(transcript)
        if newest is None:
            request = 0
        else:
            said = [part for part in transcript[newest].parts if not isinstance(part, Summary)]
            request = scale.weigh(structs.replace(transcript[newest], parts=tuple(said)))
        written = report.summary.tokens if report.summary else 0
        cause = StallCause.DENSE_SESSION
        if overhead >= _FIXED_SHARE * (report.tokens_after + overhead) > 0:
            cause = StallCause.HEAVY_TOOLS
        elif prompt + request >= _FIXED_SHARE * report.tokens_after > 0:
            cause = StallCause.HEAVY_REQUEST if request >= prompt else StallCause.HEAVY_PROMPT
        elif written > 0 and written >= _SUMMARY_SHARE * (saved + written):
            cause = StallCause.POOR_SUMMARY
        return Progress((*self.poor, cause)[-_TRIES:], report.tokens_after + overhead)

    @property
    def blocked(self) -> StallCause | None:
        """Return why automatic compaction has stopped; None while it goes on."""
        return self.poor[-1] if len(self.poor) >= _TRIES else None

    def at(self, tokens: int) -> Progress:
        """Return the progress for a request of this size.

        What was true of one window need not be true of a larger one: once it has grown by a
        tenth, there is something new to fold, and passes are tried again.
        """
        grown = self.blocked and tokens * _ENOUGH >= self.tokens * (_ENOUGH + 1)
        return Progress() if grown else self


def advice(cause: StallCause) -> str:
    """Return what a user can do about it, as one sentence."""
    return f"Automatic compaction has stopped: two passes saved less than 10 %, {_ADVICE[cause]}"


_ADVICE = {
    StallCause.DENSE_SESSION: (
        "because little is left to fold. Start fresh, branch, or compress with a focus."
    ),
    StallCause.POOR_SUMMARY: (
        "because the summary is as large as what it replaced. Choose a better summary model."
    ),
    StallCause.HEAVY_REQUEST: (
        "because the newest user message fills the window, and a user's words are never cut. "
        "Give long material as a file to read in pieces, or use a model with a larger window."
    ),
    StallCause.HEAVY_TOOLS: (
        "because the tools that go out with every request fill the window. Use fewer of them, or "
        "a model with a larger window."
    ),
    StallCause.HEAVY_PROMPT: (
        "because the system prompt fills the window. Shorten it, with what memory and project "
        "files add to it, or use a model with a larger window."
    ),
}
