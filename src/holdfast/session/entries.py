"""What stands in the log, and the views that compute windows from it.

A view never changes. Compaction, rewind and fork each write another one, so that undoing any of
them is a matter of pointing back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.transcript import Recalled, Role, Synthetic, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from holdfast.session.sessions import EndReason, Session, Usage
    from holdfast.transcript import Content, Message, Part, Transcript

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


class Draft(Struct, frozen=True, kw_only=True, gc=False):
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


class Entry(Struct, frozen=True, kw_only=True, gc=False):
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


_K = TypeVar("_K")
Piece: TypeAlias = Entry | Draft
"""What a changed window is made of: entries that stay, and drafts that take others' place."""


class Cause(StrEnum):
    """Why a view was written."""

    FORK = "fork"
    COMPACTION = "compaction"
    REWIND = "rewind"


@dataclass(frozen=True, slots=True)
class Span:
    """A run of positions in one session's log, both ends included."""

    session: str
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The messages of its spans, then everything said in the session after `upto`."""

    id: int
    session: str
    parent: int | None
    """The view that showed before; None is the plain log."""
    cause: Cause
    spans: tuple[Span, ...]
    upto: int
    at: int

    def shows(self, session: str, position: int) -> bool:
        """Say whether a place in a log stands in the window, now or once something is there."""
        if session == self.session and position > self.upto:
            return True
        return any(
            span.session == session and span.first <= position <= span.last for span in self.spans
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionRecord:
    """One pass, as the store remembers it."""

    at: int
    trigger: str
    """`manual`, `in_loop`, `preflight`, `hygiene`, `recovery`, `ahead_of_time`, `model_switch`."""
    strategy: str = "in_place"
    focus: str = ""
    summary: str = ""
    report: Mapping[str, object] = field(default_factory=dict[str, object])
    """The report of the pass, as the command line prints it: counts, cuts, audit, warnings."""
    duration_ms: int = 0
    cost: float = 0.0
    cache_cost: float = 0.0
    id: int = 0
    session: str = ""
    before: int | None = None
    """The view that showed before the pass; None is the plain log."""
    after: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Another window for a session, computed from one that was read earlier.

    It holds only if nobody else changed the window meanwhile. Messages that were appended
    meanwhile are kept: they follow what the change shows.
    """

    cause: Cause
    pieces: tuple[Piece, ...]
    generation: int
    """The generation that the change was computed from."""
    seen: int
    """The size of the log at that time."""
    at: int
    compaction: CompactionRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn:
    """A child session that is to be created, in one step with what happens to its parent."""

    child: Session
    shows: tuple[Entry, ...] = ()
    """What the child's window begins with, by reference."""
    parent_end: EndReason | None = None
    """Why the parent ends; None lets it live on."""
    generation: int | None = None
    """The parent's generation that this was computed from; None where it does not matter."""
    seen: int | None = None
    """The size of the parent's log at that time: what was said there since follows what is shown.
    None where nothing is to follow; with a change, its own size counts."""
    change: Change | None = None
    """What happens to the child's window at once: the compaction of a rotation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Messages on their way to the end of a session, which may be created for them."""

    to: str | Session | Spawn
    """The id of a session that is there, one without a parent that is to be created, or a child."""
    drafts: tuple[Draft, ...] = ()
    usage: Usage | None = None
    """What they cost."""
    size: int | None = None
    """How long the session must be for them; None where it does not matter."""


def merge_spans(spans: Iterable[tuple[_K, int, int]]) -> list[tuple[_K, int, int]]:
    """Return spans (log, first, last) with those joined that follow each other in the same log."""
    merged: list[tuple[_K, int, int]] = []
    for log, first, last in spans:
        if merged and merged[-1][0] == log and merged[-1][2] + 1 == first:
            merged[-1] = (log, merged[-1][1], last)
        else:
            merged.append((log, first, last))
    return merged


def with_originals(ids: Iterable[int], stands_for: Callable[[int], int | None]) -> set[int]:
    """Return messages with those that they stand for, however often they were shortened.

    Args:
        ids: The messages.
        stands_for: Gives the message that one takes the place of.
    """
    found = set(ids)
    waiting = list(found)
    while waiting:
        original = stands_for(waiting.pop())
        if original is not None and original not in found:
            found.add(original)
            waiting.append(original)
    return found


def fork_view(views: Iterable[View]) -> View | None:
    """Return the view that a session began with; None for one that began with nothing."""
    return next((view for view in views if view.cause is Cause.FORK), None)


def line_to(views: Iterable[View], current: int | None) -> tuple[View, ...]:
    """Return the views that led to the current one, that one first."""
    known = {view.id: view for view in views}
    line: list[View] = []
    # Each is taken out, so that the line ends however the parents lead.
    at = known.pop(current, None) if current is not None else None
    while at is not None:
        line.append(at)
        at = known.pop(at.parent, None) if at.parent is not None else None
    return tuple(line)


def undo_target(views: Sequence[View], current: int | None) -> View | None:
    """Return the newest compaction or rewind that the window shows, which undo takes back."""
    at = next((view for view in views if view.id == current), None)
    return at if at is not None and at.cause is not Cause.FORK else None


def redo_target(views: Sequence[View], current: int | None, tip: int | None) -> int | None:
    """Return the view that an undo left, one step from the current one towards the tip."""
    return next((view.id for view in line_to(views, tip) if view.parent == current), None)
