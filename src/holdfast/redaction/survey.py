"""Views of a text that let every pass look for its anchors at the speed of C.

A pass never runs a pattern over the text itself. It looks for one literal in a byte view
that has one byte for each character, so that positions are the same in all views.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ALNUM", "SHORTEST_RUN", "Survey", "long_runs", "run_start", "survey", "unglued"]

ALNUM = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

SHORTEST_RUN = 20
"""Hardly any vendor's token is shorter, and words of prose are."""

_TO_RUNS = bytes(ord("w") if byte in ALNUM + b"_-" else ord(" ") for byte in range(256))
_ONE_RUN = b"w" * SHORTEST_RUN
_RUN_AFTER_GAP = b" " + _ONE_RUN
_ESCAPED = frozenset(b"nrtbf")
_STICKY = frozenset(b"\\%[;")
_UNICODE_ESCAPE = 5
_PERCENT_ESCAPE = 2


@dataclass(frozen=True, slots=True)
class Survey:
    """A text and its byte views; `text[i]`, `raw[i]`, `lower[i]` and `runs[i]` agree."""

    text: str
    raw: bytes
    """ASCII; any other character is a question mark."""
    lower: bytes
    """`raw` in lower case."""
    runs: bytes
    """`w` for a letter, digit, underscore or hyphen; a space for all else."""


def survey(text: str) -> Survey:
    """Return the views of a text; a few linear copies, nothing else."""
    raw = text.encode("ascii", "replace")
    return Survey(text, raw, raw.lower(), raw.translate(_TO_RUNS))


def long_runs(view: Survey) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each unbroken run of at least `SHORTEST_RUN` token characters."""
    runs = view.runs
    find = runs.find
    gap = -1 if runs.startswith(_ONE_RUN) else find(_RUN_AFTER_GAP)
    if gap < 0 and not runs.startswith(_ONE_RUN):
        return
    while True:
        stop = find(b" ", gap + 1 + SHORTEST_RUN)
        if stop < 0:
            yield gap + 1, len(runs)
            return
        yield gap + 1, stop
        gap = find(_RUN_AFTER_GAP, stop)
        if gap < 0:
            return


def run_start(view: Survey, position: int, *, reach: int = 64) -> int:
    """Return where the run of token characters around a position begins, at most `reach` back."""
    floor = max(0, position - reach)
    return max(view.runs.rfind(b" ", floor, position) + 1, floor)


def unglued(raw: bytes, start: int) -> int:
    r"""Return where a run really begins when an escape sequence sticks to its front.

    Transcripts are JSON inside JSON: a token after a line break reads `\nghp_...`, in a
    percent-encoded address `%20ghp_...`, and in colored terminal output `[32mghp_...`.
    """
    if not start or raw[start - 1] not in _STICKY:
        return start
    match raw[start - 1]:
        case 0x5C:  # backslash
            first = raw[start : start + 1]
            if first and first[0] in _ESCAPED:
                return start + 1
            return start + _UNICODE_ESCAPE if first == b"u" else start
        case 0x25:  # percent sign
            return start + _PERCENT_ESCAPE
        case 0x5B | 0x3B:  # bracket or semicolon of a terminal color
            end = start
            while raw[end : end + 1].isdigit() and end < start + 4:
                end += 1
            return end + 1 if end > start and raw[end : end + 1] == b"m" else start
        case _:
            return start
