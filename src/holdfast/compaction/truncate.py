"""Cut oversized tool results of the tail in the middle, when nothing else makes it fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.transcript import Message, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.tokens import Scale
    from holdfast.transcript import Content, Part, Transcript

__all__ = ["Truncated", "truncate"]

_SMALLEST = 120
"""No result is cut below this many tokens."""
_FRONT = 0.65


@dataclass(frozen=True, slots=True)
class Truncated:
    """Messages that fit, as far as their tool results allow, and how many results were cut."""

    messages: Transcript
    count: int


def truncate(messages: Sequence[Message], budget: int, scale: Scale) -> Truncated:
    """Cut the heaviest tool results until the messages weigh no more than the budget.

    Only tool results give way: the words of users and of the model are never truncated.
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
        kept[index] = _cut(kept[index], share)
        over -= before - scale.weigh(kept[index])
        count += 1
    return Truncated(tuple(kept), count)


def _cut(message: Message, share: float) -> Message:
    return replace(message, parts=tuple(_cut_part(part, share) for part in message.parts))


def _cut_part(part: Part, share: float) -> Part:
    if not isinstance(part, ToolResult):
        return part
    content: tuple[Content, ...] = tuple(
        replace(piece, text=_middle_out(piece.text, share)) if isinstance(piece, Text) else piece
        for piece in part.content
    )
    return replace(part, content=content)


def _middle_out(text: str, share: float) -> str:
    # The note itself costs about twenty tokens, so a little more than needed is taken out.
    room = int(len(text) * share * 0.9) - 80
    if room <= 0 or room >= len(text):
        return text if room >= len(text) else f"[{len(text):,} characters left out here]"
    front = int(room * _FRONT)
    back = room - front
    left_out = len(text) - room
    return f"{text[:front]}\n[... {left_out:,} characters left out here ...]\n{text[-back:]}"
