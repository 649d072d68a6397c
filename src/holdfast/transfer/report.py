"""What one reading of a file did, strand by strand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.session import Fork
from holdfast.transfer.landing import Landing
from holdfast.transfer.matching import LeftAlone, Seeking
from holdfast.transfer.tally import Count, Skipped, Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.formats.events import Problem
    from holdfast.transfer.strands import Strand

__all__ = ["Report"]


class Report:
    """Gathers what was written and what was wrong."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.count = Count()
        self.problems: list[Problem] = []

    def tally(self, strands: Iterable[Strand], written: Count) -> Tally:
        """Return what was written so far, and what was not.

        Args:
            strands: The strands of the file.
            written: What their messages count for.
        """
        made: list[str] = []
        grown: list[str] = []
        unchanged: list[str] = []
        skipped: list[Skipped] = []
        branches = 0
        for strand in strands:
            match strand.state:
                case Landing(session=session) as landing:
                    if session is None:
                        continue
                    branches += landing.is_fresh and session.fork is Fork.BRANCH
                    known = grown if landing.written else unchanged
                    (made if landing.is_fresh else known).append(session.id)
                case Seeking(shelf=shelf):
                    unchanged.append(shelf.candidates[0].session.id)
                case LeftAlone(session=id_, reason=reason):
                    skipped.append(Skipped(id_, reason))
                case None:
                    pass
        return Tally(
            sessions=tuple(made),
            grown=tuple(grown),
            unchanged=tuple(unchanged),
            branches=branches,
            count=self.count + written,
            skipped=tuple(skipped),
            problems=tuple(self.problems),
        )
