"""What readers and writers of session files offer and share, and what a file holds.

A session file is given as JSON records, a database as rows; nothing here opens a file. A writer's
ids follow from the text of a session, so that writing it twice gives the same bytes. Agents keep a
summary as an entry of its own. A compaction of ours may put it in front of the message that
follows, whoever speaks there, so that roles alternate.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard

from msgspec.structs import replace

from holdfast.errors import HoldfastError
from holdfast.formats.events import CompactionEvent, MessageEvent, RewindEvent, SourceMetadata
from holdfast.transcript import Message, Role, Summary, Synthetic, Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.events import About, Event, Problem
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

SURE = 1.0
"""For a signature that no other format has."""
LIKELY = 0.8


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file that can be read."""

    name: str
    description: str
    dialect: str
    """The provider dialect that its messages speak, or are closest to."""
    writable: bool
    agent: str = ""
    """Whose sessions these are, where the name is not the agent's: some keep them in two ways."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Why records are taken for a format."""

    reason: str
    confidence: float = SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReader:
    """What is known about one agent's session files."""

    format: Format
    recognize: Callable[[Sequence[SourceRecord]], Sign | None]
    """Says why the first records of a file are this format; None when they are not."""
    read: Callable[[Iterable[SourceRecord]], Iterator[Event]]
    """Tells a file record by record, holding no more of it than it must."""
    write: Callable[[Iterable[Event]], Iterator[str]] | None = None
    """Returns the lines of a file, without line ends; None where a format is only read."""
    spread: Callable[[str], str] | None = None
    """Where a session is spread over several files: returns what their paths have in common.

    Those files are read at once, and all of a folder where that is nothing.
    """


def folder_of(file: str) -> str:
    """Return the name of the folder that a file lies in; "" for a bare name."""
    return file.replace("\\", "/").rpartition("/")[0].rpartition("/")[2]


def everywhere(_: str) -> str:
    """Return what paths have in common where files of a session lie anywhere in a folder."""
    return ""


Row: TypeAlias = "JsonObject"
"""The columns of a row by name: numbers, text, bytes or None."""
Tables: TypeAlias = "Mapping[str, frozenset[str]]"
"""The columns of each table by its name."""

EVERYWHERE: Row = MappingProxyType({})


class DatabaseQuery(Protocol):
    """A database that is open for reading, seen as it was at one moment."""

    @property
    def tables(self) -> Tables:
        """Return what the database is made of."""
        ...

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        where: Row = EVERYWHERE,
        order: Sequence[str] = (),
    ) -> Iterator[Row]:
        """Return rows one by one.

        Columns that the table does not have are left out, because each release of an agent adds
        some. A table that is not there has no rows.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseReader:
    """What is known about one agent's database."""

    format: Format
    recognize: Callable[[Tables], Sign | None]
    """Says why tables are those of this agent; None when they are not."""
    read: Callable[[DatabaseQuery], Iterator[Event]]
    """Tells every session, parents before their children."""


class KeyAllocator:
    """Allocates unique keys: the agent's own id of an entry, or its place in the file."""

    def __init__(self) -> None:
        """Start with no name."""
        self._taken: set[str] = set()
        self._line = 0
        self._count = 0
        """How many names the line gave; a document is one line of many entries."""

    def take(self, id: str, line: int) -> str:  # noqa: A002
        """Return a name for an entry of a line: its id, unless it has none or it was used."""
        if line != self._line:
            self._line, self._count = line, 0
        name = id or self._place()
        while name in self._taken:
            name = self._place()
        self._taken.add(name)
        return name

    def _place(self) -> str:
        self._count += 1
        return f"#{self._line}.{self._count - 1}" if self._count > 1 else f"#{self._line}"


def parents_first(parents: Mapping[str, str]) -> Iterator[str]:
    """Return the names of sessions in their order, save that a parent goes before its children.

    Each is returned once, also where sessions claim to be parents of each other.

    Args:
        parents: The parent of each session, which need not be among them.
    """
    done: set[str] = set()
    for name in parents:
        path: list[str] = []
        at = name
        while at in parents and at not in done:
            done.add(at)
            path.append(at)
            at = parents[at]
        yield from reversed(path)


_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(text: str) -> bool:
    """Say whether a text is a UUID as programs write them."""
    return _UUID.fullmatch(text) is not None


def derived_uuid(text: str) -> str:
    """Return a UUID that is always the same for the same text."""
    digits = digest(text)
    ends = f"8{digits[16:19]}-{digits[20:32]}"
    return f"{digits[:8]}-{digits[8:12]}-5{digits[12:15]}-{ends}"


def digest(text: str) -> str:
    """Return 64 letters that fix a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def folds(event: Event, summary: MessageEvent) -> TypeGuard[CompactionEvent]:
    """Say whether an event is the compaction that a summary was written for."""
    if not isinstance(event, CompactionEvent) or event.strand != summary.strand:
        return False
    return summary.key in event.shows


def with_lone_summaries(events: Iterable[Event]) -> Iterator[Event]:
    """Return the events, each summary as a message of a user that says nothing else.

    The other words of its message keep their name and their place in every window. A summary goes
    right before its compaction, as agents write it.
    """
    desk = _SummarySplitter()
    for event in events:
        yield from desk.take(event)
    yield from desk.flush()


class _SummarySplitter:
    """Holds a message with a summary until it is known whether a compaction follows."""

    def __init__(self) -> None:
        self._held: tuple[MessageEvent, MessageEvent] | None = None
        """The summary, and the rest of its message."""
        self._names: dict[str, str] = {}
        """The summaries that were taken out of messages, by the names of those."""

    def take(self, event: Event) -> Iterator[Event]:
        """Return what is complete now."""
        held = self._held
        if held is not None and folds(event, held[1]):
            self._held = None
            (summary, rest), shows = held, self._shown(event.shows)
            if shows[-1] == rest.key:
                yield from (summary, dataclasses.replace(event, shows=shows[:-1]), rest)
            else:
                yield from (rest, summary, dataclasses.replace(event, shows=shows))
            return
        yield from self.flush()
        match event:
            case MessageEvent(message=message) if message.summary is not None:
                message = event.message
                parts = tuple(part for part in message.parts if isinstance(part, Summary))
                rest = tuple(part for part in message.parts if not isinstance(part, Summary))
                summary = Message(Role.USER, parts, synthetic=Synthetic.SUMMARY)
                if not rest:
                    lone = message if message.role is Role.USER else summary
                    yield replace(event, message=lone)
                else:
                    name = f"{event.key}/summary"
                    self._names[event.key] = name
                    native = SourceMetadata(at=event.native.at)
                    apart = replace(event, key=name, message=summary, native=native)
                    self._held = (
                        apart,
                        replace(event, message=replace(message, parts=rest, synthetic=None)),
                    )
            case CompactionEvent() | RewindEvent():
                yield dataclasses.replace(event, shows=self._shown(event.shows))
            case _:
                yield event

    def flush(self) -> Iterator[Event]:
        """Return what was held: no compaction of it will come."""
        held, self._held = self._held, None
        yield from held or ()

    def _shown(self, keys: Sequence[str]) -> tuple[str, ...]:
        if self._names.keys().isdisjoint(keys):
            return tuple(keys)
        both = ((self._names[key], key) if key in self._names else (key,) for key in keys)
        return tuple(name for names in both for name in names)


@dataclass(frozen=True, slots=True)
class Guess:
    """What a text seems to be."""

    format: str
    """A name in `FORMATS`; "" when no format fits."""
    confidence: float
    """From 0 to 1: 1 for a signature that no other format has."""
    reason: str


@dataclass(frozen=True, slots=True)
class Style:
    """How JSON was laid out."""

    indent: str | None = None
    compact: bool = False
    """Whether separators are written without a space after them."""
    final_newline: bool = False


@dataclass(frozen=True, slots=True)
class Aside:
    """An entry among the messages that no model ever sees, such as Hermes' `session_meta`."""

    following: int
    """How many messages stand after it: a compaction keeps the end of a conversation."""
    value: JsonObject


@dataclass(frozen=True, slots=True)
class Envelope:
    """The container of a conversation, with a hole where the conversation was."""

    rest: JsonObject | None
    """The object around the conversation, in its own order; None for a bare list of messages."""
    key: str = ""
    """Where in `rest` the messages belong."""
    system_key: str = ""
    """Where in `rest` the system prompt belongs; empty when the source had none."""
    lines: bool = False
    """Whether a bare list is written one message a line."""
    asides: tuple[Aside, ...] = ()
    style: Style = Style()
    messages: Sequence[dict[str, object]] = ()
    """The messages as they were read, which go out again where they did not change."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read.

    The transcript is the whole file in order, also what stood before a compaction.
    """

    format: str
    dialect: str
    transcript: Transcript
    envelope: Envelope | None = None
    """None for the session file of an agent."""
    problems: tuple[Problem, ...] = ()
    about: About | None = None
    """What the session file of an agent tells besides what was said."""
    window: Transcript | None = None
    """What the model saw at the end of a session file; None where that is everything."""

    @property
    def model(self) -> str:
        """Return which model it was held with, where the file says so."""
        if self.about is not None:
            return self.about.model
        named = (self.envelope.rest or {}).get("model") if self.envelope else ""
        return named if isinstance(named, str) else ""

    @property
    def live(self) -> Transcript:
        """Return what the model sees: a session file keeps what it does not see any more."""
        return self.transcript if self.window is None else self.window


class ReadOnlyFormat(HoldfastError):
    """A format can be read and not written; the message names the formats that can."""

    def __init__(self, name: str, choices: tuple[str, ...]) -> None:
        """Keep the name and what may be chosen in its place."""
        options = "|".join(choices)
        super().__init__(f"{name} can be read, not yet written; choose --to {options}")
        self.name = name
        self.choices = choices
