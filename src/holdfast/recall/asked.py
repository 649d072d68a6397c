"""What a search is asked for: one of five shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.recall.values import Filters
from holdfast.session import Fork

if TYPE_CHECKING:
    from holdfast.session import Session
    from holdfast.transcript import Role

__all__ = [
    "CURRENT",
    "HIDDEN_SOURCES",
    "Asked",
    "Browse",
    "Discovery",
    "Inside",
    "Read",
    "Scope",
    "Scroll",
    "Shape",
    "Sort",
    "Wrong",
]

Sort: TypeAlias = Literal["relevance", "newest", "oldest"]
"""What comes first."""

CURRENT = "current"
"""Stands for the conversation that asks, where the id of a session is wanted."""

HIDDEN_SOURCES = ("subagent", "tool")
"""Sessions that no person took part in; they are left out unless they are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to look."""

    roles: tuple[Role, ...] = ()
    sources: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    models: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Only in the sessions with these ids; empty means all."""
    include_subagents: bool = False

    @property
    def hidden(self) -> tuple[str, ...]:
        """Return the sources that are left out; naming one is asking for it."""
        return () if self.include_subagents or self.sources else HIDDEN_SOURCES

    def hides(self, session: Session) -> bool:
        """Say whether a session is an imported sub-agent's: its source names the agent alone."""
        return bool(self.hidden) and session.fork is Fork.DELEGATION

    @property
    def filters(self) -> Filters:
        """Return the scope as a store narrows a search."""
        return Filters(
            roles=self.roles,
            sources=self.sources,
            exclude_sources=self.hidden,
            since=self.since,
            until=self.until,
            models=self.models,
            sessions=self.sessions,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """The conversations in which something was said."""

    query: str
    scope: Scope
    limit: int
    sort: Sort = "relevance"
    offset: int = 0
    """Results to skip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The passages of one conversation in which something was said."""

    query: str
    session_id: str
    scope: Scope
    limit: int
    """Messages that are quoted at most."""
    sort: Sort = "relevance"
    offset: int = 0
    """Pieces of messages to skip: what the last answer had room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scroll:
    """The messages around one; with a window of zero, one message from an offset on."""

    message_id: int
    session_id: str = ""
    window: int = 5
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """A conversation: its beginning and its end when it is long."""

    session_id: str


@dataclass(frozen=True, slots=True)
class Browse:
    """The conversations that were touched last."""

    scope: Scope
    limit: int
    offset: int = 0
    """Conversations to skip."""


Shape: TypeAlias = Discovery | Inside | Scroll | Read | Browse


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of the search."""

    shape: Shape
    profile: str = ""
    """Another profile, whose sessions are read and never changed."""
    include_current: bool = False
    """Whether what stands in the current window may be repeated."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """Arguments that cannot be understood, and what to do about it."""

    problem: str
