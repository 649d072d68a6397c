"""What stands in the log: entries with an identity, and drafts that do not have one yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

from holdfast.transcript import Recalled, Role, Synthetic, Text, ToolResult
from holdfast.transcript.quickly import quickly_made

if TYPE_CHECKING:
    from holdfast.session.sessions import Session
    from holdfast.transcript import Content, Message, Part, Transcript

__all__ = [
    "MESSAGE_ID_MARK",
    "Draft",
    "Entry",
    "Head",
    "Kind",
    "Refreshed",
    "SessionState",
    "Window",
    "names_itself",
    "with_own_id",
]

MESSAGE_ID_MARK = "\ufdd0message\ufdd0"
"""Stands for a message's own id in a shortened text until the store knows it.

It begins and ends with a character that no text may hold, so that nobody says it by accident.
"""


class Kind(IntEnum):
    """Who put an entry into the log."""

    SAID = 0
    """A user, a model or a tool: searchable, and shown until something archives it."""
    DERIVED = 1
    """A compaction: a summary, or a shortened stand-in for something that was said."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message on its way into the log."""

    message: Message
    """What the window shows."""
    at: int
    tokens: int = 0
    whole: Message | None = None
    """The message as it was, when the window shows a shortened form of it."""
    stands_for: int | None = None
    """The id of the message that a derived one replaces in the window."""
    pinned: bool = False
    """Whether the session pins it from the beginning."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A message in the log."""

    id: int
    session: str
    position: int
    kind: Kind
    message: Message
    at: int
    tokens: int
    shortened: bool = False
    """Whether the store holds more of it than the window shows."""
    stands_for: int | None = None

    @property
    def synthetic(self) -> Synthetic | None:
        """Return what of it nobody said: a summary, a note, or a stub for something longer.

        A summary or a note may stand in one message with words that somebody did say.
        """
        message = self.message
        if message.synthetic is not None:
            return message.synthetic
        if message.summary is not None:
            return Synthetic.SUMMARY
        if any(isinstance(part, Recalled) for part in message.parts):
            return Synthetic.NOTE
        if not self.shortened and self.stands_for is None:
            return None
        # Compactions add a note to the system prompt and shorten everything else.
        return Synthetic.NOTE if message.role is Role.SYSTEM else Synthetic.STUB


@dataclass(frozen=True, slots=True)
class Head:
    """Where a session stands; cheap to read, and what a change is compared with."""

    generation: int
    view: int | None
    size: int

    def leads_to(self, later: Head) -> bool:
        """Say whether nothing but appends lies between this head and a later one."""
        return (self.generation, self.view) == (later.generation, later.view) and (
            self.size <= later.size
        )


@dataclass(frozen=True, slots=True)
class Window:
    """What the model sees now, and where the session stood when it was read."""

    head: Head
    entries: tuple[Entry, ...]

    @property
    def transcript(self) -> Transcript:
        """Return the messages alone."""
        return tuple(entry.message for entry in self.entries)

    @property
    def tokens(self) -> int:
        """Return what the entries weighed when they were written."""
        return sum(entry.tokens for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """Everything about a session but its messages, as it was at one moment."""

    session: Session
    head: Head
    tip: int | None
    """The newest view of the line that the session is on; another than the head's after undo."""
    pins: frozenset[int]
    """The ids of the pinned messages."""
    compactions: int
    """How many passes over the session there were."""

    @property
    def is_undone(self) -> bool:
        """Say whether the window shows an earlier view than the newest."""
        return self.head.view != self.tip


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a reader who knew an earlier head needs to be up to date."""

    state: SessionState
    entries: tuple[Entry, ...]
    """What the window shows, or only what was said since the head that was known."""
    is_whole: bool
    """Whether the entries are the window, because another view shows now."""


def names_itself(draft: Draft) -> bool:
    """Say whether a shortened text holds the mark that stands for the id of its message."""
    if draft.whole is None and draft.stands_for is None:
        return False
    for part in draft.message.parts:
        match part:
            case Text(text):
                texts = [text]
            case ToolResult(content=content):
                texts = [piece.text for piece in content if isinstance(piece, Text)]
            case _:
                continue
        if any(MESSAGE_ID_MARK in text for text in texts):
            return True
    return False


def with_own_id(message: Message, id_: int) -> Message:
    """Return a shortened message with its id in place of the mark."""

    def text(part: Text) -> Text:
        return replace(part, text=part.text.replace(MESSAGE_ID_MARK, str(id_)))

    def content(part: Content) -> Content:
        return text(part) if isinstance(part, Text) else part

    def named(part: Part) -> Part:
        match part:
            case Text():
                return text(part)
            case ToolResult():
                return replace(part, content=tuple(content(piece) for piece in part.content))
            case _:
                return part

    return replace(message, parts=tuple(named(part) for part in message.parts))
