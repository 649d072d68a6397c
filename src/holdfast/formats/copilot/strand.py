"""What the model of one conversation of Copilot CLI sees, and which answer it is giving.

A thought may stand in an event of its own, before the answer or after it, and in the answer too. A
stream may print an answer again as it grows. Each part is told once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Native
from holdfast.formats.figures import count
from holdfast.formats.loose import string
from holdfast.session import Usage
from holdfast.transcript import Message, Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.transcript import Part

__all__ = ["Strand"]


class Strand:
    """The messages of a conversation, by name."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self.since: list[str] | None = None
        """What was told since a compaction began; None while there is none."""
        self._prompt = ("", 0)
        """The newest instructions: their name, and a hash of what they say."""
        self._asked: list[str] = []
        """What the user said, which goes on being seen beside a summary."""
        self._window: list[str] = []
        self._reply = ""
        """The answer that was told last."""
        self._parts: list[Part] = []
        """What was told of that answer, or of a thought before the next one."""
        self._is_thinking = False
        """Whether a thought was told whose answer is still to come."""

    def is_known(self, message: Message) -> bool:
        """Say whether a message only repeats the instructions, as it does when a run begins."""
        return message.role is Role.SYSTEM and self._prompt[1] == hash(message.text)

    def take(self, key: str, message: Message) -> tuple[str, ...] | None:
        """Show one more message; returns all that is shown where it takes another's place."""
        if message.role is not Role.SYSTEM:
            self._window.append(key)
            if message.role is Role.USER:
                self._asked.append(key)
            if self.since is not None:
                self.since.append(key)
            return None
        (before, _), self._prompt = self._prompt, (key, hash(message.text))
        rest = [each for each in self._window if each != before]
        self._window = [key, *rest]
        return tuple(self._window) if before else None

    def fold(self, summary: str) -> tuple[str, ...]:
        """Show a summary with the instructions, the user's words and what came meanwhile."""
        since = self.since or []
        asked = [each for each in self._asked if each not in since]
        return self._show([*self._instructions, *asked, summary, *since])

    def clear(self) -> tuple[str, ...]:
        """Show nothing but the instructions."""
        self._asked = []
        return self._show(self._instructions)

    def rewind(self, target: str) -> tuple[str, ...] | None:
        """Show what came before a message; None for one that is not shown."""
        if target not in self._window:
            return None
        kept = self._window[: self._window.index(target)]
        self._asked = [each for each in self._asked if each in kept]
        return self._show(kept)

    def fresh(self, message: Message, event: Mapping[str, object]) -> Message:
        """Return what a message says that was not told with its answer before."""
        if message.role is not Role.ASSISTANT:
            self._parts = [] if message.role is Role.USER else self._parts
            return message
        is_thought, reply = "reasoningId" in event, string(event.get("messageId"))
        goes_on = is_thought or self._is_thinking or bool(reply and reply == self._reply)
        parts = message.parts
        if goes_on:
            parts = tuple(part for part in parts if part not in self._parts)
        if not is_thought:
            self._is_thinking = False
            self._parts = [*self._parts, *parts] if goes_on else list(parts)
        elif parts:
            self._is_thinking, self._parts = True, list(parts)
        return message if parts == message.parts else Message(message.role, parts)

    def answered(self, native: Native, event: Mapping[str, object]) -> Native:
        """Return what is known of an answer; its cost is told with the first of its messages."""
        is_thought = "reasoningId" in event
        reply = string(event.get("messageId")) or native.id
        wrote = 0 if is_thought or reply == self._reply else count(event.get("outputTokens"))
        self._reply = self._reply if is_thought else reply
        return Native(
            id=native.id,
            at=native.at,
            reply=reply,
            model=string(event.get("model")),
            usage=Usage(1, 0, wrote) if wrote else None,
        )

    @property
    def _instructions(self) -> list[str]:
        return [self._prompt[0]] if self._prompt[0] else []

    def _show(self, keys: list[str]) -> tuple[str, ...]:
        self._window, self.since = list(keys), None
        return tuple(keys)
