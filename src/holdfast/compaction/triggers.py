"""When compaction is due, when to warn that it soon will be, and when to stop.

Automatic compaction stops when passes no longer gain anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.tokens import Scale
from holdfast.transcript import Role, Summary, newest_user

if TYPE_CHECKING:
    from holdfast.compaction.policy import Policy
    from holdfast.compaction.report import Outcome
    from holdfast.tokens import Load
    from holdfast.transcript import Message

__all__ = [
    "WARN_AT",
    "Preflight",
    "Pressure",
    "Progress",
    "StallCause",
    "advice",
    "due",
    "hygiene_due",
]

WARN_AT = 0.85
"""The share of the threshold from which on the user is warned."""
_FEWEST_FOR_HYGIENE = 4

_ENOUGH = 10
"""A pass must take away at least one part in this many."""
_TRIES = 2
_SUMMARY_SHARE = _FIXED_SHARE = 0.5


def due(load: Load, policy: Policy) -> tuple[str, ...]:
    """Return which of the three budgets the load has reached; nothing means not due."""
    budget = policy.budget
    reached = (
        [] if load.tokens < budget.tokens else [f"{load.tokens:,} of {budget.tokens:,} tokens"]
    )
    others = [each for each in budget.exceeded(load) if not each.endswith("tokens")]
    return (*reached, *others)


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
        if self.warned:
            return self, None
        percent = round(100 * tokens / threshold)
        return Pressure(warned=True), (
            f"Context is {percent}% to compaction ({tokens:,}/{threshold:,} tokens)"
        )


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
        if not self.real or rough < self.rough:
            return rough
        return self.real + (rough - self.rough)


class StallCause(StrEnum):
    """Why passes gain nothing."""

    DENSE_SESSION = "dense session"
    """Nothing is left in the middle that could be folded."""
    POOR_SUMMARY = "poor summary"
    """The summary is as large as what it replaced."""
    HEAVY_REQUEST = "heavy request"
    """The newest user message fills the window, and users' words are never cut."""
    HEAVY_PROMPT = "heavy system prompt"
    """The system prompt fills the window."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The passes in a row that saved less than a tenth, and why."""

    poor: tuple[StallCause, ...] = ()
    tokens: int = 0
    """What was left after the newest of them."""

    def after(self, outcome: Outcome, scale: Scale | None = None) -> Progress:
        """Return the progress after one more automatic pass, weighed as that pass was."""
        report = outcome.report
        saved = report.tokens_before - report.tokens_after
        if saved > 0 and saved * _ENOUGH >= report.tokens_before:
            return Progress()
        cause = _cause(outcome, scale or Scale())
        return Progress((*self.poor, cause)[-_TRIES:], report.tokens_after)

    @property
    def blocked(self) -> StallCause | None:
        """Return why automatic compaction has stopped; None while it goes on."""
        return self.poor[-1] if len(self.poor) >= _TRIES else None

    def at(self, tokens: int) -> Progress:
        """Return the progress for a window of this size.

        What was true of one window need not be true of a larger one: once it has grown by a
        tenth, there is something new to fold, and passes are tried again.
        """
        grown = self.blocked and tokens * _ENOUGH >= self.tokens * (_ENOUGH + 1)
        return Progress() if grown else self


def _cause(outcome: Outcome, scale: Scale) -> StallCause:
    """Return why a pass gained little: what cannot be folded comes before how well it was."""
    report, transcript = outcome.report, outcome.transcript
    prompt = scale.total(each for each in transcript if each.role is Role.SYSTEM)
    newest = newest_user(transcript)
    request = 0 if newest is None else scale.weigh(_without_summary(transcript[newest]))
    if prompt + request >= _FIXED_SHARE * report.tokens_after > 0:
        return StallCause.HEAVY_REQUEST if request >= prompt else StallCause.HEAVY_PROMPT
    saved = report.tokens_before - report.tokens_after
    written = report.summary.tokens if report.summary else 0
    heavy = written > 0 and written >= _SUMMARY_SHARE * (saved + written)
    return StallCause.POOR_SUMMARY if heavy else StallCause.DENSE_SESSION


def _without_summary(message: Message) -> Message:
    said = tuple(part for part in message.parts if not isinstance(part, Summary))
    return replace(message, parts=said)


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
    StallCause.HEAVY_PROMPT: (
        "because the system prompt fills the window. Shorten it, with what memory and project "
        "files add to it, or use a model with a larger window."
    ),
}
