"""Who said what in a message: its words by voice, each cut to what is worth reading."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, cast

from holdfast.transcript.blocks import is_observation, shell_blocks
from holdfast.transcript.parts import Role, Summary, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.transcript.parts import Message

__all__ = ["Voice", "clipped", "spoken"]

_FRONT = 12_000
_BACK = 4_000
_DEEPEST = 8


class Voice(StrEnum):
    """How words came into a transcript."""

    ASKED = "asked"
    """By a user."""
    SAID = "said"
    """In an agent's prose."""
    CALLED = "called"
    """In the arguments of an agent's tool calls."""
    PRINTED = "printed"
    """In what tools answered."""
    GIVEN = "given"
    """In a system prompt."""
    KEPT = "kept"
    """In the summary of an earlier compaction."""


_PROSE = {
    Role.USER: Voice.ASKED,
    Role.ASSISTANT: Voice.SAID,
    Role.TOOL: Voice.PRINTED,
    Role.SYSTEM: Voice.GIVEN,
}


def spoken(message: Message) -> Iterator[tuple[Voice, str]]:
    """Yield the words of a message with their voice.

    Commands in a fenced block are the calls of agents that have no tool calls, and what such an
    agent gets back as a user message was printed.
    """
    for part in message.parts:
        match part:
            case Text(text=text):
                yield from _prose(message.role, clipped(text))
            case Summary(text=text):
                yield Voice.KEPT, text
            case ToolResult():
                yield Voice.PRINTED, clipped(part.text)
            case ToolCall(arguments=arguments):
                yield Voice.CALLED, "\n".join(_values(arguments))
            case _:
                pass


def clipped(text: str) -> str:
    """Return the text without the middle of a very long one."""
    if len(text) <= _FRONT + _BACK:
        return text
    return f"{text[:_FRONT]}\n{text[-_BACK:]}"


def _prose(role: Role, text: str) -> Iterator[tuple[Voice, str]]:
    voice = _PROSE[role]
    if role is Role.USER and is_observation(text):
        voice = Voice.PRINTED
    yield voice, text
    if role is Role.ASSISTANT:
        for command in shell_blocks(text):
            yield Voice.CALLED, command


def _values(arguments: str) -> Iterator[str]:
    """Yield the values of a call's arguments; their keys are the tool's words, not the agent's."""
    try:
        value: object = json.loads(arguments)
    except ValueError:
        value = arguments
    return _strings(value, 0)


def _strings(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield clipped(value)
    elif isinstance(value, (dict, list)) and depth < _DEEPEST:
        inner = cast("dict[str, object] | list[object]", value)
        for each in inner.values() if isinstance(inner, dict) else inner:
            if isinstance(each, str):
                yield clipped(each)
            else:
                yield from _strings(each, depth + 1)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
