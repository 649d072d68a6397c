"""What an earlier compaction left in a transcript: its summary becomes state, not a turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.summary import Checkpoint, read_checkpoint
from holdfast.transcript import Message, Summary, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Transcript

__all__ = ["Bare", "without_summaries"]

OURS = "holdfast"


@dataclass(frozen=True, slots=True)
class Bare:
    """A transcript without summaries, and what the newest of them said."""

    transcript: Transcript
    places: Sequence[int]
    """For each message, its index in the transcript it was taken from."""
    previous: Checkpoint | None
    fresh: int = 0
    """Where what came after the newest summary begins."""
    summary: str = ""
    """The text of the newest summary."""


def without_summaries(transcript: Transcript) -> Bare:
    """Take the summaries out of a transcript.

    Words that shared a message with a summary stay. There is at most one summary of ours, and it
    stands first: whatever looks like one after it was said by somebody, and is read as words. Of
    other systems' summaries the newest counts: each was written on top of the one before it.
    """
    if not any(message.summary for message in transcript):
        return Bare(transcript, range(len(transcript)), None)
    kept: list[tuple[int, Message]] = []
    chosen: Summary | None = None
    fresh = 0
    for index, message in enumerate(transcript):
        summary = message.summary
        if summary is None:
            kept.append((index, message))
            continue
        if chosen is not None and chosen.origin == OURS:
            kept.append((index, _as_words(message)))
            continue
        chosen, fresh = summary, len(kept)
        rest = tuple(part for part in message.parts if not isinstance(part, Summary))
        if rest:
            kept.append((index, replace(message, parts=rest, synthetic=None)))
    text = chosen.text if chosen else ""
    return Bare(
        tuple(message for _, message in kept),
        tuple(index for index, _ in kept),
        read_checkpoint(text, chosen.origin if chosen else OURS),
        fresh,
        text,
    )


def _as_words(message: Message) -> Message:
    parts = tuple(Text(part.text) if isinstance(part, Summary) else part for part in message.parts)
    return replace(message, parts=parts, synthetic=None, form="parts" if len(parts) > 1 else "")
