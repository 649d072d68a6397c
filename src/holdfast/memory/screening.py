"""Finds what does not belong into a prompt: orders to the model, theft of secrets, hidden signs.

Memory and project files are read by the model in every session, so a single poisoned line would
work for ever. The patterns look for the known ways; they make an attack harder and are no proof
that a text is harmless, which is why everything recalled also carries a label.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from holdfast.memory.screening_rules import HIDDEN, RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LEFT_OUT", "Finding", "screen", "softened"]

LEFT_OUT = "[a line was left out here:"
"""How the note begins that stands in the place of a suspicious line."""
_SKETCH = 80


@dataclass(frozen=True, slots=True)
class Finding:
    """Something suspicious."""

    reason: str
    """What it looks like, to be read after "it looks like"."""
    first: int
    """The first line, counted from one."""
    last: int
    excerpt: str


def screen(text: str) -> tuple[Finding, ...]:
    """Return what is suspicious in a text, in the order of its lines."""
    lines = text.split("\n")
    found = [*_hidden(lines), *_matched(lines)]
    return tuple(sorted(found, key=lambda each: (each.first, each.last, each.reason)))


def softened(text: str) -> tuple[str, tuple[Finding, ...]]:
    """Return the text with a visible note for each suspicious line, and what was found.

    A line is not dropped in silence: whoever reads the text sees that something was there.
    """
    found = screen(text)
    if not found:
        return text, ()
    reasons: dict[int, str] = {}
    for each in found:
        for number in range(each.first, each.last + 1):
            reasons.setdefault(number, each.reason)
    lines = [
        f"{LEFT_OUT} it looks like {reasons[number]}]" if number in reasons else line
        for number, line in enumerate(text.split("\n"), 1)
    ]
    return "\n".join(lines), found


def _hidden(lines: list[str]) -> Iterator[Finding]:
    for number, line in enumerate(lines, 1):
        if not line.isascii() and HIDDEN.search(line):
            yield Finding("text with invisible signs", number, number, _sketch(_folded(line)))


def _matched(lines: list[str]) -> Iterator[Finding]:
    """Yield what the rules find; a sentence may be broken over several lines."""
    folded = [_folded(line) for line in lines]
    joined = " ".join(folded)
    starts = [0, *accumulate(len(each) + 1 for each in folded)]
    for reason, pattern in RULES:
        for match in pattern.finditer(joined):
            first = bisect_right(starts, match.start())
            last = bisect_right(starts, max(match.end() - 1, match.start()))
            yield Finding(reason, first, last, _sketch(match[0]))


def _folded(line: str) -> str:
    """Return a line as the rules read it: no letter can hide behind a look-alike or a gap."""
    if not line.isascii():
        line = unicodedata.normalize("NFKC", line)
        line = "".join(sign for sign in line if unicodedata.category(sign) not in {"Cf", "Mn"})
    return _GAPS.sub(" ", line).strip().lower().replace("\u2019", "'")


_GAPS = re.compile(r"\s+")


def _sketch(text: str) -> str:
    return text if len(text) <= _SKETCH else f"{text[: _SKETCH - 1]}…"
