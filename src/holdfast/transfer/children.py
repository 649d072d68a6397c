"""When the sessions that came from one are told between its messages."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from holdfast.session import Fork
from holdfast.transfer.identity import imported_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.session import Session

__all__ = ["Child", "Children"]


@dataclass(frozen=True, slots=True)
class Child:
    """A session that came from the one that is told, whose turn has come."""

    session: Session
    of: str
    """The strand that it came from."""


class Children:
    """Sessions that came from the one that is told, until their turn has come."""

    def __init__(self, children: Sequence[Session]) -> None:
        """Sort them by what is known of when they began."""
        known = [(_place(child), child) for child in children]
        unknown = [child for place, child in known if place is None]
        places = [(place, child) for place, child in known if place is not None]
        self._placed = deque(sorted(places, key=itemgetter(0)))
        self._dated = deque(child for child in unknown if child.fork is Fork.DELEGATION)
        self._last = [child for child in unknown if child.fork is not Fork.DELEGATION]

    def due(self, said: int, at: int) -> Iterator[Session]:
        """Take out those that began before a message that is told after so many others."""
        while self._placed and self._placed[0][0] <= said:
            yield self._placed.popleft()[1]
        while self._dated and self._dated[0].started < at:
            yield self._dated.popleft()

    def rest(self) -> Iterator[Session]:
        """Return those that began when everything was said, or nobody knows when."""
        yield from (child for _, child in self._placed)
        yield from self._dated
        yield from self._last


def _place(child: Session) -> int | None:
    imported = imported_of(child)
    return None if imported is None else imported.place
