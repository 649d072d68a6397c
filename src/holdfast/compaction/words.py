"""The words of messages as one text: what facts are looked for in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.transcript import Recalled, Summary, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.transcript import Message

__all__ = ["words_of"]


def words_of(messages: Iterable[Message]) -> str:
    """Return everything in the messages that a fact may stand in."""
    pieces: list[str] = []
    for message in messages:
        for part in message.parts:
            match part:
                case Text(text) | Summary(text) | Recalled(text) | ToolCall(arguments=text):
                    pieces.append(text)
                case ToolResult():
                    pieces.append(part.text)
                case _:
                    pass
    return "\n".join(pieces)
