"""Counts what a transcript is made of: tokens by kind of content, in all and in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from holdfast.tokens import IMAGE_TOKENS, MESSAGE_TOKENS, Scale, load_of
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.tokens import Load
    from holdfast.transcript import Part, Transcript

__all__ = ["Census", "Kind", "take_census"]


class Kind(StrEnum):
    """A kind of content, in the order in which the map stacks them."""

    SYSTEM = "system"
    SUMMARY = "summary"
    MEMORY = "recalled"
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    CALLS = "tool calls"
    RESULTS = "tool results"
    IMAGES = "images"


@dataclass(frozen=True, slots=True)
class Census:
    """What is in a transcript."""

    weights: tuple[int, ...]
    """The tokens of each message."""
    pieces: tuple[tuple[tuple[Kind, int], ...], ...]
    """For each message, its content in order: the kind and its tokens."""
    roles: Mapping[str, int]
    load: Load

    @property
    def tokens(self) -> int:
        """Return the tokens of everything."""
        return self.load.tokens

    @property
    def kinds(self) -> dict[Kind, int]:
        """Return the tokens of each kind that is present, in the order of the map."""
        found = Counter[Kind]()
        for pieces in self.pieces:
            for kind, tokens in pieces:
                found[kind] += tokens
        return {kind: found[kind] for kind in Kind if found[kind]}


def take_census(transcript: Transcript, scale: Scale) -> Census:
    """Return what the transcript is made of, as the scale weighs it."""
    return Census(
        weights=tuple(map(scale.weigh, transcript)),
        pieces=tuple(tuple(_pieces(message, scale)) for message in transcript),
        roles=Counter(str(message.role) for message in transcript),
        load=load_of(transcript, scale),
    )


def _pieces(message: Message, scale: Scale) -> Iterator[tuple[Kind, int]]:
    left = scale.weigh(message)
    for part in message.parts:
        images = _images(part)
        if images:
            yield Kind.IMAGES, images
        tokens = scale.weigh(Message(message.role, (part,))) - MESSAGE_TOKENS - images
        left -= images + tokens
        if tokens:
            yield _kind(part, message.role), tokens
    if left:
        # Role and separators around the parts.
        yield _SPEAKERS[message.role], left


def _images(part: Part) -> int:
    content = part.content if isinstance(part, ToolResult) else (part,)
    return IMAGE_TOKENS * sum(isinstance(piece, Media) for piece in content)


def _kind(part: Part, role: Role) -> Kind:
    match part:
        case Text() | Opaque():
            return _SPEAKERS[role]
        case Thinking():
            return Kind.THINKING
        case ToolCall():
            return Kind.CALLS
        case ToolResult():
            return Kind.RESULTS
        case Media():
            return Kind.IMAGES
        case Summary():
            return Kind.SUMMARY
        case Recalled():
            return Kind.MEMORY
        case _:
            assert_never(part)


_SPEAKERS = {
    Role.SYSTEM: Kind.SYSTEM,
    Role.USER: Kind.USER,
    Role.ASSISTANT: Kind.ASSISTANT,
    Role.TOOL: Kind.RESULTS,
}
