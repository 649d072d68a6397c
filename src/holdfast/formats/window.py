"""Cuts a whole session down to what its model still saw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.transcript import Role

if TYPE_CHECKING:
    from holdfast.transcript import Transcript

__all__ = ["live"]


def live(transcript: Transcript) -> Transcript:
    """Return the transcript from its newest summary on, behind the system prompt.

    A session file keeps what stood before a compaction; the model does not see it any more.
    Without a summary the whole transcript is live.
    """
    newest = next(
        (place for place in range(len(transcript) - 1, -1, -1) if transcript[place].summary), None
    )
    if newest is None:
        return transcript
    prompt = 0
    while prompt < newest and transcript[prompt].role is Role.SYSTEM:
        prompt += 1
    return (*transcript[:prompt], *transcript[newest:])
