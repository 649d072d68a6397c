"""The report of one pass, as typed values and as plain JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, assert_never

from holdfast.compaction.report import Abandoned, Folded, Pruned, Unchanged

if TYPE_CHECKING:
    from holdfast.compaction.report import Outcome, Report

__all__ = ["CompactionReport"]


@dataclass(frozen=True, slots=True)
class CompactionReport(Mapping[str, object]):
    """What happened, with the figures.

    It reads as a mapping of the stable JSON keys (`report["tokens_after"]`, `dict(report)`), and
    its `figures` and `outcome` are the typed values behind them.
    """

    result: Outcome
    duration_ms: float = 0.0
    notes: tuple[str, ...] = ()
    """What the user should know beyond this pass, such as a summary model that was given up."""

    @property
    def outcome(self) -> str:
        """Return `folded`, `pruned_only`, `unchanged` or `abandoned`."""
        match self.result:
            case Folded():
                return "folded"
            case Pruned():
                return "pruned_only"
            case Unchanged():
                return "unchanged"
            case Abandoned():
                return "abandoned"
            case _:
                assert_never(self.result)

    @property
    def reason(self) -> str:
        """Return why nothing was done; empty when something was."""
        match self.result:
            case Unchanged(reason=reason) | Abandoned(reason=reason):
                return reason
            case _:
                return ""

    @property
    def figures(self) -> Report:
        """Return the typed figures."""
        return self.result.report

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a user should be told."""
        return (*self.figures.warnings, *self.notes)

    @property
    def tokens_before(self) -> int:
        """Return what the transcript weighed."""
        return self.figures.tokens_before

    @property
    def tokens_after(self) -> int:
        """Return what the transcript weighs now."""
        return self.figures.tokens_after

    def as_json(self) -> dict[str, object]:
        """Return the report as plain JSON values, keys in their stable order."""
        figures = self.figures
        return {
            "outcome": self.outcome,
            "reason": self.reason,
            "tokens_before": figures.tokens_before,
            "tokens_after": figures.tokens_after,
            "messages_before": figures.messages_before,
            "messages_after": figures.messages_after,
            "head": figures.head,
            "folded": figures.folded,
            "tail": figures.tail,
            "cuts": {**asdict(figures.cuts), "kept": list(figures.cuts.kept)},
            "pruned": asdict(figures.pruned),
            "summary": asdict(figures.summary) if figures.summary else None,
            "audit": figures.audit.as_json() if figures.audit else None,
            "warnings": list(self.warnings),
            "duration_ms": round(self.duration_ms, 2),
        }

    def __getitem__(self, key: str) -> object:
        """Return one value of the JSON report."""
        return self.as_json()[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys of the JSON report."""
        return iter(self.as_json())

    def __len__(self) -> int:
        """Return how many keys the JSON report has."""
        return len(self.as_json())
