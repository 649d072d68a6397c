"""Say which characters of a text are secret, and mask them all in one go.

Passes report spans and never touch the text: so each can be tested alone, two that see the
same secret do not mask it twice, and everything outside a span is untouched by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

HINTED_FROM = 18
"""Secrets of at least this many characters keep a hint; shorter ones would give too much away."""

MARKER = "[REDACTED]"
_KEY_MARKER = "[REDACTED PRIVATE KEY]"
_HINT = 4


class Mask(Enum):
    """How a span is rewritten."""

    HINT = "hint"
    """First and last four characters stay when the secret is long; whole otherwise."""
    WHOLE = "whole"
    """Nothing of it stays."""
    KEY_BLOCK = "key block"
    """A private key with its armor; nothing of it stays, and the marker says what it was."""


class SecretSpan(NamedTuple):
    """A half-open range of characters that must not leave.

    A named tuple, because thousands are made for a hostile line and it takes a third of the time.
    """

    start: int
    stop: int
    mask: Mask = Mask.HINT


@dataclass(frozen=True, slots=True)
class Masked:
    """A text after masking, and where its masks are."""

    text: str
    places: tuple[tuple[int, int], ...]


def mask_spans(text: str, spans: Iterable[SecretSpan]) -> Masked:
    """Return the text with every span masked; the rest is character for character the same.

    Overlapping spans are one secret, masked by the strongest mask among them.
    """
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    cursor = length = 0
    for start, stop, kind in _merged(spans):
        mask = masked(text[start:stop], kind)
        pieces += (text[cursor:start], mask)
        begin = length + start - cursor
        cursor, length = stop, begin + len(mask)
        places.append((begin, length))
    if not places:
        return Masked(text, ())
    pieces.append(text[cursor:])
    return Masked("".join(pieces), tuple(places))


def masked(secret: str, mask: Mask = Mask.HINT) -> str:
    """Return what stands for a secret."""
    if mask is Mask.KEY_BLOCK:
        return _KEY_MARKER
    if mask is Mask.WHOLE or len(secret) < HINTED_FROM:
        return MARKER
    return f"{secret[:_HINT]}...{secret[-_HINT:]}"


_STRENGTH = {Mask.HINT: 0, Mask.WHOLE: 1, Mask.KEY_BLOCK: 2}
_PLACE = itemgetter(0, 1)


def _merged(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    merged: list[SecretSpan] = []
    reached = 0
    for span in sorted(spans, key=_PLACE):
        start, stop, mask = span
        if start < reached:
            last = merged[-1]
            stronger = max(last.mask, mask, key=_STRENGTH.__getitem__)
            reached = max(reached, stop)
            merged[-1] = SecretSpan(last.start, reached, stronger)
        elif stop > start:
            merged.append(span)
            reached = stop
    return merged
