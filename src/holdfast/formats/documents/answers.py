"""Whole answers of the Responses API that a loop kept among the items of its conversation.

The API takes items, so an answer stands for its items; what it says about itself, its id, its
model and what it cost, goes with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Native, with_native
from holdfast.formats.litellm import tokens_in
from holdfast.formats.loose import is_object, mapping, sequence, string
from holdfast.formats.moments import moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.transcript import Transcript

__all__ = ["items_of", "told_by", "with_answers"]


def items_of(answer: Mapping[str, object]) -> list[dict[str, object]]:
    """Return the items of an answer."""
    return [item for item in sequence(answer.get("output")) if is_object(item)]


def told_by(answer: Mapping[str, object]) -> Native:
    """Return what an answer says about itself, and what mini-swe-agent wrote beside it."""
    extra, usage = mapping(answer.get("extra")), mapping(answer.get("usage"))
    return Native(
        reply=string(answer.get("id")),
        model=string(answer.get("model")),
        usage=tokens_in(usage, extra.get("cost") or usage.get("cost")),
        at=moment(extra.get("timestamp")) or moment(answer.get("created_at")),
    )


def with_answers(transcript: Transcript, natives: Mapping[int, Native], first: int) -> Transcript:
    """Return messages with what the answers that they came from say.

    Args:
        transcript: One message an item, below what stands beside the items.
        natives: What is known of an item, by its place.
        first: The place of the first item among the messages.
    """
    if not natives:
        return transcript
    return tuple(
        with_native(message, natives[place]) if place in natives else message
        for place, message in enumerate(transcript, -first)
    )
