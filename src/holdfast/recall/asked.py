"""What a search is asked for, one of five shapes, and messages as its results show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.recall.values import Filters
from holdfast.recall.wording import is_output, tool_of, words_of
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.session import Entry, Session
    from holdfast.transcript import Message, Role

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


_FRONT = 0.7
_SMALLEST_ENDING = 200
"""Characters from which a cut text keeps its end too."""
_LONGEST_TITLE = 100


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """How much of a result is shown."""

    output: int
    """Characters of a tool's output."""
    words: int
    """Characters of what a person or a model said; the message asked for gets twice that."""
    reach: float = 1.0
    """The share of the surrounding messages that is shown."""
    results: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One message of a result."""

    id: int
    role: Role
    text: str
    at: int
    tool: str = ""
    summary_by: str = ""
    """Which system wrote it, where it is the summary of a compaction."""
    is_output: bool = False
    is_focus: bool = False

    def document(self, room: ResultLimits) -> dict[str, object]:
        """Return the message as plain values, cut to the room."""
        size = room.output if self.is_output else room.words
        text, left_out = cropped(self.text, size * 2 if self.is_focus else size)
        found = {**self.header(), "text": text}
        return {**found, "characters_cut": left_out} if left_out else found

    def header(self) -> dict[str, object]:
        """Return everything but the text as plain values."""
        found: dict[str, object] = {"id": self.id, "role": str(self.role)}
        if self.tool:
            found["tool"] = cropped(self.tool, _LONGEST_TITLE)[0]
        if self.summary_by:
            found["summary_by"] = cropped(self.summary_by, _LONGEST_TITLE)[0]
        return found


def told(entry: Entry, whole: Message | None = None, *, is_focus: bool = False) -> Told:
    """Return an entry as a result shows it.

    Args:
        entry: What the log holds.
        whole: The message as it was said, where more is wanted than the window shows.
        is_focus: Whether it is the message that was asked for.
    """
    message = whole or entry.message
    return Told(
        id=entry.id,
        role=message.role,
        text=words_of(message),
        at=entry.at,
        tool=tool_of(message),
        summary_by=message.summary.origin if message.summary else "",
        is_output=is_output(message),
        is_focus=is_focus,
    )


def about(session: Session, title: str = "") -> dict[str, object]:
    """Return what results say about a session."""
    found: dict[str, object] = {
        "session_id": session.id,
        "title": cropped(session.title or title, _LONGEST_TITLE)[0],
        "source": session.source,
        "model": session.model,
        "started": when(session.started),
        "last_active": when(session.touched or session.started),
    }
    return {name: value for name, value in found.items() if value}


def cropped(text: str, size: int) -> tuple[str, int]:
    """Return a text in `size` characters or a few more, and how many were left out."""
    if len(text) <= size:
        return text, 0
    left_out = len(text) - size
    if size < _SMALLEST_ENDING:
        return f"{text[:size]}…", left_out
    front = int(size * _FRONT)
    return f"{text[:front]} [… {left_out:,} characters …] {text[front - size :]}", left_out


def nearest(
    messages: Sequence[Told], reach: float, *, at_end: bool, least: int = 0
) -> Sequence[Told]:
    """Return the share of messages that lies nearest to one of their ends."""
    count = max(ceil(len(messages) * reach), min(least, len(messages)))
    if count >= len(messages):
        return messages
    return messages[len(messages) - count :] if at_end else messages[:count]


def when(at: int) -> str:
    """Return a moment in ISO form, such as `2026-11-15T09:30Z`; empty where nobody knows it."""
    if not at:
        return ""
    try:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%MZ")
    except (ValueError, OverflowError, OSError):
        return ""
