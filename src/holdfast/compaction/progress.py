"""Proof of progress: automatic compaction stops when passes no longer gain anything."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.compaction.report import Outcome

__all__ = ["Cause", "Progress", "advice"]

_ENOUGH = 10
"""A pass must take away at least one part in this many."""
_TRIES = 2
_SUMMARY_SHARE = 0.5


class Cause(StrEnum):
    """Why passes gain nothing."""

    DENSE_SESSION = "dense session"
    """Nothing is left in the middle that could be folded."""
    POOR_SUMMARY = "poor summary"
    """The summary is as large as what it replaced."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The passes in a row that saved less than a tenth, and why."""

    poor: tuple[Cause, ...] = ()
    tokens: int = 0
    """What was left after the newest of them."""

    def after(self, outcome: Outcome) -> Progress:
        """Return the progress after one more automatic pass."""
        report = outcome.report
        saved = report.tokens_before - report.tokens_after
        if saved > 0 and saved * _ENOUGH >= report.tokens_before:
            return Progress()
        written = report.summary.tokens if report.summary else 0
        heavy = written > 0 and written >= _SUMMARY_SHARE * (saved + written)
        cause = Cause.POOR_SUMMARY if heavy else Cause.DENSE_SESSION
        return Progress((*self.poor, cause)[-_TRIES:], report.tokens_after)

    @property
    def blocked(self) -> Cause | None:
        """Return why automatic compaction has stopped; None while it goes on."""
        return self.poor[-1] if len(self.poor) >= _TRIES else None

    def at(self, tokens: int) -> Progress:
        """Return the progress for a window of this size.

        What was true of one window need not be true of a larger one: once it has grown by a
        tenth, there is something new to fold, and passes are tried again.
        """
        grown = self.blocked and tokens * _ENOUGH >= self.tokens * (_ENOUGH + 1)
        return Progress() if grown else self


def advice(cause: Cause) -> str:
    """Return what a user can do about it, as one sentence."""
    return f"Automatic compaction has stopped: two passes saved less than 10 %, {_ADVICE[cause]}"


_ADVICE = {
    Cause.DENSE_SESSION: (
        "because little is left to fold. Start fresh, branch, or compress with a focus."
    ),
    Cause.POOR_SUMMARY: (
        "because the summary is as large as what it replaced. Choose a better summary model."
    ),
}
