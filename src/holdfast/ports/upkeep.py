"""Care for a store as a port: the trash, checks, repairs and copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Health", "Upkeep"]


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found; no problems means that everything that was written can be read."""

    problems: tuple[str, ...]
    sessions: int = 0
    messages: int = 0
    bytes: int = 0
    version: int = 0


class Upkeep(Protocol):
    """Care for what is stored: nothing is thrown away unless somebody asks for it by name."""

    def trash(self, ids: Sequence[str], at: int, *, unless_used_since: int | None = None) -> int:
        """Put sessions into the trash, out of lists and search; returns how many.

        Args:
            ids: The sessions.
            at: The time.
            unless_used_since: Leaves conversations as they are in which anything was said at
                this time or later, in whichever of their sessions that are not in the trash.
        """
        ...

    def restore(self, ids: Sequence[str]) -> int:
        """Take sessions out of the trash; returns how many."""
        ...

    def purge(self, ids: Sequence[str]) -> int:
        """Delete trashed sessions for good, with messages that nothing else shows.

        Without sessions, what an interrupted call has left is deleted.
        """
        ...

    def check(self) -> Health:
        """Return what is wrong with the store, if anything."""
        ...

    def repair(self) -> tuple[str, ...]:
        """Rebuild what can be rebuilt from the log; returns what was done."""
        ...

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others go on reading and writing."""
        ...
