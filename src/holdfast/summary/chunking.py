"""Turns in chunks that fit the summarizer's window, by arithmetic before anything is sent.

A summary model with a small window must never lose turns, and a request must never be too long
exactly when the session is. Chunks part at seams; a piece too large for any request is itself
parted.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.summary.brief import Piece

__all__ = ["SAFETY", "Room", "allot", "answer_tokens", "chunks", "fits", "halves"]

SAFETY = 1.25
"""The counter may be this much too low and the request still fits."""

_ANSWER = 1.3
"""An answer may be this much longer than its target before it is cut off."""

_TURNS = (3 / 8, 1 / 4, 1 / 8)
"""Shares of the window that turns get at least; a smaller one only where no record fits else."""


@dataclass(frozen=True, slots=True)
class Room:
    """How a window is shared."""

    budget: int
    """Tokens of the record, the previous one and the one to be written."""
    material: int
    """Tokens of turns in one request."""


def allot(window: int, wanted: int, overhead: int, least: int) -> Room | None:
    """Share a window between instructions, previous record, turns and answer.

    The record shrinks where it has to; below `least` tokens there is no sense in asking.

    Args:
        window: What the summarizer accepts, its answer included.
        wanted: The budget of the record.
        overhead: Tokens of the instructions.
        least: The smallest budget that can hold a record.
    """
    for share in _TURNS:
        turns = max(int(window * share), 32)
        free = window - SAFETY * (overhead + turns) - 1
        budget = min(wanted, floor(free / (_ANSWER + SAFETY)))
        if budget >= least:
            material = floor((window - answer_tokens(budget)) / SAFETY) - overhead - budget
            return Room(budget, material)
    return None


def answer_tokens(budget: int) -> int:
    """Return how long the answer to a request for `budget` tokens may get."""
    return ceil(budget * _ANSWER)


def fits(tokens: int, budget: int, window: int) -> bool:
    """Say whether a prompt of `tokens` tokens and its answer fit the window."""
    return tokens * SAFETY + answer_tokens(budget) <= window


def chunks(
    groups: Sequence[Sequence[Piece]], mark: str, room: int, count: Callable[[str], int]
) -> tuple[str, ...]:
    """Return the turns as texts of at most `room` tokens each, in order, nothing left out."""
    found: list[str] = []
    texts: list[str] = []
    used = 0
    for unit, weight in _units(groups, mark, room, count):
        if texts and used + weight > room:
            found.append("\n\n".join(texts))
            texts, used = [], 0
        texts += unit
        used += weight
    return (*found, "\n\n".join(texts)) if texts else tuple(found)


def _units(
    groups: Sequence[Sequence[Piece]], mark: str, room: int, count: Callable[[str], int]
) -> Iterator[tuple[list[str], int]]:
    """Yield what must not be parted, as small as the room demands: groups, pieces, parts.

    Labels are weighed apart from words, because words were mostly weighed before.
    """
    labels = _Labels(mark, count)
    for group in groups:
        texts = [f"[{mark} {label}]\n{text}" for label, text in group]
        weights = [labels.weigh(label) + count(text) + 2 for label, text in group]
        weight = sum(weights)
        if weight <= room:
            yield texts, weight
            continue
        for piece, text, weight in zip(group, texts, weights, strict=True):
            if weight <= room:
                yield [text], weight
            else:
                yield from _parts(piece, mark, room, count)


class _Labels:
    """Weighs labels, once for all that differ in the number of their turn alone."""

    def __init__(self, mark: str, count: Callable[[str], int]) -> None:
        self._mark = mark
        self._count = count
        self._known: dict[tuple[int, str], int] = {}

    def weigh(self, label: str) -> int:
        """Return the tokens of a label as it stands above a piece."""
        number, _, words = label.partition(" ")
        alike = (len(number), words)
        weight = self._known.get(alike)
        if weight is None:
            weight = self._known[alike] = self._count(f"[{self._mark} {label}]\n")
        return weight


def _parts(
    piece: Piece, mark: str, room: int, count: Callable[[str], int]
) -> Iterator[tuple[list[str], int]]:
    label = f"[{mark} {piece.label}, part %d]\n"
    free = room - count(label % 999_999) - 4
    for number, text in enumerate(_slices(piece.text, free, count), 1):
        part = label % number + text
        yield [part], count(part) + 2


def _slices(text: str, tokens: int, count: Callable[[str], int]) -> Iterator[str]:
    """Yield consecutive slices of at most `tokens` tokens, or one character each at worst."""
    start, length = 0, max(tokens * 2, 1)
    while start < len(text):
        piece = text[start : start + length]
        while len(piece) > 1 and (weight := count(piece)) > tokens:
            length = max(min(len(piece) - 1, int(len(piece) * tokens / weight * 0.95)), 1)
            piece = text[start : start + length]
        end = _word_end(piece) if start + len(piece) < len(text) else len(piece)
        yield piece[:end]
        start += end
        # Dense text made the slices short; lighter text after it may fill them again.
        length = min(length * 2, max(tokens * 8, 1))


def _word_end(piece: str) -> int:
    """Return where to part a text: after a line or a word, if one ends in its second half."""
    for separator in ("\n", " "):
        end = piece.rfind(separator)
        if end > len(piece) // 2:
            return end + 1
    return len(piece)


def halves(text: str) -> tuple[str, str]:
    """Return the text in two, for a counter that does not add up."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
