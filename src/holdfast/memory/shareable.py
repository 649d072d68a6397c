"""What of a transcript a memory provider may see.

It is somebody else's service, perhaps on another machine: it gets words and what tools said,
without secrets, and nothing that memory itself brought in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.memory.skills import own_words
from holdfast.redaction.batches import redacting
from holdfast.transcript import Message, Role, Summary, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.transcript import Part, Transcript

__all__ = ["shareable"]


def shareable(messages: Transcript, redact: Callable[[str], str]) -> Transcript:
    """Return the messages with their words redacted; what is not words is left out.

    Recalled memory is left out as well: a provider that took it in would remember its own words.
    A system prompt is nobody's words in a conversation.
    """
    said = [message for message in messages if message.role is not Role.SYSTEM]
    masked = redacting((text for message in said for text in _texts(message)), redact)
    found: list[Message] = []
    for message in said:
        parts = tuple(_masked(message, masked))
        if parts:
            found.append(Message(message.role, parts))
    return tuple(found)


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text(text=text):
                yield own_words(text) if message.role is Role.USER else text
            case Summary(text=text):
                yield text
            case ToolCall(arguments=arguments):
                yield arguments
            case ToolResult(content=content):
                yield from (each.text for each in content if isinstance(each, Text))
            case _:
                pass


def _masked(message: Message, masked: Callable[[str], str]) -> Iterator[Part]:
    for part in message.parts:
        match part:
            case Text(text=text):
                yield Text(masked(own_words(text) if message.role is Role.USER else text))
            case Summary(text=text, origin=origin, claimed=claimed):
                yield Summary(masked(text), origin, claimed=claimed)
            case ToolCall(id=id_, name=name, arguments=arguments):
                yield ToolCall(id_, name, masked(arguments))
            case ToolResult(call_id=id_, content=content, is_error=is_error, name=name):
                texts = tuple(Text(masked(each.text)) for each in content if isinstance(each, Text))
                yield ToolResult(id_, texts, is_error, name)
            case _:
                pass
