"""One strand of a file while it is told: names, marks and what is known of it, no messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from holdfast.exchange.identity import LATEST
from holdfast.exchange.landing import Landing
from holdfast.exchange.marks import BEGINNING, mark_after
from holdfast.exchange.matching import LeftAlone, Seeking
from holdfast.formats.replay import merged
from holdfast.session import Fork
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.formats.chronicle import About, Begun, Told
    from holdfast.session import Entry
    from holdfast.transcript import Message

__all__ = ["Gist", "State", "Step", "Strand", "Trail", "sane"]

_OPENING = 8
"""Messages with words among which a title is looked for."""


class Step(NamedTuple):
    """Where a message was told."""

    number: int
    """How many messages of the strand were told before it."""
    mark: str


class Trail:
    """What was told of a strand, in order, and what its model sees of it."""

    def __init__(self, mark: str, shared: Sequence[str]) -> None:
        """Begin after a message that a branch shares, or with nothing."""
        self.first_mark = mark
        self.mark = mark
        self.window = list(shared)
        self._steps: dict[str, Step] = {}
        self._changes: list[tuple[int, tuple[str, ...]]] = [(0, tuple(shared))]

    def __len__(self) -> int:
        """Return how many messages were told."""
        return len(self._steps)

    def tell(self, told: Told) -> None:
        """Go on by one message."""
        self.mark = mark_after(self.mark, told)
        self._steps[told.key] = Step(len(self._steps), self.mark)
        self.window.append(told.key)

    def show(self, keys: Sequence[str]) -> None:
        """Let the model see these messages and what follows."""
        self.window = list(keys)
        self._changes.append((len(self._steps), tuple(keys)))

    def step(self, key: str) -> Step | None:
        """Return where a message of the strand itself was told."""
        return self._steps.get(key)

    def marks(self) -> Iterator[str]:
        """Return the marks of the messages, the newest first."""
        return (step.mark for step in reversed(self._steps.values()))

    def shown_upto(self, key: str) -> tuple[str, ...]:
        """Return what a branch shares that leaves the strand after a message.

        That is what the model sees now up to the message. Where a compaction has taken it out of
        the window, it is what the model saw when the message was new.
        """
        if key in self.window:
            return tuple(self.window[: self.window.index(key) + 1])
        step = self.step(key)
        if step is None:
            return ()
        changes = [change for change in self._changes if change[0] <= step.number]
        start, shown = changes[-1]
        return (*shown, *list(self._steps)[start : step.number + 1])


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

    def take(self, told: Told) -> None:
        """Notice what a message says."""
        message, native = told.message, told.native
        if message.role is Role.USER or message.role is Role.ASSISTANT:
            if len(self.opening) < _OPENING and message.text:
                self.opening.append(message)
            if message.summary is not None:
                self.summary = message.summary.text
            self.model = native.model or self.model
        self.at = self.at if (at := sane(native.at)) is None else at


State: TypeAlias = Seeking | Landing | LeftAlone | None
"""How a strand stands to the store; None before anything was told of it."""


class Strand:
    """One strand while it is told."""

    def __init__(self, begun: Begun, parent: Strand | None) -> None:
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
        self.trail = Trail(mark, shared)

    def note(self, about: About) -> None:
        """Learn more about it."""
        self.about = merged(self.about, about)

    def mark_of(self, key: str) -> str:
        """Return the mark of a message that the strand tells or shares."""
        step = self.trail.step(key)
        if step is not None:
            return step.mark
        return BEGINNING if self.parent is None else self.parent.mark_of(key)

    def reference(self, key: str) -> Entry | None:
        """Return the stored message of a key, without what it says; None when it is unknown."""
        step = self.trail.step(key)
        if step is None:
            return None if self.parent is None else self.parent.reference(key)
        match self.state:
            case Landing() as landing:
                return landing.entry(step.number) or landing.shelf.place_of(step.mark)
            case Seeking(shelf=shelf):
                return shelf.place_of(step.mark)
            case _:
                return None

    def references(self, keys: Sequence[str]) -> tuple[Entry, ...]:
        """Return the stored messages of keys, each once; a key that nobody told is passed over."""
        found = (self.reference(key) for key in dict.fromkeys(keys))
        return tuple(entry for entry in found if entry is not None)


def sane(at: int | None) -> int | None:
    """Return a time if it has a date; files hold any number."""
    return at if at is not None and 0 <= at <= LATEST else None
