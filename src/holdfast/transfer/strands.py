"""The import of one branch of a session, as its events arrive: keys and facts, no messages.

A prefix hash fixes a message and everything that was told before it: an import knows by it how much
of a file is stored already, and a stored message keeps its own as `mark`. Only what was said goes
into it: what a later version of a reader learns to keep beside it must not make old imports look
different.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from holdfast.formats.replay import merged
from holdfast.session import Fork
from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.transfer.identity import LATEST
from holdfast.transfer.resuming import LeftAlone, Resuming
from holdfast.transfer.session_writer import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import About, MessageEvent, StrandStarted
    from holdfast.session import Entry
    from holdfast.transcript import Message, Part

EMPTY_PREFIX = ""
"""The prefix hash before the first message."""
_BYTES = 12


def prefix_hash(mark: str, told: MessageEvent) -> str:
    """Return the hash of a message and of all before it, which `mark` is the hash of."""
    pieces: list[str] = [mark, told.native.id, told.message.role]
    for part in told.message.parts:
        _add(part, pieces)
    # The lengths keep two texts apart from one that holds both.
    sizes = ",".join([str(len(piece)) for piece in pieces])
    written = (sizes + "".join(pieces)).encode("utf-8", "surrogatepass")
    return blake2b(written, digest_size=_BYTES).hexdigest()


def _add(part: Part, pieces: list[str]) -> None:
    pieces.append(type(part).__name__)
    match part:
        case Text() | Thinking() | Summary() | Recalled():
            pieces.append(part.text)
        case ToolResult():
            pieces += (part.call_id, str(part.is_error))
            for piece in part.content:
                _add(piece, pieces)
        case ToolCall():
            pieces += (part.id, part.name, part.arguments)
        case Media():
            pieces += (part.media_type, part.data, part.url)
        case Opaque():
            pieces.append(json.dumps(part.value, sort_keys=True, default=str))
        case _:
            assert_never(part)


_OPENING = 8
"""Messages with words among which a title is looked for."""
State: TypeAlias = Resuming | SessionWriter | LeftAlone | None
"""What an import does with a strand; None before a message of it came."""


class MessagePlace(NamedTuple):
    """The strand in which a message was told, its number there and its prefix hash."""

    strand: StrandImport
    number: int
    """How many messages of the strand were told before it."""
    mark: str


@dataclass(slots=True)
class RootIndex:
    """The messages of all strands with the same root, by key.

    One look says where a message is, however many branches of branches lie between.
    """

    root: StrandImport
    name: str | None = None
    """The agent's id for the conversation when the store was first asked for it."""
    steps: dict[str, MessagePlace] = field(default_factory=dict[str, MessagePlace])
    """Where each message was told."""
    entries: dict[str, Entry] = field(default_factory=dict[str, "Entry"])
    """Where messages are stored, as far as somebody asked: branches share most of what they show.
    """


class StrandHistory:
    """The keys of the messages of a strand, in order, and those in the window of its model."""

    def __init__(self, mark: str, shared: tuple[str, ...], root_index: RootIndex) -> None:
        """Begin after a message that a branch shares, or with nothing.

        Args:
            mark: Of that message.
            shared: What the model sees at the beginning.
            root_index: All strands with the same root.
        """
        self.first_mark = mark
        self.mark = mark
        self.window = list(shared)
        self.root_index = root_index
        self._told: list[str] = []
        self._changes: list[tuple[int, tuple[str, ...]]] = [(0, shared)]

    def __len__(self) -> int:
        """Return how many messages were told."""
        return len(self._told)

    def tell(self, strand: StrandImport, told: MessageEvent) -> str:
        """Append a message of the strand, and return its prefix hash."""
        mark, key = prefix_hash(self.mark, told), told.key
        self.mark = mark
        self.root_index.steps[key] = MessagePlace(strand, len(self._told), mark)
        self._told.append(key)
        self.window.append(key)
        return mark

    def show(self, keys: Sequence[str]) -> None:
        """Let the model see these messages and what follows."""
        self.window = list(keys)
        self._changes.append((len(self._told), tuple(keys)))

    def marks(self) -> Iterator[str]:
        """Return the marks of the messages, the newest first."""
        steps = self.root_index.steps
        return (steps[key].mark for key in reversed(self._told))

    def shown_upto(self, key: str) -> tuple[str, ...]:
        """Return what a branch shares that leaves the strand after a message.

        That is what the model sees now up to the message. Where a compaction has taken it out of
        the window, it is what the model saw when the message was new.
        """
        if key in self.window:
            return tuple(self.window[: self.window.index(key) + 1])
        step = self.root_index.steps.get(key)
        if step is None or step.strand.history is not self:
            return ()
        start, shown = next(each for each in reversed(self._changes) if each[0] <= step.number)
        return (*shown, *self._told[start : step.number + 1])


@dataclass(slots=True)
class StrandFacts:
    """What is read off the messages of a strand: opening words, model, newest summary and time."""

    opening: list[Message] = field(default_factory=list["Message"])
    """The first words, from which a title is made where the file has none."""
    model: str = ""
    summary: str = ""
    """What the newest summary says."""
    at: int | None = None
    """When the newest message was said."""
    is_known: bool | None = None
    """Whether the first message has an id and a time, by which a copy of it is known again."""

    def take(self, told: MessageEvent) -> None:
        """Read the facts off a message."""
        message, native = told.message, told.native
        if self.is_known is None:
            self.is_known = bool(native.id) and native.at is not None
        if message.role is Role.USER or message.role is Role.ASSISTANT:
            if len(self.opening) < _OPENING and message.text:
                self.opening.append(message)
            if (summary := message.summary) is not None:
                self.summary = summary.text
            if native.model:
                self.model = native.model
        if (at := sane(native.at)) is not None:
            self.at = at


class StrandImport:
    """The import of one branch of a session, as its events arrive."""

    def __init__(self, begun: StrandStarted, parent: StrandImport | None) -> None:
        """Begin it; a branch shares what its parent showed up to where it left."""
        self.begun = begun
        self.parent = parent
        self.about: About = begun.about
        self.place = 0 if parent is None else len(parent.history)
        self.facts = StrandFacts()
        self.state: State = None
        mark, shared = EMPTY_PREFIX, ()
        if parent is not None and begun.fork is Fork.BRANCH:
            mark, shared = parent.mark_of(begun.after), parent.history.shown_upto(begun.after)
        self.history = StrandHistory(
            mark, shared, RootIndex(self) if parent is None else parent.history.root_index
        )

    @property
    def name(self) -> str:
        """Return the agent's id by which the store knows the conversation; it may be empty.

        An id that is told behind the first message comes too late for the next reading as well.
        """
        root_index = self.history.root_index
        return root_index.root.about.id if root_index.name is None else root_index.name

    def settle_name(self) -> None:
        """Keep the name as it is from now on."""
        self.history.root_index.name = self.name

    def note(self, about: About) -> None:
        """Learn more about it."""
        self.about = merged(self.about, about)

    def mark_of(self, key: str) -> str:
        """Return the mark of a message that the strand tells or shares."""
        step = self.history.root_index.steps.get(key)
        return step.mark if step is not None and step.strand in self._line() else EMPTY_PREFIX

    def known(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the keys that the strand told, or one that it came from."""
        line, steps = {*self._line()}, self.history.root_index.steps
        return tuple(key for key in keys if key in steps and steps[key].strand in line)

    def window(self) -> tuple[Entry, ...]:
        """Return the stored messages that the model sees, each once, without what they say."""
        entries = self.history.root_index.entries
        shown = dict.fromkeys(self.history.window)
        found = [entries.get(key) or self._stored(key) for key in shown]
        return tuple(entry for entry in found if entry is not None)

    def _stored(self, key: str) -> Entry | None:
        """Return the stored message of a key; None when that is not known."""
        strand, number, mark = self.history.root_index.steps[key]
        match strand.state:
            case SessionWriter() as writer:
                found = writer.entry(number) or writer.stored.place_of(mark)
            case Resuming(stored=stored):
                found = stored.place_of(mark)
            case _:
                return None
        if found is not None:
            self.history.root_index.entries[key] = found
        return found

    def _line(self) -> Iterator[StrandImport]:
        """Return the strand and those that it came from, the nearest first."""
        # No recursion, here and elsewhere: files hold any number of branches of branches.
        strand: StrandImport | None = self
        while strand is not None:
            yield strand
            strand = strand.parent


def sane(at: int | None) -> int | None:
    """Return a time if it has a date; files hold any number."""
    return at if at is not None and 0 <= at <= LATEST else None
