"""What a compaction did, as values: outcomes that callers match, and the figures beside them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from holdfast.summary import Audit
    from holdfast.transcript import Transcript

__all__ = [
    "Abandoned",
    "Cuts",
    "Folded",
    "Outcome",
    "Pruned",
    "PrunedCounts",
    "Report",
    "SummaryReport",
    "Unchanged",
]


@dataclass(frozen=True, slots=True)
class PrunedCounts:
    """How often each way of pruning was used."""

    deduplicated: int = 0
    summarised: int = 0
    arguments: int = 0
    media: int = 0
    truncated: int = 0
    """Oversized results of the tail that were cut in the middle."""

    @property
    def any(self) -> bool:
        """Say whether anything was pruned."""
        return any(asdict(self).values())


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """Where the record came from."""

    origin: str
    """`model`, `chunked`, `deterministic`, or `engine` where a plug-in wrote it."""
    model: str = ""
    tokens: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where the cuts fell, as message indices of the input, and why there."""

    head: int = 0
    tail: int = 0
    kept: tuple[int, ...] = ()
    """Messages between the cuts that stay word for word: the task, pins, open calls."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one pass."""

    tokens_before: int = 0
    tokens_after: int = 0
    messages_before: int = 0
    messages_after: int = 0
    head: int = 0
    folded: int = 0
    tail: int = 0
    cuts: Cuts = field(default_factory=Cuts)
    pruned: PrunedCounts = field(default_factory=PrunedCounts)
    summary: SummaryReport | None = None
    audit: Audit | None = None
    warnings: tuple[str, ...] = ()

    @property
    def saved(self) -> float:
        """Return the share of the weight that the pass took away."""
        if not self.tokens_before:
            return 0.0
        return 1 - self.tokens_after / self.tokens_before


@dataclass(frozen=True, slots=True)
class Folded:
    """A summary stands where the middle was."""

    transcript: Transcript
    report: Report


@dataclass(frozen=True, slots=True)
class Pruned:
    """Shortening stale tool output was enough; no summary was written."""

    transcript: Transcript
    report: Report


@dataclass(frozen=True, slots=True)
class Unchanged:
    """There was nothing to do, or doing it would have gained nothing."""

    transcript: Transcript
    report: Report
    reason: str


@dataclass(frozen=True, slots=True)
class Abandoned:
    """It was worth doing and could not be done; the transcript is as it was."""

    transcript: Transcript
    report: Report
    reason: str


Outcome: TypeAlias = Folded | Pruned | Unchanged | Abandoned
