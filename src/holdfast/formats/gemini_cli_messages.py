"""What a message of Gemini CLI says, and what of it is new when it is written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.decoding import decoded
from holdfast.formats.figures import count
from holdfast.formats.loose import as_json, is_array, mapping, mappings, sequence, string
from holdfast.formats.session_reader import contents, words
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.transcript import Content, Part

__all__ = ["Growths", "is_snapshot", "usage_of"]

_FAILED = frozenset(["error", "cancelled"])
_SNAPSHOT = "<state_snapshot>"
_NEAR = 200
"""A snapshot may stand below a sentence that introduces it."""


class Growth:
    """How much of a message was told."""

    def __init__(self, answered: set[str]) -> None:
        """Nothing was told yet.

        Args:
            answered: The calls of the file whose results were told: each is written several times.
        """
        self.is_paid = False
        self.is_summary = False
        """Whether it stands for what was compressed."""
        self.speaker = ""
        """Who said it, as Gemini CLI calls them."""
        self._thoughts = 0
        self._words: set[int] = set()
        self._calls: set[str] = set()
        self._answered = answered

    def added(self, entry: Mapping[str, object]) -> list[Message]:
        """Return what is new in a version of the message: what was said, the calls, the results.

        Words are written first and the calls of the same answer when they are done, so each is a
        message of its own: what was told of a file stays told when it grows.
        """
        self.speaker = string(entry.get("type"))
        role = Role.USER if self.speaker == "user" else Role.ASSISTANT
        told = _parts(entry.get("content") or entry.get("parts"), role)
        thoughts, said = tuple(self._thought(entry)), tuple(self._said(told))
        made: tuple[Part, ...] = tuple(self._made(entry))
        if role is Role.USER:
            # Only a model thinks and calls, whoever a damaged line says has spoken.
            made, thoughts = (*thoughts, *made), ()
        pieces: tuple[tuple[Role, tuple[Part, ...]], ...] = (
            (role, (*thoughts, *said)),
            (Role.ASSISTANT, made),
            (Role.TOOL, tuple(self._results(entry, told))),
        )
        return [Message(speaker, parts) for speaker, parts in pieces if parts]

    def _thought(self, entry: Mapping[str, object]) -> Iterator[Part]:
        thoughts = mappings(entry.get("thoughts"))
        for thought in thoughts[self._thoughts :]:
            told = (string(thought.get("subject")), string(thought.get("description")))
            yield Thinking("\n".join(filter(None, told)))
        self._thoughts = max(self._thoughts, len(thoughts))

    def _said(self, told: Sequence[Part]) -> Iterator[Part]:
        """Return what no version of the message said; a chat that goes on repeats all of it."""
        before = frozenset(self._words)
        for part in told:
            if isinstance(part, ToolResult):
                continue
            if isinstance(part, ToolCall):
                if not self._is_known(part):
                    yield part
                continue
            words = hash(part.text if isinstance(part, Text) else repr(part))
            self._words.add(words)
            if words not in before:
                yield part

    def _made(self, entry: Mapping[str, object]) -> Iterator[ToolCall]:
        for call in mappings(entry.get("toolCalls")):
            made = ToolCall(
                string(call.get("id")), string(call.get("name")), as_json(call.get("args"))
            )
            if not self._is_known(made):
                yield made

    def _is_known(self, call: ToolCall) -> bool:
        """Say whether a call was told before; from here on it was."""
        known = call.id in self._calls
        self._calls.add(call.id)
        return known

    def _results(self, entry: Mapping[str, object], told: Sequence[Part]) -> Iterator[ToolResult]:
        for part in told:
            # It stands with its call as well, in most files.
            if isinstance(part, ToolResult) and part.call_id and part.call_id not in self._answered:
                self._answered.add(part.call_id)
                yield part
        for call in mappings(entry.get("toolCalls")):
            call_id, name = string(call.get("id")), string(call.get("name"))
            content = tuple(_answer(call))
            if content and call_id not in self._answered:
                self._answered.add(call_id)
                failed = string(call.get("status")) in _FAILED
                yield ToolResult(call_id, content, is_error=failed, name=name)


class Growths:
    """How much of each message of a file was told."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._growths: dict[str, Growth] = {}
        self._answered: set[str] = set()

    def known(self, id: str) -> Growth | None:  # noqa: A002
        """Return what was told of a message, if anything was."""
        return self._growths.get(id)

    def of(self, id: str) -> Growth:  # noqa: A002
        """Return what was told of a message; one without an id is never written again."""
        growth = self._growths.get(id) or Growth(self._answered)
        if id:
            self._growths[id] = growth
        return growth


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
        return (Text(content),) if content else ()
    if not content:
        return ()
    listed = content if is_array(content) else [content]
    speaker = "user" if role is Role.USER else "model"
    parts = [{"text": part} if isinstance(part, str) else part for part in listed]
    found = decoded("gemini", {"role": speaker, "parts": parts})
    if isinstance(found, str):
        return contents(listed)
    return tuple(part for message in found for part in message.parts)


def _answer(call: Mapping[str, object]) -> Iterator[Content]:
    for part in sequence(call.get("result")):
        response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        told = response.get("output", response.get("error"))
        if response:
            yield Text(told if isinstance(told, str) else as_json(dict(response)))
        else:
            yield from contents([part])
