"""Messages on their way to the store: they wait for each other and are written in one step.

A step costs more than the messages of a small session, whether many are told in one file or each in
a file of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import Conflict
from holdfast.session import Addition
from holdfast.transfer.tally import Count, count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.transfer.landing import Landing

__all__ = ["BATCH", "Outbox", "Write", "flush_together"]

BATCH = 500
"""Messages that are written in one transaction."""
Write: TypeAlias = "Callable[[Sequence[Addition]], None]"
_Piece: TypeAlias = tuple["Landing", Addition]


class Outbox:
    """What one reading of a file has told and not written, whichever sessions it belongs to."""

    def __init__(self, write: Write) -> None:
        """Hold nothing.

        Args:
            write: Writes to the store, in one step.
        """
        self.count = Count()
        """What was written."""
        self.learned: set[Landing] = set()
        """Sessions of which more is known than when they were described."""
        self._write = write
        self._waiting: list[Landing] = []
        """Where messages wait, once for each."""

    def put(self, landing: Landing) -> None:
        """Let a message wait that was added to a landing, until there are enough of them."""
        self._waiting.append(landing)
        if len(self._waiting) >= BATCH:
            self.flush()

    def create(self, landing: Landing) -> None:
        """Let the session of a landing wait to be created, even where nothing is told in it."""
        self._waiting.append(landing)

    def flush(self) -> None:
        """Write what waits.

        Raises:
            Conflict: when somebody else has written to one of the sessions.
        """
        landings = [*dict.fromkeys(self._waiting)]
        self._waiting.clear()
        try:
            self._land(landings)
        except Conflict:
            if len(landings) == 1:
                raise
            # Whichever others came first with is found when each is written alone.
            for landing in landings:
                self._land([landing])

    def pieces(self) -> list[_Piece]:
        """Return what waits; it goes on waiting until it has landed."""
        return self._pieces([*dict.fromkeys(self._waiting)])

    def landed(self, pieces: Sequence[_Piece]) -> None:
        """Learn that all that waited was written."""
        self._waiting.clear()
        self._learn(pieces)

    def _land(self, landings: Sequence[Landing]) -> None:
        """Write what waits in one step, however many sessions it belongs to."""
        if not landings:
            return
        pieces = self._pieces(landings)
        self._write([addition for _, addition in pieces])
        self._learn(pieces)

    def _pieces(self, landings: Sequence[Landing]) -> list[_Piece]:
        self.learned.update([landing for landing in landings if landing.is_planned])
        return [(landing, landing.addition()) for landing in landings]

    def _learn(self, pieces: Sequence[_Piece]) -> None:
        for landing, addition in pieces:
            landing.landed(addition)
        self.count += count_of(
            [draft.message for _, addition in pieces for draft in addition.drafts]
        )


def flush_together(write: Write, outboxes: Sequence[Outbox]) -> None:
    """Write what waits in all of them, in one step.

    Raises:
        Conflict: when somebody else has written to one of the sessions; then all of it still waits.
    """
    pieces = [outbox.pieces() for outbox in outboxes]
    additions = [addition for some in pieces for _, addition in some]
    if additions:
        write(additions)
    for outbox, some in zip(outboxes, pieces, strict=True):
        outbox.landed(some)
