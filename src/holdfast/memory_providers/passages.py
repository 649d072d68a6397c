"""Words cut into passages: small enough that one vector can say what they are about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["LONGEST", "passages"]

LONGEST = 800
"""Characters of a passage: about the 256 tokens that the model reads."""
_SHORTEST = 8
_BLANK_LINES = re.compile(r"\n\s*\n")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n")


def passages(text: str) -> tuple[str, ...]:
    """Return the text in passages that end where a paragraph, a sentence or a word does.

    Words too few to mean anything by themselves, such as `ok`, make no passage.
    """
    packed = _packed(_pieces(text))
    return tuple(each for each in packed if len(each) >= _SHORTEST)


def _pieces(text: str) -> Iterator[str]:
    """Yield the largest pieces that fit: paragraphs, else sentences, else words, else signs."""
    for paragraph in _BLANK_LINES.split(text.strip()):
        if len(paragraph) <= LONGEST:
            yield paragraph.strip()
            continue
        for sentence in _SENTENCES.split(paragraph):
            yield from _fitting(sentence.strip())


def _fitting(sentence: str) -> Iterator[str]:
    while len(sentence) > LONGEST:
        gap = sentence.rfind(" ", LONGEST // 2, LONGEST)
        cut = gap if gap > 0 else LONGEST
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    yield sentence


def _packed(pieces: Iterable[str]) -> Iterator[str]:
    """Yield neighbors together as long as they fit."""
    held = ""
    for piece in filter(None, pieces):
        joined = f"{held}\n{piece}" if held else piece
        if len(joined) > LONGEST:
            yield held
            joined = piece
        held = joined
    if held:
        yield held
