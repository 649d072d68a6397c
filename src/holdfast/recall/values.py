"""What a search is asked for, in one of five shapes, what narrows it, and what it finds.

Moments are read as people write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import IntEnum
from math import ceil
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.recall.wording import is_output, tool_of, words_of
from holdfast.session import Entry, Fork, Session

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.transcript import Message, Role


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
    found: list[str] = []
    for name in names:
        found.append(name)
        if ":" not in name:
            found.append(_IMPORTED if name == "import" else f"{_IMPORTED}{name}")
    return tuple(found)


def agent_of(source: str) -> str:
    """Return the agent that a session was imported from; empty for one that was begun here."""
    return source.removeprefix(_IMPORTED) if source.startswith(_IMPORTED) else ""


MOMENTS = "a date (2026-11-15), a date and time (2026-11-15T09:30), 7d, 12h, 2 weeks, yesterday"
"""What can be read, for messages to people."""

_UNITS = {
    "s": 1,
    "second": 1,
    "sec": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
    "d": 86_400,
    "day": 86_400,
    "w": 7 * 86_400,
    "week": 7 * 86_400,
    "mo": 30 * 86_400,
    "month": 30 * 86_400,
    "y": 365 * 86_400,
    "year": 365 * 86_400,
}
_AGO = re.compile(r"(?P<count>\d{1,6})\s*(?P<unit>[a-z]+?)s?(?:\s+ago)?", re.ASCII)
_PERIOD = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d\d))?", re.ASCII)
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d(?:-?\d)?", re.ASCII | re.IGNORECASE)
_ALL_DAY = timedelta(days=1, milliseconds=-1)
_DAYS_BACK = {"today": 0, "yesterday": 1}


def moment(text: str, now: datetime, *, end: bool = False) -> datetime | None:
    """Return the moment that a text means, or nothing if it means none.

    A result without a zone is on the clock of the place where it was written. A month is 30 days
    and a year 365 when they are counted back from now.

    Args:
        text: What was written.
        now: The moment it was written at, with its zone.
        end: Whether a day, month or year means its last moment rather than its first.
    """
    written = " ".join(text.split()).lower()
    try:
        found = _counted(written, now) or _period(written, now, end=end)
        return found or datetime.fromisoformat(written.upper())
    except (ValueError, OverflowError):
        return None


def _counted(text: str, now: datetime) -> datetime | None:
    if text == "now":
        return now
    match = _AGO.fullmatch(text)
    seconds = _UNITS.get(match["unit"]) if match else None
    return now - timedelta(seconds=int(match["count"]) * seconds) if match and seconds else None


def _period(text: str, now: datetime, *, end: bool) -> datetime | None:
    """Return the first or the last moment of a day, a month or a year."""
    if match := _PERIOD.fullmatch(text):
        year, month = int(match["year"]), int(match["month"] or 1)
        first = datetime(year, month, 1)
        # Four days after the 28th of any month it is the next one.
        last = datetime(year, month if match["month"] else 12, 28)
        if not end:
            return first
        return (last + timedelta(days=4)).replace(day=1) - timedelta(milliseconds=1)
    if text in _DAYS_BACK:
        day = datetime.combine(now.date(), time()) - timedelta(days=_DAYS_BACK[text])
    elif _DAY.fullmatch(text):
        day = datetime.fromisoformat(text.upper())
    else:
        return None
    return day + _ALL_DAY if end else day


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
