"""Tool outputs that are too large for the window: shown in part, stored whole, with a pointer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.compaction.prune import middle_out, pointer_to
from holdfast.session import MESSAGE_ID_MARK
from holdfast.transcript import Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.transcript import Content, Message

__all__ = ["shortened"]

_SMALLEST = 200
"""Characters that stay of an output, whatever its limit."""


def shortened(
    message: Message, limit: Callable[[str], int], count: Callable[[Message], int]
) -> Message | None:
    """Return the message with its oversized results cut in the middle, or nothing if all fit.

    Args:
        message: What tools answered.
        limit: The tokens that a tool's output may take, by the tool's name.
        count: The tokens of a message.
    """
    parts = tuple(
        _cut(part, message, limit(part.name), count) if isinstance(part, ToolResult) else part
        for part in message.parts
    )
    return None if parts == message.parts else replace(message, parts=parts)


def _cut(
    result: ToolResult, message: Message, limit: int, count: Callable[[Message], int]
) -> ToolResult:
    weight = count(replace(message, parts=(result,)))
    if weight <= limit:
        return result
    share = limit / weight
    content: tuple[Content, ...] = tuple(
        replace(piece, text=_shown(piece.text, share)) if isinstance(piece, Text) else piece
        for piece in result.content
    )
    return replace(result, content=content)


def _shown(text: str, share: float) -> str:
    # The pointer itself takes room; a little more than needed is left out.
    pointer = pointer_to(MESSAGE_ID_MARK)
    room = max(int(len(text) * share * 0.95) - len(pointer) - 40, _SMALLEST)
    return text if room >= len(text) else middle_out(text, room, pointer)
