"""What Kimi's model sees, followed by the names of messages alone.

Kimi counts its history in messages, of which a step of the model is one however many lines it
takes, so what a compaction or an undo leaves can be told from the lines only by counting along.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.formats.source import Record

__all__ = ["Exchange", "Kept", "Window"]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a compaction says that it left."""

    compacted: int
    """How many messages were summed up, counted from the first."""
    users: int | None = None
    """How many of the user's messages stay; None where everything after the others does."""
    first: int = 0
    """How many of them are the oldest; the rest are the newest."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """One message of the history, and the lines that it was told in."""

    is_prompt: bool
    keys: list[str] = field(default_factory=list[str])
    name: str = ""
    """The id of the message, where it has one."""
    owner: str = ""
    """The id of the prompt that it was put before."""


class Exchange:
    """Calls that wait for their results: what is said meanwhile comes after them.

    Kimi writes a message down when it is said and gives it to the model when every result is in, so
    that no message stands between a call and its result.
    """

    def __init__(self) -> None:
        """Wait for nothing."""
        self._open: set[str] = set()
        self._held: list[tuple[Record, str]] = []

    @property
    def is_open(self) -> bool:
        """Say whether a result is still to come."""
        return bool(self._open)

    def call(self, call: str) -> None:
        """Wait for the result of a call."""
        self._open.add(call)

    def answer(self, call: str) -> None:
        """Have the result of a call."""
        self._open.discard(call)

    def hold(self, record: Record, key: str) -> None:
        """Let a message wait."""
        self._held.append((record, key))

    def release(self, *, at_once: bool = False) -> list[tuple[Record, str]]:
        """Return what waited long enough; all of it, where no result will come any more."""
        if at_once:
            self._open.clear()
        if self._open:
            return []
        held, self._held = self._held, []
        return held


class Window:
    """Follows the history of one agent."""

    def __init__(self) -> None:
        """See nothing yet."""
        self._system: list[str] = []
        self._slots: list[_Slot] = []
        self._steps: dict[str, _Slot] = {}
        self._floor = 0
        """No undo goes back behind this slot."""
        self.trigger = ""
        """What set off the compaction that is under way."""

    @property
    def shows(self) -> tuple[str, ...]:
        """Return the names of what the model sees, in its order."""
        return (*self._system, *(key for slot in self._slots for key in slot.keys))

    @property
    def is_instructed(self) -> bool:
        """Say whether there is a system prompt."""
        return bool(self._system)

    def instruct(self, key: str) -> None:
        """Put the system prompt before everything else."""
        self._system = [key]

    def add(self, key: str, *, is_prompt: bool = False, name: str = "", owner: str = "") -> None:
        """Add a message of one line.

        Args:
            key: What it is called here.
            is_prompt: Whether Kimi takes it for the user's own.
            name: What Kimi calls it.
            owner: What Kimi calls the prompt that it goes with, when it is a note before one.
        """
        self._slots.append(_Slot(is_prompt, [key], name, owner))

    def begin_step(self, step: str) -> None:
        """Add an answer of the model that its lines are still to come of."""
        self._steps = {step: _Slot(is_prompt=False)}
        self._slots.append(self._steps[step])

    def add_to_step(self, step: str, key: str) -> None:
        """Add a line to an answer."""
        if step not in self._steps:
            self.begin_step(step)
        self._steps[step].keys.append(key)

    def clear(self) -> None:
        """Forget everything but the system prompt."""
        self._slots = []
        self._steps = {}
        self._floor = 0

    def undo(self, count: int) -> bool:
        """Take the last prompts back with all that followed; say whether there were as many."""
        prompts = [
            place
            for place, slot in enumerate(self._slots)
            if slot.is_prompt and place >= self._floor
        ]
        if not 0 < count <= len(prompts):
            return False
        cut = prompts[-count]
        name = self._slots[cut].name
        # A note that was put before a prompt goes with it.
        while name and cut > self._floor and self._slots[cut - 1].owner == name:
            cut -= 1
        del self._slots[cut:]
        self._steps = {}
        return True

    def fold(self, summary: str, kept: Kept) -> None:
        """Leave what a compaction left, with its summary."""
        slot = _Slot(is_prompt=False, keys=[summary])
        if kept.users is None:
            self._slots = [slot, *self._slots[kept.compacted :]]
        else:
            prompts = [each for each in self._slots if each.is_prompt]
            first = min(kept.first, len(prompts))
            newest = max(first, len(prompts) - (kept.users - first))
            self._slots = [*prompts[:first], *prompts[newest:], slot]
        self._steps = {}
        self._floor = len(self._slots)
