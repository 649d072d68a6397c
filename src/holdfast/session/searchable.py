"""The words of a message that a search should find."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never, cast

import msgspec

from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.transcript import Message, Part

_read = msgspec.json.Decoder().decode


def searchable(message: Message) -> str:
    """Return everything a person could remember of a message, one piece a line.

    Arguments of calls are read as JSON, so that a line break inside them separates words.
    """
    parts = message.parts
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text  # most are that, and need no line breaks
    return "\n".join([words for part in parts for words in _words(part) if words])


def _words(part: Part) -> Iterator[str]:
    match part:
        case Text(text) | Thinking(text) | Summary(text):
            yield text
        case Recalled():
            # It was found in memory and will be again; nobody said it here.
            return
        case ToolCall():
            yield part.name
            yield from _leaves(part.arguments)
        case ToolResult():
            for piece in part.content:
                yield from _words(piece)
        case Opaque():
            yield part.readable
        case Media():
            yield "" if part.url.startswith("data:") else part.url
        case _:
            assert_never(part)


def _leaves(arguments: str) -> Iterator[str]:
    try:
        waiting: list[object] = [_value(arguments)]
    except (ValueError, RecursionError):
        yield arguments
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed(cast("dict[str, object]", value).values())
        elif isinstance(value, list):
            waiting += reversed(cast("list[object]", value))
        elif value is not None and not isinstance(value, bool):
            yield str(value)


def _value(arguments: str) -> object:
    try:
        return _read(arguments)
    except ValueError:
        # What is not a number, and half a pair of surrogates, are not for `msgspec`.
        return json.loads(arguments)
