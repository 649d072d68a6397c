"""A transcript drawn as one line a message, for tests, terminals and diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from holdfast.transcript.parts import (
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
    from collections.abc import Sequence

    from holdfast.transcript.parts import Message, Part

__all__ = ["one_line", "shape"]


def shape(transcript: Sequence[Message], width: int = 60) -> str:
    """Draw the transcript: position, speaker, and the beginning of what was said."""
    digits = max(2, len(str(len(transcript) - 1)))
    return "\n".join(
        f"{index:0{digits}d} {message.role:<9} {one_line(message, width)}".rstrip()
        for index, message in enumerate(transcript)
    )


def one_line(message: Message, width: int = 60) -> str:
    """Return the message as one line of at most `width` characters."""
    line = " | ".join(filter(None, (_sketch(part, width) for part in message.parts)))
    return line if len(line) <= width else line[: max(width - 1, 1)] + "…"


def _sketch(part: Part, width: int) -> str:
    match part:
        case Text(text=text):
            return _flat(text, width)
        case Thinking():
            return "(thinking)"
        case ToolCall(name=name, arguments=arguments):
            return f"-> {name} {_flat(arguments, width)}"
        case ToolResult(is_error=is_error):
            return f"{'error' if is_error else 'result'}: {_flat(part.text, width)}"
        case Media(kind=kind):
            return f"[{kind}]"
        case Summary(text=text):
            return f"[summary] {_flat(text, width)}"
        case Recalled(text=text):
            return f"[recalled] {_flat(text, width)}"
        case Opaque(value=value):
            return f"[{value.get('type', 'opaque')}]"
        case _:
            assert_never(part)


def _flat(text: str, width: int) -> str:
    # Only the beginning can show, so a megabyte is not split into words for one line.
    return " ".join(text[: width * 4].split())
