"""What Kimi's model sees, followed by the names of messages alone.

Kimi counts its history in messages, of which a step of the model is one however many lines it
takes, so what a compaction or an undo leaves can be told from the lines only by counting along.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Kept", "Window"]


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


class Window:
    """Follows the history of one agent."""

    def __init__(self) -> None:
        """See nothing yet."""
        self._system: list[str] = []
        self._slots: list[_Slot] = []
        self._steps: dict[str, _Slot] = {}
        self._floor = 0
        """No undo goes back behind this slot."""

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

    def add(self, key: str, *, is_prompt: bool = False) -> None:
        """Add a message of one line."""
        self._slots.append(_Slot(is_prompt, [key]))

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
        del self._slots[prompts[-count] :]
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
