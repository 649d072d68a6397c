"""Put placeholders where historical media was: images are the heaviest thing in a window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.transcript import (
    Media,
    Message,
    Part,
    Role,
    Text,
    ToolResult,
    exchange_at,
    newest_user,
)

if TYPE_CHECKING:
    from holdfast.transcript import Content, Transcript

__all__ = ["WithoutMedia", "without_old_media"]


@dataclass(frozen=True, slots=True)
class WithoutMedia:
    """A transcript, message for message, and how many pieces of media left it."""

    transcript: Transcript
    count: int


def without_old_media(transcript: Transcript) -> WithoutMedia:
    """Put a placeholder where historical media was.

    What stays is the media of the newest user message that carries any, and what tools showed
    last in the turn that is still running.
    """
    showing = [index for index, message in enumerate(transcript) if _shows(message)]
    current = _current(transcript, showing)
    stale = [index for index in showing if index not in current and not transcript[index].pinned]
    if not stale:
        return WithoutMedia(transcript, 0)
    result = [*transcript]
    for index in stale:
        parts = tuple(_replaced(part) for part in transcript[index].parts)
        result[index] = replace(transcript[index], parts=parts)
    count = sum(_count(part) for index in stale for part in transcript[index].parts)
    return WithoutMedia(tuple(result), count)


def _current(transcript: Transcript, showing: list[int]) -> frozenset[int]:
    by_users = [index for index in showing if transcript[index].role is Role.USER]
    running = newest_user(transcript) or 0
    by_tools = [index for index in showing if index > running and transcript[index].results]
    if by_tools:
        # Results of parallel calls stand side by side and are seen together.
        newest = exchange_at(transcript, by_tools[-1])
        by_tools = [index for index in by_tools if index in newest]
    return frozenset([*by_users[-1:], *by_tools])


def _shows(message: Message) -> bool:
    for part in message.parts:
        if isinstance(part, Media):
            return True
        if isinstance(part, ToolResult):
            for piece in part.content:
                if isinstance(piece, Media):
                    return True
    return False


def _count(part: Part) -> int:
    if isinstance(part, ToolResult):
        return sum(isinstance(piece, Media) for piece in part.content)
    return int(isinstance(part, Media))


def _replaced(part: Part) -> Part:
    match part:
        case Media():
            return _placeholder(part)
        case ToolResult(content=content):
            shown: tuple[Content, ...] = tuple(
                _placeholder(piece) if isinstance(piece, Media) else piece for piece in content
            )
            return replace(part, content=shown)
        case _:
            return part


def _placeholder(media: Media) -> Text:
    size = f", {len(media.data) * 3 // 4 // 1024 + 1} kB" if media.data else ""
    kind = media.media_type or "of an earlier turn"
    return Text(f"[{media.kind} {kind}{size}: not in the window]")
