"""Old actions in one line: how many of each kind, under their numbers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from holdfast.summary.record import number_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["condensed", "condensed_line"]

_MARK = "CONDENSED "
_KINDS = 6


def condensed(entries: Sequence[str]) -> str:
    """Return one action that stands for the given ones and carries the last number.

    A line that was condensed before is added up, so condensing never nests.
    """
    kinds: Counter[str] = Counter()
    first = number_of(entries[0])
    for entry in entries:
        words = words_of(entry)
        if words.startswith(_MARK):
            start, counted = _read(words)
            first = min(first, start)
            kinds.update(counted)
        else:
            kinds[_kind(words)] += 1
    return condensed_line(first, number_of(entries[-1]), kinds)


def condensed_line(first: int, last: int, kinds: Counter[str]) -> str:
    """Return the action that stands for those from `first` to `last`."""
    listed = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(_KINDS))
    return f"{last}. {_MARK}{first}-{last} - {listed}"


def _read(words: str) -> tuple[int, Counter[str]]:
    span, _, listed = words.removeprefix(_MARK).partition(" - ")
    pairs = (item.rpartition(" ") for item in listed.split(", "))
    kinds = Counter({kind: int(number) for kind, _, number in pairs if number.isdecimal()})
    start = span.partition("-")[0]
    return (int(start) if start.isdecimal() else 1), kinds


def _kind(words: str) -> str:
    first = words.split(maxsplit=1)[0].strip(":,.*[]")
    return first if first.isupper() and first.isalpha() else "other"
