"""What a message of Gemini CLI says, and what of it is new when it is written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.loose import as_json, is_array, mapping, mappings, sequence, string
from holdfast.formats.sessions.decoding import decoded
from holdfast.formats.sessions.figures import count
from holdfast.formats.sessions.reader import contents, words
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.transcript import Content, Part

__all__ = ["Growth", "is_snapshot", "usage_of"]

_FAILED = frozenset(["error", "cancelled"])
_SNAPSHOT = "<state_snapshot>"
_NEAR = 200
"""A snapshot may stand below a sentence that introduces it."""


class Growth:
    """How much of a message was told."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.is_paid = False
        self.is_summary = False
        """Whether it stands for what was compressed."""
        self.speaker = ""
        """Who said it, as Gemini CLI calls them."""
        self._thoughts = 0
        self._content: int | None = None
        self._calls: set[str] = set()
        self._answered: set[str] = set()

    def added(self, entry: Mapping[str, object]) -> list[Message]:
        """Return what is new in a version of the message: what was said, the calls, the results.

        Words are written first and the calls of the same answer when they are done, so each is a
        message of its own: what was told of a file stays told when it grows.
        """
        self.speaker = string(entry.get("type"))
        role = Role.USER if self.speaker == "user" else Role.ASSISTANT
        pieces: tuple[tuple[Role, tuple[Part, ...]], ...] = (
            (role, tuple(self._said(entry, role))),
            (role, tuple(self._made(entry))),
            (Role.TOOL, tuple(self._results(entry))),
        )
        return [Message(speaker, parts) for speaker, parts in pieces if parts]

    def _said(self, entry: Mapping[str, object], role: Role) -> Iterator[Part]:
        thoughts = mappings(entry.get("thoughts"))
        for thought in thoughts[self._thoughts :]:
            told = (string(thought.get("subject")), string(thought.get("description")))
            yield Thinking("\n".join(filter(None, told)))
        self._thoughts = max(self._thoughts, len(thoughts))
        content = entry.get("content") or entry.get("parts")
        told_before, self._content = self._content, hash(as_json(content)) if content else None
        if content and self._content != told_before:
            yield from (part for part in _parts(content, role) if not self._is_known(part))

    def _made(self, entry: Mapping[str, object]) -> Iterator[ToolCall]:
        for call in mappings(entry.get("toolCalls")):
            made = ToolCall(
                string(call.get("id")), string(call.get("name")), as_json(call.get("args"))
            )
            if not self._is_known(made):
                yield made

    def _is_known(self, part: Part) -> bool:
        """Say whether a call was told before; from here on it was."""
        if not isinstance(part, ToolCall):
            return False
        known = part.id in self._calls
        self._calls.add(part.id)
        return known

    def _results(self, entry: Mapping[str, object]) -> Iterator[ToolResult]:
        for call in mappings(entry.get("toolCalls")):
            call_id, name = string(call.get("id")), string(call.get("name"))
            content = tuple(_answer(call))
            if content and call_id not in self._answered:
                self._answered.add(call_id)
                failed = string(call.get("status")) in _FAILED
                yield ToolResult(call_id, content, is_error=failed, name=name)


def is_snapshot(entry: Mapping[str, object]) -> bool:
    """Say whether a message is what Gemini CLI puts in the place of what it compressed."""
    said = entry.get("content")
    text = said if isinstance(said, str) else words(said)
    return entry.get("type") == "user" and _SNAPSHOT in text[:_NEAR]


def usage_of(entry: Mapping[str, object]) -> Usage | None:
    """Return what an answer cost: what was sent counts what came from the cache as well."""
    tokens = mapping(entry.get("tokens"))
    if not tokens:
        return None
    read = count(tokens.get("cached"))
    sent = count(tokens.get("input")) + count(tokens.get("tool"))
    wrote = count(tokens.get("output")) + count(tokens.get("thoughts"))
    return Usage(1, max(0, sent - read), wrote, read)


def _parts(content: object, role: Role) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),)
    listed = content if is_array(content) else [content]
    speaker = "user" if role is Role.USER else "model"
    parts = [{"text": part} if isinstance(part, str) else part for part in listed]
    found = decoded("gemini", {"role": speaker, "parts": parts})
    if isinstance(found, str):
        return contents(listed)
    # A result stands with its call as well, and is told there.
    whole = (part for message in found for part in message.parts)
    return tuple(part for part in whole if not isinstance(part, ToolResult))


def _answer(call: Mapping[str, object]) -> Iterator[Content]:
    for part in sequence(call.get("result")):
        response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        told = response.get("output", response.get("error"))
        if response:
            yield Text(told if isinstance(told, str) else as_json(dict(response)))
        else:
            yield from contents([part])
