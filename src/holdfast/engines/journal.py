"""What went wrong in passes, written to the log: each sentence once, until a pass goes well.

A full window is compacted, or fails to be, again and again. Whoever reads the log learns of each
failure when it begins, and not with every turn that it lasts.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from holdfast.compaction import Abandoned, Folded, Pruned

if TYPE_CHECKING:
    from holdfast.compaction import CompactionReport

__all__ = ["Journal"]

_log = logging.getLogger(__name__)


class Journal:
    """Remembers what the log has been told since the last pass that went well."""

    def __init__(self) -> None:
        """Begin with nothing told."""
        self._told: frozenset[str] = frozenset()

    def note(self, report: CompactionReport) -> None:
        """Log what a user should be told of a pass, unless it was logged before."""
        given_up = (report.reason,) if isinstance(report.result, Abandoned) else ()
        said = tuple(dict.fromkeys((*given_up, *report.warnings)))
        fresh = [each for each in said if each not in self._told]
        if said:
            self._told |= frozenset(said)
        elif isinstance(report.result, Folded | Pruned):
            self._told = frozenset()
        for each in fresh:
            _log.warning("compaction %s: %s", report.outcome, each)
