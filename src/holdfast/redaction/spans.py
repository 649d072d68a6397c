"""What every pass works with: views of a text to look in, and spans to report.

A pass never runs a pattern over the text itself. It looks for one literal in a byte view
that has one byte for each character, so that positions are the same in all views, and an anchor
is found at the speed of C.

Passes report which characters are secret and never touch the text; all are masked in one go. So
each can be tested alone, two that see the same secret do not mask it twice, and everything
outside a span is untouched by construction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


ALNUM = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

SHORTEST_RUN = 20
"""Hardly any vendor's token is shorter, and words of prose are."""

STICKY = frozenset(b"\\%[;")
"""What an escape sequence that is glued to the front of a run may begin with."""

_TO_RUNS = bytes(ord("w") if byte in ALNUM + b"_-" else ord(" ") for byte in range(256))
_ONE_RUN = b"w" * SHORTEST_RUN
# The gap comes last: a search that compares last bytes first then skips a whole run at a time.
_RUN_BEFORE_GAP = _ONE_RUN + b" "
_STRETCH = 8192
_COLOR = re.compile(rb"\x1b\[[0-9;:]{0,24}+[A-Za-z]")
_ESCAPED = frozenset(b"nrtbf")
_UNICODE_ESCAPE = 5
_PERCENT_ESCAPE = 2


class TextViews(NamedTuple):
    """A text and its byte views; `text[i]`, `raw[i]`, `lower[i]` and `runs[i]` agree.

    A named tuple, because one is made for every message and it takes a third of the time.
    """

    text: str
    raw: bytes
    """ASCII; any other character is a question mark."""
    lower: bytes
    """`raw` in lower case."""
    runs: bytes
    """`w` for a letter, digit, underscore or hyphen; a space for all else."""


def survey(text: str) -> TextViews:
    """Return the views of a text; a few linear copies, nothing else.

    Colors of a terminal are blanks, so that names and values stand in them as in plain text.
    """
    raw = text.encode("ascii", "replace")
    if b"\x1b" in raw:
        raw = _COLOR.sub(lambda found: b" " * len(found.group()), raw)
    return TextViews(text, raw, raw.lower(), raw.translate(_TO_RUNS))


def find_each(view: bytes, literal: bytes) -> Iterator[int]:
    """Yield every place where a literal occurs, in order.

    A long view is searched in stretches, because in long ones `find` goes over to a method that
    is slower for literals of few different bytes.
    """
    find = view.find
    more = len(literal) - 1
    for stretch in range(0, len(view), _STRETCH):
        end = stretch + _STRETCH + more
        found = find(literal, stretch, end)
        while found >= 0:
            yield found
            found = find(literal, found + 1, end)


def long_runs(view: TextViews) -> list[tuple[int, int]]:
    """Return start and stop of each unbroken run of at least `SHORTEST_RUN` token characters."""
    runs = view.runs
    find, rfind = runs.find, runs.rfind
    spans: list[tuple[int, int]] = []
    stop = 0
    for stretch in range(0, len(runs), _STRETCH):
        end = stretch + _STRETCH + SHORTEST_RUN
        found = find(_RUN_BEFORE_GAP, stretch, end)
        while found >= 0:
            start = rfind(b" ", stop, found) + 1 or stop
            stop = found + SHORTEST_RUN
            spans.append((start, stop))
            found = find(_RUN_BEFORE_GAP, stop, end)
    if runs.endswith(_ONE_RUN):
        spans.append((rfind(b" ", stop) + 1 or stop, len(runs)))
    return spans


def run_start(view: TextViews, position: int, *, reach: int = 64) -> int:
    """Return where the run of token characters around a position begins, at most `reach` back."""
    floor = max(0, position - reach)
    return max(view.runs.rfind(b" ", floor, position) + 1, floor)


def unglued(raw: bytes, start: int) -> int:
    r"""Return where a run really begins when an escape sequence sticks to its front.

    Transcripts are JSON inside JSON: a token after a line break reads `\nghp_...`, in a
    percent-encoded address `%20ghp_...`, and in colored terminal output `[32mghp_...`.
    """
    if not start or raw[start - 1] not in STICKY:
        return start
    match raw[start - 1]:
        case 0x5C:  # backslash
            first = raw[start : start + 1]
            if first and first[0] in _ESCAPED:
                return start + 1
            return start + _UNICODE_ESCAPE if first == b"u" else start
        case 0x25:  # percent sign
            return start + _PERCENT_ESCAPE
        case _:  # bracket or semicolon of a terminal color
            end = start
            while raw[end : end + 1].isdigit() and end < start + 4:
                end += 1
            return end + 1 if end > start and raw[end : end + 1] == b"m" else start


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
    merged: list[SecretSpan] = []
    reached = 0
    for span in sorted(spans, key=_PLACE):
        first, end, own = span
        if first < reached:
            last = merged[-1]
            stronger = max(last.mask, own, key=_STRENGTH.__getitem__)
            reached = max(reached, end)
            merged[-1] = SecretSpan(last.start, reached, stronger)
        elif end > first:
            merged.append(span)
            reached = end
    for start, stop, kind in merged:
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
