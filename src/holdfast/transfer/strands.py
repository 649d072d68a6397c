"""One strand of a file while it is told: names, marks and what is known of it, no messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from holdfast.formats.replay import merged
from holdfast.session import Fork
from holdfast.transcript import Role
from holdfast.transfer.identity import LATEST
from holdfast.transfer.landing import Landing
from holdfast.transfer.marks import BEGINNING, mark_after
from holdfast.transfer.matching import LeftAlone, Seeking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import About, MessageEvent, StrandStarted
    from holdfast.session import Entry
    from holdfast.transcript import Message

__all__ = ["Gist", "Kin", "State", "Step", "Strand", "Trail", "sane"]

_OPENING = 8
"""Messages with words among which a title is looked for."""


class Step(NamedTuple):
    """Where a message was told."""

    strand: Strand
    number: int
    """How many messages of the strand were told before it."""
    mark: str


@dataclass(slots=True)
class Kin:
    """What strands with the same root have in common.

    One look says where a message is, however many branches of branches lie between.
    """

    root: Strand
    name: str | None = None
    """The agent's id for the conversation when the store was first asked for it."""
    steps: dict[str, Step] = field(default_factory=dict[str, Step])
    """Where each message was told."""
    entries: dict[str, Entry] = field(default_factory=dict[str, "Entry"])
    """Where messages are stored, as far as somebody asked: branches share most of what they show.
    """


class Trail:
    """What was told of a strand, in order, and what its model sees of it."""

    def __init__(self, mark: str, shared: tuple[str, ...], kin: Kin) -> None:
        """Begin after a message that a branch shares, or with nothing.

        Args:
            mark: Of that message.
            shared: What the model sees at the beginning.
            kin: All strands with the same root.
        """
        self.first_mark = mark
        self.mark = mark
        self.window = list(shared)
        self.kin = kin
        self._told: list[str] = []
        self._changes: list[tuple[int, tuple[str, ...]]] = [(0, shared)]

    def __len__(self) -> int:
        """Return how many messages were told."""
        return len(self._told)

    def tell(self, strand: Strand, told: MessageEvent) -> str:
        """Go on by one message of the strand, and return its mark."""
        mark, key = mark_after(self.mark, told), told.key
        self.mark = mark
        self.kin.steps[key] = Step(strand, len(self._told), mark)
        self._told.append(key)
        self.window.append(key)
        return mark

    def show(self, keys: Sequence[str]) -> None:
        """Let the model see these messages and what follows."""
        self.window = list(keys)
        self._changes.append((len(self._told), tuple(keys)))

    def marks(self) -> Iterator[str]:
        """Return the marks of the messages, the newest first."""
        steps = self.kin.steps
        return (steps[key].mark for key in reversed(self._told))

    def shown_upto(self, key: str) -> tuple[str, ...]:
        """Return what a branch shares that leaves the strand after a message.

        That is what the model sees now up to the message. Where a compaction has taken it out of
        the window, it is what the model saw when the message was new.
        """
        if key in self.window:
            return tuple(self.window[: self.window.index(key) + 1])
        step = self.kin.steps.get(key)
        if step is None or step.strand.trail is not self:
            return ()
        start, shown = next(each for each in reversed(self._changes) if each[0] <= step.number)
        return (*shown, *self._told[start : step.number + 1])


@dataclass(slots=True)
class Gist:
    """What the messages of a strand say about it as a whole."""

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
        """Notice what a message says."""
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


State: TypeAlias = Seeking | Landing | LeftAlone | None
"""How a strand stands to the store; None before anything was told of it."""


class Strand:
    """One strand while it is told."""

    def __init__(self, begun: StrandStarted, parent: Strand | None) -> None:
        """Begin it; a branch shares what its parent showed up to where it left."""
        self.begun = begun
        self.parent = parent
        self.about: About = begun.about
        self.place = 0 if parent is None else len(parent.trail)
        self.gist = Gist()
        self.state: State = None
        mark, shared = BEGINNING, ()
        if parent is not None and begun.fork is Fork.BRANCH:
            mark, shared = parent.mark_of(begun.after), parent.trail.shown_upto(begun.after)
        self.trail = Trail(mark, shared, Kin(self) if parent is None else parent.trail.kin)

    @property
    def name(self) -> str:
        """Return the agent's id by which the store knows the conversation; it may be empty.

        An id that is told behind the first message comes too late for the next reading as well.
        """
        kin = self.trail.kin
        return kin.root.about.id if kin.name is None else kin.name

    def settle_name(self) -> None:
        """Keep the name as it is from now on."""
        self.trail.kin.name = self.name

    def note(self, about: About) -> None:
        """Learn more about it."""
        self.about = merged(self.about, about)

    def mark_of(self, key: str) -> str:
        """Return the mark of a message that the strand tells or shares."""
        step = self.trail.kin.steps.get(key)
        return step.mark if step is not None and step.strand in self._line() else BEGINNING

    def known(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the keys that the strand told, or one that it came from."""
        line, steps = {*self._line()}, self.trail.kin.steps
        return tuple(key for key in keys if key in steps and steps[key].strand in line)

    def window(self) -> tuple[Entry, ...]:
        """Return the stored messages that the model sees, each once, without what they say."""
        entries = self.trail.kin.entries
        shown = dict.fromkeys(self.trail.window)
        found = [entries.get(key) or self._stored(key) for key in shown]
        return tuple(entry for entry in found if entry is not None)

    def _stored(self, key: str) -> Entry | None:
        """Return the stored message of a key; None when that is not known."""
        strand, number, mark = self.trail.kin.steps[key]
        match strand.state:
            case Landing() as landing:
                found = landing.entry(number) or landing.shelf.place_of(mark)
            case Seeking(shelf=shelf):
                found = shelf.place_of(mark)
            case _:
                return None
        if found is not None:
            self.trail.kin.entries[key] = found
        return found

    def _line(self) -> Iterator[Strand]:
        """Return the strand and those that it came from, the nearest first."""
        # No recursion, here and elsewhere: files hold any number of branches of branches.
        strand: Strand | None = self
        while strand is not None:
            yield strand
            strand = strand.parent


def sane(at: int | None) -> int | None:
    """Return a time if it has a date; files hold any number."""
    return at if at is not None and 0 <= at <= LATEST else None
