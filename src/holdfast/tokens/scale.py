"""What a message weighs: tokens, bytes on the wire, images.

A weight depends on the message alone, so it is computed once per message and kept; the cost of a
turn is then proportional to what is new.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.tokens.estimate import Counter, Estimator
from holdfast.transcript import (
    Media,
    Message,
    Recalled,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.transcript import Part

__all__ = [
    "BOUNDARY_IMAGE_TOKENS",
    "IMAGE_TOKENS",
    "MESSAGE_TOKENS",
    "SUMMARY_TOKENS",
    "Load",
    "Scale",
    "load_of",
    "weight_of",
]

IMAGE_TOKENS = 1_500
"""A flat price for an image in whole-transcript estimates."""
BOUNDARY_IMAGE_TOKENS = 1_600
"""The price in boundary decisions, a little conservative on purpose."""
MESSAGE_TOKENS = 4
"""Role and separators around each message."""
SUMMARY_TOKENS = 125
"""The prefix and the end marker that the wire puts around a summary."""
_RECALLED_TOKENS = 32
"""The tags and the note that the wire puts around recalled memory."""

_CALL_TOKENS = 8
_RESULT_TOKENS = 6
_SEALED_CHARACTERS_PER_TOKEN = 5
"""Encrypted reasoning is base64 of text: a third longer, at about four characters a token."""
_FIELD_BYTES = 40
"""Keys, quotes and braces around one part in JSON."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a transcript asks of a provider, in the three currencies that run out."""

    tokens: int = 0
    bytes: int = 0
    images: int = 0

    def __add__(self, other: Load) -> Load:
        """Add two loads."""
        return Load(
            self.tokens + other.tokens, self.bytes + other.bytes, self.images + other.images
        )


class Scale:
    """Weighs messages with a counter, remembering what it has weighed."""

    def __init__(
        self,
        counter: Counter | None = None,
        *,
        ratio: float = 1.0,
        image_tokens: int = IMAGE_TOKENS,
    ) -> None:
        """Use `counter` for words; `ratio` is what calibration learned from real usage."""
        self.counter: Counter = counter or Estimator()
        self.ratio = ratio
        self._image_tokens = image_tokens
        # The message is kept beside its weight, so that its id stays taken; a text likewise.
        self._known: dict[int, tuple[Message, int]] = {}
        self._counted: dict[int, tuple[str, int]] = {}

    def weigh(self, message: Message) -> int:
        """Return the tokens of one message."""
        known = self._known.get(id(message))
        if known is None:
            raw = weight_of(message, self._count, self._image_tokens)
            self._known[id(message)] = (message, raw)
        else:
            raw = known[1]
        return raw if self.ratio == 1.0 else round(raw * self.ratio)

    def total(self, messages: Iterable[Message]) -> int:
        """Return the tokens of many messages."""
        return sum(map(self.weigh, messages))

    def text(self, text: str) -> int:
        """Return the tokens of bare words; those of a weighed message are not counted again."""
        known = self._counted.get(id(text))
        raw = self.counter.count(text) if known is None else known[1]
        return raw if self.ratio == 1.0 else round(raw * self.ratio)

    def at(self, ratio: float) -> Scale:
        """Return a scale for another ratio that knows what this one has weighed so far."""
        scale = Scale(self.counter, ratio=ratio, image_tokens=self._image_tokens)
        scale._known, scale._counted = self._known.copy(), self._counted.copy()
        return scale

    def keep_only(self, messages: Iterable[Message]) -> None:
        """Forget the weights of all other messages, so that folded ones can be freed."""
        kept = {id(message): message for message in messages}
        # A copy, because other threads may go on weighing.
        known = self._known.copy()
        self._known = {key: pair for key, pair in known.items() if key in kept}
        self._counted = {}

    def _count(self, text: str) -> int:
        """Count the words of a part, which are wanted again when a summary is asked for."""
        tokens = self.counter.count(text)
        self._counted[id(text)] = (text, tokens)
        return tokens


def weight_of(
    message: Message, count: Callable[[str], int], image_tokens: int = IMAGE_TOKENS
) -> int:
    """Return the tokens of one message without remembering them.

    Args:
        message: The message.
        count: Counts the tokens of a text.
        image_tokens: The price of an image.
    """
    tokens = MESSAGE_TOKENS
    for part in message.parts:
        tokens += _part_weight(part, count, image_tokens)
    return tokens


def _part_weight(part: Part, count: Callable[[str], int], image_tokens: int) -> int:
    # Ordered by frequency and without patterns: this runs for every part of a transcript.
    if isinstance(part, Text):
        return count(part.text)
    if isinstance(part, ToolResult):
        tokens = _RESULT_TOKENS
        for piece in part.content:
            tokens += _part_weight(piece, count, image_tokens)
        return tokens
    if isinstance(part, ToolCall):
        return _CALL_TOKENS + len(part.name) // 4 + count(part.arguments)
    if isinstance(part, Recalled):
        return _RECALLED_TOKENS + count(part.text)
    if isinstance(part, Summary):
        return SUMMARY_TOKENS + count(part.text)
    if isinstance(part, Thinking):
        return count(part.text) if part.text else _sealed(part.signature or "")
    if isinstance(part, Media):
        return image_tokens
    return count(part.readable) + _sealed(json.dumps(part.value, default=str))


def load_of(messages: Iterable[Message], scale: Scale) -> Load:
    """Return tokens, approximate request bytes and images of the messages."""
    tokens = size = images = 0
    for message in messages:
        tokens += scale.weigh(message)
        size += _FIELD_BYTES
        for part in message.parts:
            part_size, part_images = _bulk(part)
            size += part_size
            images += part_images
    return Load(tokens, size, images)


def _sealed(text: str) -> int:
    return len(text) // _SEALED_CHARACTERS_PER_TOKEN


def _bulk(part: Part) -> tuple[int, int]:
    """Return the bytes of a part on the wire, and its images."""
    if isinstance(part, Text | Summary | Recalled):
        return _FIELD_BYTES + _bytes(part.text), 0
    if isinstance(part, ToolResult):
        bulks = [_bulk(piece) for piece in part.content]
        size = sum(size for size, _ in bulks)
        return 2 * _FIELD_BYTES + size, sum(images for _, images in bulks)
    if isinstance(part, ToolCall):
        return 2 * _FIELD_BYTES + len(part.name) + _bytes(part.arguments), 0
    if isinstance(part, Thinking):
        return _FIELD_BYTES + _bytes(part.text) + len(part.signature or ""), 0
    if isinstance(part, Media):
        return _FIELD_BYTES + len(part.data) + len(part.url), int(part.kind == "image")
    return len(json.dumps(part.value, default=str)), 0


def _bytes(text: str) -> int:
    # A str knows in constant time whether it is ASCII; only other texts must be encoded.
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
