"""Care for a store as a port: the trash and a check for all, copies and repairs for files.

What a store can do beyond what every store must is a set of capabilities, and what needs one of
them asks first: a store in memory or behind a server has no file that could be copied.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from holdfast.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["REQUIRED", "Capability", "FileUpkeep", "Health", "Trash", "file_upkeep"]


class Capability(StrEnum):
    """What a store can do."""

    LOG = "log"
    """Sessions, messages, windows and lineage."""
    SEARCH = "search"
    """Full-text search over everything that was said."""
    LEASES = "leases"
    """Who compacts which session."""
    TRASH = "trash"
    """Sessions out of sight, back again, and deleted for good."""
    DURABLE = "durable"
    """What was written is there for other processes, and when the store is opened again."""
    BACKUP = "backup"
    """A consistent copy in a file, taken while others write."""
    REPAIR = "repair"
    """Damage is found, and what can be read is saved."""


REQUIRED = frozenset({Capability.LOG, Capability.SEARCH, Capability.LEASES, Capability.TRASH})
"""What every store can do."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found; no problems means that everything that was written can be read."""

    problems: tuple[str, ...]
    sessions: int = 0
    messages: int = 0
    bytes: int = 0
    """What the store takes; 0 where it does not say."""
    version: int = 0
    """Of the layout in which it is stored; 0 where there is none."""


class Trash(Protocol):
    """Sessions out of sight: nothing is thrown away unless somebody asks for it by name."""

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


@runtime_checkable
class FileUpkeep(Protocol):
    """Care for a store that is one file."""

    @property
    def file(self) -> Path:
        """Return where the file is."""
        ...

    def repair(self) -> tuple[str, ...]:
        """Rebuild what can be rebuilt from the log; returns what was done."""
        ...

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others go on reading and writing."""
        ...


def file_upkeep(store: object, name: str) -> FileUpkeep:
    """Return what takes care of a store's file.

    Raises:
        StoreError: when the store is not kept in a file.
    """
    if isinstance(store, FileUpkeep):
        return store
    raise StoreError(f"{name} is not kept in a file, so that it can be neither copied nor repaired")
