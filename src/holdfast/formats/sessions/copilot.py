"""Reads the event log of Copilot CLI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.document import Format
from holdfast.formats.loose import as_json, mapping, mappings, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, contents
from holdfast.transcript import Message, Role, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["COPILOT"]

_SIGNS = frozenset(["session.start", "user.message", "assistant.message"])


def _recognize(records: Sequence[Record]) -> str:
    for record in records:
        entry = mapping(record.value)
        if string(entry.get("type")) in _SIGNS and isinstance(entry.get("data"), dict):
            return f"an event of type {entry['type']}"
    return ""


def _read(records: Sequence[Record]) -> Reading:
    said: list[Said] = []
    for record in records:
        entry = mapping(record.value)
        event = mapping(entry.get("data"))
        # What a sub-agent said belongs to its own conversation.
        if event.get("parentToolCallId"):
            continue
        message = _message(string(entry.get("type")), event)
        if message is not None:
            said.append(Said(record.line, message))
    return arrange(said)


def _message(kind: str, event: Mapping[str, object]) -> Message | None:
    match kind:
        case "system.message":
            return Message(Role.SYSTEM, contents(event.get("content")))
        case "user.message":
            return Message(Role.USER, contents(event.get("content")))
        case "assistant.message":
            return Message(Role.ASSISTANT, tuple(_parts(event)))
        case "tool.execution_complete":
            return Message(Role.TOOL, (_result(event),))
        case _:
            return None


def _parts(event: Mapping[str, object]) -> Iterator[Part]:
    # The opaque form of a thought means something to Copilot's own service only.
    if thought := string(event.get("reasoningText")):
        yield Thinking(thought)
    yield from contents(event.get("content"))
    for call in mappings(event.get("toolRequests")):
        call_id, name = string(call.get("toolCallId")), string(call.get("name"))
        yield ToolCall(call_id, name, as_json(call.get("arguments")))


def _result(event: Mapping[str, object]) -> ToolResult:
    told = mapping(event.get("result")).get("content")
    failure = mapping(event.get("error")).get("message")
    return ToolResult(
        string(event.get("toolCallId")),
        contents(failure if told is None else told),
        is_error=event.get("success") is False,
    )


COPILOT = SessionReader(
    Format("copilot", "Copilot CLI events, JSONL", "openai", writable=False), _recognize, _read
)
