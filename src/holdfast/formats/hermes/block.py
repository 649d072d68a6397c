"""The rows of a Hermes session, and what one compaction wrote among them.

When Hermes compacts in place, it sets every live row aside and writes the first messages, the
summary and the newest messages anew, all in one transaction. A copy has the words of a message
that the model saw and either its very time, or a time that follows the row beside it by a
millionth of a second, as rows do that are written together. Words alone prove nothing: people say
the same thing twice.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats.chronicle import Told

__all__ = ["TOGETHER", "Block", "Fate", "Head", "Shown", "Written", "shown_of"]

TOGETHER = 5e-6
"""How many seconds apart rows of one transaction are, at most."""


class Fate(Enum):
    """What became of a row."""

    LIVE = auto()
    FOLDED = auto()
    """A compaction set it aside."""
    TAKEN_BACK = auto()


@dataclass(frozen=True, slots=True)
class Written:
    """A row: what it tells, and what became of it."""

    told: Told
    print: int
    at: float
    fate: Fate = Fate.LIVE


@dataclass(frozen=True, slots=True)
class Shown:
    """A message in the window."""

    key: str
    print: int
    at: float
    """When its newest row was written: copies are made of copies."""

    def written_again(self, row: Written) -> Shown:
        """Return the message as a row repeats it."""
        return replace(self, at=row.at)


@dataclass(frozen=True, slots=True)
class Head:
    """A row that repeats a message, and the place of that message in the window."""

    row: Written
    place: int


class Block:
    """What one compaction wrote, while it is read."""

    def __init__(self, summary: Written, before: Sequence[Shown], place: int) -> None:
        self.summary = summary
        self.shows: list[Shown] = []
        self._before = before
        """The window that was compacted."""
        self._place = place
        """Where in that window the next copy may come from."""
        self._newest = summary.at
        self._places: dict[int, list[int]] = {}
        for index, shown in enumerate(before):
            self._places.setdefault(shown.print, []).append(index)

    def holds(self, row: Written) -> bool:
        """Say whether the compaction wrote the row."""
        place = self._copied(row)
        is_copy = place is not None and self._before[place].at == row.at
        return is_copy or 0 < row.at - self._newest <= TOGETHER

    def add(self, row: Written) -> bool:
        """Show a row, and say whether it is a new message and no copy."""
        self._newest = max(self._newest, row.at)
        place = self._copied(row)
        if place is None:
            self.shows.append(shown_of(row))
            return True
        self._place = place + 1
        self.shows.append(self._before[place].written_again(row))
        return False

    def _copied(self, row: Written) -> int | None:
        """Return the place of the message that a row repeats, if it follows those before it.

        Of several with the same words it is the one of the same time, else the first.
        """
        places = self._places.get(row.print, [])
        onward = places[bisect_left(places, self._place) :]
        exact = (place for place in onward if self._before[place].at == row.at)
        return next(exact, onward[0] if onward else None)


def shown_of(row: Written) -> Shown:
    """Return a row as a message in the window."""
    return Shown(row.told.key, row.print, row.at)
