"""What a caller of `compress` gets: the new messages and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.compaction import CompactionReport, Outcome

__all__ = ["Compaction"]


@dataclass(frozen=True, slots=True)
class Compaction:
    """New messages, and what happened to the old ones."""

    messages: list[dict[str, object]]
    report: CompactionReport

    @property
    def outcome(self) -> Outcome:
        """Return the outcome as a value to match on."""
        return self.report.result
