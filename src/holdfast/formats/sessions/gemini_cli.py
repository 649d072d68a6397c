"""Reads Gemini CLI chats: one JSON object, or in later releases a message a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.document import Format
from holdfast.formats.loose import as_json, mapping, mappings, sequence, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, contents
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record
    from holdfast.transcript import Content, Part

__all__ = ["GEMINI_CLI"]

_FAILED = frozenset(["error", "cancelled"])


def _recognize(records: Sequence[Record]) -> str:
    for record in records:
        entry = mapping(record.value)
        if "sessionId" not in entry:
            continue
        if "projectHash" in entry:
            return "a session with a project hash"
        if any(each.get("type") == "gemini" for each in mappings(entry.get("messages"))):
            return "a session with messages of type gemini"
    return ""


def _read(records: Sequence[Record]) -> Reading:
    # A message is appended again when it grows: the newest version stands at its first place.
    versions: dict[str, tuple[int, Mapping[str, object]]] = {}
    for line, entry in _entries(records):
        key = string(entry.get("id")) or f"{len(versions)} without id"
        first, _ = versions.get(key, (line, entry))
        versions[key] = (first, entry)
    said: list[Said] = []
    for line, entry in versions.values():
        match entry.get("type"):
            case "user":
                said.append(Said(line, Message(Role.USER, contents(entry.get("content")))))
            case "gemini":
                said.append(Said(line, Message(Role.ASSISTANT, tuple(_parts(entry)))))
                said.append(Said(line, Message(Role.TOOL, tuple(_results(entry)))))
            case _:
                continue
    return arrange(said)


def _entries(records: Sequence[Record]) -> Iterator[tuple[int, Mapping[str, object]]]:
    for record in records:
        entry = mapping(record.value)
        if "messages" in entry:
            for message in mappings(entry["messages"]):
                yield record.line, message
        else:
            yield record.line, entry


def _parts(entry: Mapping[str, object]) -> Iterator[Part]:
    for thought in mappings(entry.get("thoughts")):
        told = (string(thought.get("subject")), string(thought.get("description")))
        yield Thinking("\n".join(filter(None, told)))
    yield from contents(entry.get("content"))
    for call in mappings(entry.get("toolCalls")):
        call_id, name = string(call.get("id")), string(call.get("name"))
        yield ToolCall(call_id, name, as_json(call.get("args")))


def _results(entry: Mapping[str, object]) -> Iterator[ToolResult]:
    for call in mappings(entry.get("toolCalls")):
        content = tuple(_answer(call))
        if content:
            failed = string(call.get("status")) in _FAILED
            call_id, name = string(call.get("id")), string(call.get("name"))
            yield ToolResult(call_id, content, is_error=failed, name=name)


def _answer(call: Mapping[str, object]) -> Iterator[Content]:
    for part in sequence(call.get("result")):
        response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        told = response.get("output", response.get("error"))
        if response:
            yield Text(told if isinstance(told, str) else as_json(dict(response)))
        else:
            yield from contents([part])


GEMINI_CLI = SessionReader(
    Format("gemini-cli", "Gemini CLI chat, JSON or JSONL", "gemini", writable=False),
    _recognize,
    _read,
)
