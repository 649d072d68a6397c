"""One message in full, every part of it in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from holdfast.cli.lines import Line, Span
from holdfast.cli.times import clock_time
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

    from holdfast.session import Entry
    from holdfast.transcript import Message, Part

__all__ = ["full_text", "message_drawn"]


def message_drawn(entry: Entry, message: Message) -> list[Line]:
    """Return a heading with what is known of the message, then all of it."""
    marks = [f"message {entry.id} of session {entry.session}", clock_time(entry.at)]
    marks += ["pinned"] if message.pinned else []
    marks += ["made by a compaction"] if entry.kind else []
    lines: list[Line] = [(Span(str(message.role), "bold"), Span(f": {', '.join(marks)}", "dim"))]
    if entry.shortened and message == entry.message:
        lines.append((Span("shown in part; --whole shows all of it", "yellow"),))
    return [*lines, (), *((Span(line),) for line in full_text(message).splitlines())]


def full_text(message: Message) -> str:
    """Return everything in the message as text; images and opaque items are named."""
    return "\n\n".join(words for part in message.parts for words in _words(part))


def _words(part: Part) -> Iterator[str]:
    match part:
        case Text(text) | Summary(text):
            yield text
        case Recalled(text):
            yield f"[recalled from memory]\n{text}"
        case Thinking(text):
            yield f"[thinking]\n{text}"
        case ToolCall():
            yield f"-> {part.name} ({part.id})\n{_laid_out(part.arguments)}"
        case ToolResult():
            kind = "error" if part.is_error else "result"
            content = "\n\n".join(words for piece in part.content for words in _words(piece))
            yield f"[{kind} of {part.name or 'call'} {part.call_id}]\n{content}"
        case Media():
            where = "" if part.url.startswith("data:") else f" {part.url}"
            yield f"[{part.kind}{where}]"
        case Opaque():
            yield part.readable or f"[{part.value.get('type', 'opaque')}]"
        case _:
            assert_never(part)


def _laid_out(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments
