"""One message in full, every part of it in words."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, assert_never

from holdfast.cli.lines import Line, Span
from holdfast.cli.speakers import origin_of, speaker_of
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
    from collections.abc import Iterator, Mapping

    from holdfast.session import Entry
    from holdfast.transcript import Message, Part

__all__ = ["full_text", "message_drawn", "sealed"]

_NO_NAMES: Mapping[str, str] = MappingProxyType({})


def message_drawn(
    entry: Entry, message: Message, names: Mapping[str, str] = _NO_NAMES
) -> list[Line]:
    """Return a heading with what is known of the message, then all of it.

    Args:
        entry: The message as the log has it.
        message: The message as it is to be shown.
        names: The names of calls by their ids, where results do not carry them.
    """
    speaker = " ".join(filter(None, (speaker_of(message), origin_of(message))))
    marks = [f"message {entry.id} of session {entry.session}", clock_time(entry.at)]
    marks += ["pinned"] if message.pinned else []
    marks += ["made by a compaction"] if entry.kind else []
    marks += [f"role {message.role}"] if speaker != message.role else []
    lines: list[Line] = [(Span(speaker, "bold"), Span(f": {', '.join(marks)}", "dim"))]
    if entry.shortened and message == entry.message:
        lines.append((Span("shown in part; --whole shows all of it", "yellow"),))
    return [*lines, (), *((Span(line),) for line in full_text(message, names).splitlines())]


def full_text(message: Message, names: Mapping[str, str] = _NO_NAMES) -> str:
    """Return everything in the message as text; images and opaque items are named."""
    return "\n\n".join(words for part in message.parts for words in _words(part, names))


def sealed(item: Opaque) -> str:
    """Return what to say of a provider's item that has no words for anybody else."""
    return f"{item.value.get('type', 'item')} that only its provider can read"


def _words(part: Part, names: Mapping[str, str]) -> Iterator[str]:
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
            pieces = (words for piece in part.content for words in _words(piece, names))
            name = part.name or names.get(part.call_id) or "call"
            yield "\n".join((f"[{kind} of {name} {part.call_id}]", "\n\n".join(pieces)))
        case Media():
            where = "" if part.url.startswith("data:") else f" {part.url}"
            yield f"[{part.kind}{where}]"
        case Opaque():
            yield part.readable or f"[{sealed(part)}]"
        case _:
            assert_never(part)


def _laid_out(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments
