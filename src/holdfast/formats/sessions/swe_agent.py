"""Reads SWE-agent trajectories.

`history` is the conversation; the steps of `trajectory` repeat it, each with its whole prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.document import Format, Problem
from holdfast.formats.loose import as_json, mapping, mappings, sequence, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, contents, thought
from holdfast.transcript import Message, Role, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record
    from holdfast.transcript import Thinking

__all__ = ["SWE_AGENT"]


def _recognize(records: Sequence[Record]) -> str:
    for record in records:
        entry = mapping(record.value)
        past = mappings(entry.get("history"))
        if past and "trajectory" in entry and all("role" in each for each in past):
            return "an object with `trajectory` and a `history` of roles"
    return ""


def _read(records: Sequence[Record]) -> Reading:
    said: list[Said] = []
    problems: list[Problem] = []
    for record in records:
        for place, each in enumerate(sequence(mapping(record.value).get("history"))):
            message = _message(mapping(each))
            if message is None:
                problems.append(Problem(record.line, f"history[{place}] has no known role"))
            else:
                said.append(Said(record.line, message))
    return arrange(said, problems)


def _message(entry: Mapping[str, object]) -> Message | None:
    content = contents(entry.get("content"))
    match entry.get("role"):
        case "system":
            return Message(Role.SYSTEM, content)
        case "user":
            return Message(Role.USER, content)
        case "assistant":
            return Message(Role.ASSISTANT, (*_thinking(entry), *content, *_calls(entry)))
        case "tool":
            ids = [each for each in sequence(entry.get("tool_call_ids")) if isinstance(each, str)]
            return Message(Role.TOOL, tuple(ToolResult(each, content) for each in ids))
        case _:
            return None


def _thinking(entry: Mapping[str, object]) -> tuple[Thinking, ...]:
    return tuple(
        thought(string(block.get("thinking")), string(block.get("signature")))
        for block in mappings(entry.get("thinking_blocks"))
    )


def _calls(entry: Mapping[str, object]) -> tuple[ToolCall, ...]:
    found: list[ToolCall] = []
    for call in mappings(entry.get("tool_calls")):
        function = mapping(call.get("function"))
        name, arguments = string(function.get("name")), as_json(function.get("arguments"))
        found.append(ToolCall(string(call.get("id")), name, arguments))
    return tuple(found)


SWE_AGENT = SessionReader(
    Format("swe-agent", "SWE-agent trajectory, JSON", "openai", writable=False),
    _recognize,
    _read,
    apart=True,
)
