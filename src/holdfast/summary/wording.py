"""Patterns of wording that are tried only on sentences that hold one of their words.

A pattern with fifty alternatives is tried at every letter of a sentence, and nearly all sentences
hold none of its words. To look for the words in a set costs a tenth of that.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TypeAlias

__all__ = ["SIGNS", "Wording", "Words", "words_in"]

Words: TypeAlias = "set[bytes] | None"

SIGNS = "0"
"""The word that stands for any digit and for the sign of a mail address."""

_WORD_BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789_"
_TO_WORDS = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))
_SIGN_BYTES = b"0123456789@"


def words_in(sentence: str) -> Words:
    """Return the words of a sentence in lower case; None where it is not plain ASCII.

    Not every language parts its words, so sentences with other letters are tried in any case.
    """
    if not sentence.isascii():
        return None
    raw = sentence.lower().encode("ascii")
    words = set(raw.translate(_TO_WORDS).split())
    if len(raw.translate(None, _SIGN_BYTES)) < len(raw):
        words.add(SIGNS.encode())
    return words


class Wording:
    """A pattern, and the words of which every match in a plain ASCII sentence holds one."""

    def __init__(self, needs: str, source: str) -> None:
        """Hold the pattern; it is compiled when it is first tried.

        Args:
            needs: The words, in lower case with spaces between; an apostrophe parts words.
            source: The pattern, in which case does not count.
        """
        self._source = source
        self.needed = frozenset(needs.encode("ascii").split())

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the compiled pattern."""
        return re.compile(self._source, re.IGNORECASE)

    def stands_in(self, sentence: str, words: Words) -> bool:
        """Say whether the pattern is found in the sentence, whose words these are."""
        if words is not None and self.needed.isdisjoint(words):
            return False
        return self.pattern.search(sentence.replace("\u2019", "'")) is not None
