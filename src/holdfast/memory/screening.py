"""Finds what does not belong into a prompt: orders to the model, theft of secrets, hidden signs.

Memory and project files are read by the model in every session, so a single poisoned line would
work for ever. The patterns look for the known ways; they make an attack harder and are no proof
that a text is harmless, which is why everything recalled also carries a label.

A command or a mark stands in one line. A sentence may run over several, but not from one item of a
list into the next: joined, honest items would say what none of them says.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from holdfast.memory.screening_rules import HIDDEN, LINE_RULES, SPAN_RULES
from holdfast.summary.tracing import LOOK_ALIKES

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LEFT_OUT", "Finding", "screen", "softened"]

LEFT_OUT = "[a line was left out here:"
"""How the note begins that stands in the place of a suspicious line."""
_SKETCH = 80
_GAPS = re.compile(r"\s+")
_BEGINNING = re.compile(r"[-*+•|>#] ?|\d{1,3}[.)] |\[a line was left out here:")
"""What begins an item, a row, a quote or a heading, or stands for a line that is gone."""
_MARKUP = re.compile(r"[*`~]+")
_WRITTEN_BREAK = re.compile(r"\\[nrt]")
_JOINED_WORDS = re.compile(r"(?<=[^\W_])[-_]+(?=[^\W_])")
_SPACED_LETTERS = re.compile(r"\b(?:[^\W\d_] ){3,}[^\W\d_]\b")


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
    found = [
        Finding("text with invisible signs", number, number, _sketch(_folded(line)))
        for number, line in enumerate(lines, 1)
        if not line.isascii() and HIDDEN.search(line)
    ]
    found += _matched(lines)
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


def _matched(lines: list[str]) -> Iterator[Finding]:
    """Yield what the rules find, each place once."""
    found: dict[tuple[str, int, int], Finding] = {}
    folded = [_folded(line) for line in lines]
    for number, line in enumerate(folded):
        for view in dict.fromkeys(_all_views(line)):
            for each in _found(LINE_RULES, [view], number):
                found.setdefault((each.reason, each.first, each.last), each)
    for start, stop in _runs(folded):
        views = dict.fromkeys(zip(*map(_all_views, folded[start:stop]), strict=True))
        for view in views:
            for each in _found(SPAN_RULES, list(view), start):
                found.setdefault((each.reason, each.first, each.last), each)
    yield from found.values()


def _runs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield where runs of lines begin and end in which a sentence may go on."""
    start = 0
    for number, line in enumerate(lines):
        if not line or _BEGINNING.match(line) or lines[number - 1].startswith(LEFT_OUT):
            if start < number:
                yield start, number
            start = number
    yield start, len(lines)


def _found(
    rules: tuple[tuple[str, re.Pattern[str]], ...], lines: list[str], offset: int
) -> Iterator[Finding]:
    joined = " ".join(lines)
    starts = [0, *accumulate(len(each) + 1 for each in lines)]
    for reason, pattern in rules:
        for match in pattern.finditer(joined):
            first = offset + bisect_right(starts, match.start())
            last = offset + bisect_right(starts, max(match.end() - 1, match.start()))
            yield Finding(reason, first, last, _sketch(match[0].strip()))


def _all_views(line: str) -> tuple[str, str, str]:
    """Return a line as it is, without its markup, and with look-alikes as what they feign."""
    bare = _JOINED_WORDS.sub(" ", _MARKUP.sub("", _WRITTEN_BREAK.sub(" ", line)))
    bare = _SPACED_LETTERS.sub(lambda spaced: spaced[0].replace(" ", ""), bare)
    return line, bare, bare if bare.isascii() else bare.translate(LOOK_ALIKES)


def _folded(line: str) -> str:
    """Return a line as the rules read it: in lower case, with plain blanks and signs."""
    if not line.isascii():
        line = unicodedata.normalize("NFKC", line)
        line = "".join(sign for sign in line if unicodedata.category(sign) not in {"Cf", "Mn"})
    return _GAPS.sub(" ", line).strip().lower().replace("\u2019", "'")


def _sketch(text: str) -> str:
    return text if len(text) <= _SKETCH else f"{text[: _SKETCH - 1]}…"
