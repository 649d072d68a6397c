"""A token estimate that needs no vocabulary and runs at memory speed.

Tokens follow character classes more than length: a thousand Chinese characters are many more
tokens than a thousand Latin ones, and digits, capitals and punctuation split words. So the
estimate counts classes with `bytes.translate`, weighs each by a coefficient that was fitted
against the real tokenizer of a model family, and adds a term for base64-like runs. The error of
each kind of text is measured by `bench/tokens.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["FAMILIES", "Counter", "Estimator", "family_of"]

_WHOLE = 2_048
"""Longer texts are estimated from slices of this many characters in all."""
_SLICES = 16


class Counter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """Return what the report calls this way of counting."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens; zero for no text."""
        ...


@dataclass(frozen=True, slots=True)
class _Coefficients:
    """Tokens per character of each class."""

    lower: float
    upper: float
    digit: float
    space: float
    newline: float
    punctuation: float
    two_byte: float
    three_byte: float
    four_byte: float
    double_space: float
    """Indentation: runs of spaces are one token, so pairs are given back."""
    blob: float
    """Letters and digits far from any separator: base64, hex, minified code."""


FAMILIES = {
    "o200k": _Coefficients(
        0.138, 0.962, 0.585, 0.321, 0.310, 0.599, 0.213, 0.713, 1.5, -0.372, 0.160
    ),
    "gemma": _Coefficients(
        0.157, 0.866, 1.081, 0.265, 0.641, 0.652, 0.210, 0.497, 1.5, -0.098, 0.160
    ),
    "llama3": _Coefficients(
        0.159, 1.098, 0.618, 0.249, 0.255, 0.513, 0.277, 0.694, 1.5, -0.213, 0.128
    ),
    "claude": _Coefficients(
        0.197, 1.042, 0.580, 0.101, 0.561, 0.579, 0.546, 0.958, 1.5, -0.007, 0.152
    ),
}
"""Coefficients by tokenizer family; `claude` was fitted on the last public Claude tokenizer."""

_LOWER = bytes(range(ord("a"), ord("z") + 1))
_UPPER = _LOWER.upper()
_DIGITS = b"0123456789"
_BREAKS = b"\n\r\t"
_PUNCTUATION = bytes(code for code in range(33, 127) if not chr(code).isalnum())
_CONTINUATION = bytes(range(0x80, 0xC0))
_LEAD_TWO = bytes(range(0xC0, 0xE0))
_LEAD_THREE = bytes(range(0xE0, 0xF0))


def family_of(model: str) -> str:
    """Return the coefficient family for a model name; unknown models count as `o200k`."""
    lowered = model.lower()
    if "claude" in lowered:
        return "claude"
    if "gemini" in lowered or "gemma" in lowered:
        return "gemma"
    if "llama" in lowered or "smollm" in lowered:
        return "llama3"
    return "o200k"


class Estimator:
    """Counts tokens approximately, about two orders of magnitude faster than a tokenizer."""

    def __init__(self, family: str = "o200k") -> None:
        """Choose the coefficients; `family_of` finds the family of a model."""
        self.name = f"estimate:{family}"
        self._per = FAMILIES[family]

    def count(self, text: str) -> int:
        """Return the estimate; a text that is not empty is at least one token."""
        size = len(text)
        if size <= _WHOLE:
            return round(self._tokens(text)) or 1 if size else 0
        # Slices keep the cost of a huge text constant; evenly spread ones see every section.
        stride, width = size // _SLICES, _WHOLE // _SLICES
        starts = range(0, stride * _SLICES, stride)
        sample = "".join([text[start : start + width] for start in starts])
        return round(self._tokens(sample) * size / len(sample))

    def _tokens(self, text: str) -> float:
        raw = text.encode("utf-8", "surrogatepass")
        size = len(raw)
        # One class after the other is taken out, the most frequent first, so that less and less
        # is scanned. The loop is written out: it runs for every message.
        rest = raw.translate(None, _LOWER)
        lower = size - (left := len(rest))
        rest = rest.translate(None, b" ")
        space = left - (left := len(rest))
        rest = rest.translate(None, _PUNCTUATION)
        punctuation = left - (left := len(rest))
        rest = rest.translate(None, _UPPER)
        upper = left - (left := len(rest))
        rest = rest.translate(None, _DIGITS)
        digit = left - (left := len(rest))
        per = self._per
        tokens = per.lower * lower + per.space * space + per.punctuation * punctuation
        tokens += per.upper * upper + per.digit * digit + per.double_space * raw.count(b"  ")
        breaks = 0
        if rest:
            rest = rest.translate(None, _BREAKS)
            breaks = left - len(rest)
            tokens += per.newline * breaks + (self._wide(rest) if rest else 0.0)
        blob = lower + upper + digit - 14 * (space + breaks + punctuation) - 40
        if blob > 0:
            tokens += per.blob * blob
        return min(tokens, float(size))  # no tokenizer needs more than a token a byte

    def _wide(self, rest: bytes) -> float:
        """Return the tokens of what is not ASCII, counted by the first byte of each character."""
        leads = rest.translate(None, _CONTINUATION)
        longer = leads.translate(None, _LEAD_TWO)
        longest = longer.translate(None, _LEAD_THREE)
        two, three = len(leads) - len(longer), len(longer) - len(longest)
        per = self._per
        return per.two_byte * two + per.three_byte * three + per.four_byte * len(longest)
