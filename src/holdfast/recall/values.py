"""What a search is narrowed by, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.transcript import Role

__all__ = ["Filters", "Hit", "MatchTier", "agent_of", "meant_sources"]


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


_IMPORTED = "import:"


def meant_sources(names: Iterable[str]) -> tuple[str, ...]:
    """Return the sources that names stand for.

    An agent's name stands for what was imported from it, and `import` for every import.
    """
    return tuple(
        source
        for name in names
        for source in ((name,) if ":" in name else (name, _long_form(name)))
    )


def agent_of(source: str) -> str:
    """Return the agent that a session was imported from; empty for one that was begun here."""
    return source.removeprefix(_IMPORTED) if source.startswith(_IMPORTED) else ""


def _long_form(name: str) -> str:
    return _IMPORTED if name == "import" else f"{_IMPORTED}{name}"
