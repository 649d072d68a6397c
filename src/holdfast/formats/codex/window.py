"""Follows what Codex shows to its model: the messages by name, and which belong to one answer.

A rollout names no parents: what a compaction or a rollback leaves follows from what stood in the
window before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.codex.items import is_prompt
from holdfast.transcript import Role, Thinking, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.transcript import Message

__all__ = ["Replies", "Window"]

_PROMPT = "prompt"
_CONTEXT = "context"
_ANSWER = "answer"
_SILENT = (Thinking, ToolCall)


class Window:
    """The names of the messages that the model sees, in order."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._kinds: dict[str, str] = {}
        self._shown: list[str] = []
        self.instructions: tuple[str, ...] = ()
        """The name of the prompt that stands beside every request, whatever is compacted."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return what is shown."""
        return tuple(self._shown)

    def add(self, key: str, message: Message) -> None:
        """Show one more message."""
        if is_prompt(message):
            kind = _PROMPT
        elif message.role in (Role.SYSTEM, Role.USER) and message.summary is None:
            kind = _CONTEXT
        else:
            kind = _ANSWER
        self._kinds[key] = kind
        self._shown.append(key)

    def show(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Show these messages and no others, and return those of them that were ever told."""
        self._shown = [key for key in dict.fromkeys(keys) if key in self._kinds]
        return tuple(self._shown)

    def without_answers(self) -> tuple[str, ...]:
        """Return what a compaction of the oldest kind leaves: instructions and prompts."""
        return tuple(key for key in self._shown if self._kinds[key] != _ANSWER)

    def prompts_after(self, place: int) -> int:
        """Return how many prompts are shown from a place on."""
        return sum(self._kinds[key] == _PROMPT for key in self._shown[place:])

    def without_turns(self, count: int) -> tuple[str, ...]:
        """Return what is left when the user takes the newest turns back.

        What stands before the first prompt stays. What was injected for a turn goes with it.
        """
        prompts = [at for at, key in enumerate(self._shown) if self._kinds[key] == _PROMPT]
        if count <= 0 or not prompts:
            return self.keys
        cut = prompts[-count] if count <= len(prompts) else prompts[0]
        while cut > prompts[0] and self._kinds[self._shown[cut - 1]] == _CONTEXT:
            cut -= 1
        return tuple(self._shown[:cut])


@dataclass(frozen=True, slots=True)
class _Reply:
    """An answer of the model while it goes on."""

    id: str
    has_words: bool
    has_calls: bool


class Replies:
    """Tells which messages are one answer: thoughts, words, and calls made together.

    An answer holds words once, because each spoken item has fields of its own.
    """

    def __init__(self) -> None:
        """Wait for the first answer."""
        self._open: _Reply | None = None
        self._count = 0

    def joins(self, message: Message) -> str:
        """Return the answer that a message of the model goes on with; nothing for a new one."""
        return self._joined(speaks=_speaks(message.parts))

    def _joined(self, *, speaks: bool) -> str:
        reply = self._open
        if reply is None or (speaks and (reply.has_words or reply.has_calls)):
            return ""
        return reply.id

    def take(self, message: Message, noted: object = None) -> str:
        """Return the answer that a message belongs to, and go on from there.

        Args:
            message: what was told.
            noted: the answer that the file says it belongs to; empty for one of its own.
        """
        if message.role is not Role.ASSISTANT:
            self.close()
            return ""
        speaks = _speaks(message.parts)
        joined = self._joined(speaks=speaks)
        if isinstance(noted, str) and noted != joined:
            self._open = None
            joined = noted
        before = self._open if joined else None
        self._count += not joined
        reply = joined or f"answer-{self._count}"
        self._open = _Reply(
            reply,
            has_words=speaks or (before is not None and before.has_words),
            has_calls=bool(message.calls) or (before is not None and before.has_calls),
        )
        return reply

    def close(self) -> None:
        """End the answer: what comes next begins another."""
        self._open = None


def _speaks(parts: Sequence[object]) -> bool:
    for part in parts:  # noqa: SIM110
        if not isinstance(part, _SILENT):
            return True
    return False
