"""Pieces of a text, ready for the question whether something stands inside one of them.

Thousands of names are looked up in each compaction. Most are a whole piece, which a set answers.
The others are searched for in the pieces that are longer than they are, and those are few.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Pieces", "stands"]


class Pieces:
    """Distinct pieces, none of which has a line break inside."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.whole = frozenset(pieces)
        self._joined = b"\n".join(sorted(self.whole, key=len, reverse=True))
        sizes = sorted(Counter(map(len, self.whole)).items(), reverse=True)
        # How far the pieces of at least each length reach, the shortest length first.
        reaches = accumulate((size + 1) * times for size, times in sizes)
        self._reaches = list(reaches)[::-1]
        self._sizes = [size for size, _ in reversed(sizes)]

    def __contains__(self, wanted: object) -> bool:
        if wanted in self.whole or not isinstance(wanted, bytes):
            return wanted in self.whole
        longer = bisect_right(self._sizes, len(wanted))
        return longer < len(self._sizes) and stands(self._joined, wanted, self._reaches[longer])


def stands(text: bytes, wanted: bytes, end: int) -> bool:
    """Say whether something stands in a text before `end`, and not inside of longer words."""
    first, last = _is_word(wanted[:1]), _is_word(wanted[-1:])
    at = text.find(wanted, 0, end)
    while at >= 0:
        after = at + len(wanted)
        inside = (first and at > 0 and _is_word(text[at - 1 : at])) or (
            last and _is_word(text[after : after + 1])
        )
        if not inside:
            return True
        at = text.find(wanted, at + 1, end)
    return False


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"
