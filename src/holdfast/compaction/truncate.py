"""Cut oversized tool results of the tail in the middle, when nothing else makes it fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.transcript import Message, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.tokens import Scale
    from holdfast.transcript import Content, Part, Transcript

__all__ = ["Truncated", "middle_out", "pointer_to", "truncate"]

_SMALLEST = 120
"""No result is cut below this many tokens."""
_FRONT = 0.65
_NOT_STORED: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Truncated:
    """Messages that fit, as far as their tool results allow, and how many results were cut."""

    messages: Transcript
    count: int


def truncate(
    messages: Sequence[Message],
    budget: int,
    scale: Scale,
    stored: Mapping[str, int] = _NOT_STORED,
) -> Truncated:
    """Cut the heaviest tool results until the messages weigh no more than the budget.

    Only tool results give way: the words of users and of the model are never truncated.

    Args:
        messages: What has to fit.
        budget: What it may weigh, in tokens.
        scale: Weighs it.
        stored: Where the store has a result whole, as message ids by call id.
    """
    kept = list(messages)
    over = scale.total(kept) - budget
    candidates = sorted(
        (
            (scale.text(result.text), index)
            for index, message in enumerate(kept)
            for result in message.results
        ),
        reverse=True,
    )
    count = 0
    for weight, index in candidates:
        if over <= 0 or weight <= _SMALLEST:
            break
        share = max(weight - over, _SMALLEST) / weight
        before = scale.weigh(kept[index])
        kept[index] = _cut(kept[index], share, stored)
        over -= before - scale.weigh(kept[index])
        count += 1
    return Truncated(tuple(kept), count)


def middle_out(text: str, room: int, pointer: str = "") -> str:
    """Return the beginning and the end of a text, with a note of what was left out between.

    Args:
        text: The whole text.
        room: How many characters of it stay.
        pointer: Where the whole text is, as the end of a sentence.
    """
    front = int(room * _FRONT)
    note = f"[... {len(text) - room:,} characters left out here{pointer} ...]"
    return f"{text[:front]}\n{note}\n{text[len(text) - room + front :]}"


def pointer_to(message_id: int | str) -> str:
    """Return the words that tell a model how to get at a stored original."""
    return (
        f"; the store has all of it: session_search with around_message_id={message_id}"
        " and window=0"
    )


def _cut(message: Message, share: float, stored: Mapping[str, int]) -> Message:
    return replace(message, parts=tuple(_cut_part(part, share, stored) for part in message.parts))


def _cut_part(part: Part, share: float, stored: Mapping[str, int]) -> Part:
    if not isinstance(part, ToolResult):
        return part
    pointer = pointer_to(stored[part.call_id]) if part.call_id in stored else ""
    content: tuple[Content, ...] = tuple(
        replace(piece, text=_shortened(piece.text, share, pointer))
        if isinstance(piece, Text)
        else piece
        for piece in part.content
    )
    return replace(part, content=content)


def _shortened(text: str, share: float, pointer: str) -> str:
    # The note itself costs about twenty tokens, so a little more than needed is taken out.
    room = int(len(text) * share * 0.9) - 80 - len(pointer)
    if room <= 0:
        note = f"[{len(text):,} characters left out here{pointer}]"
        # What stands for a picture is as short as the note, and says more.
        return note if 2 * len(note) < len(text) else text
    return text if room >= len(text) else middle_out(text, room, pointer)
