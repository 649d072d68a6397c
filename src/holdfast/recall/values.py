"""What a search is narrowed by, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.transcript import Role

__all__ = ["Filters", "Hit", "MatchTier"]


class MatchTier(IntEnum):
    """How a match was found, best first: a lower tier is asked when the higher ones gave little."""

    WORDS = 1
    """It holds everything that was asked for, as words."""
    PARTS = 2
    """It holds everything, some of it inside longer words."""
    SOME = 3
    """It, or what was said right beside it, holds some of the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a search is narrowed by; the default is everything that is not in the trash."""

    roles: tuple[Role, ...] = ()
    sources: tuple[str, ...] = ()
    """Only these; empty means all. `import:` stands for every import."""
    exclude_sources: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since the epoch, included."""
    until: int | None = None
    """Milliseconds since the epoch, included."""
    sessions: tuple[str, ...] = ()
    lineages: tuple[str, ...] = ()
    """Ids of root sessions: only what belongs to their trees."""
    exclude_lineages: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    include_trashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message that a search found."""

    message_id: int
    session_id: str
    root_id: str
    position: int
    role: Role
    at: int
    score: float
    """Comparable within one tier of one search."""
    tier: MatchTier
