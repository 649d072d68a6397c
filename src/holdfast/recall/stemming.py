"""The stem of an English word, as SQLite's `porter` tokenizer takes it.

The index stems inside SQLite. Marking a match in a text and counting words for the ranking happen
outside it, and must agree with what matched. The rules are those of M. F. Porter, "An algorithm
for suffix stripping" (1980).

SQLite goes by the bytes of a word: a letter outside ASCII is several consonants to it. An ending
that is the whole word is none.
"""

from __future__ import annotations

from itertools import pairwise

__all__ = ["stem"]

_VOWELS = frozenset("aeiou")
_SHORTEST = 3
_LONGEST = 64
"""Both in bytes."""

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "logi": "log", "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous",
    "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of a word in lower case; words of one or two letters are their own."""
    if not word.isascii():
        return _stem_of_bytes(word)
    return _stripped(word) if _SHORTEST <= len(word) <= _LONGEST else word


def _stem_of_bytes(word: str) -> str:
    """Return the stem of a word with other letters, each of its bytes taken for a letter."""
    letters = word.encode("utf-8", "surrogatepass").decode("latin-1")
    if not _SHORTEST <= len(letters) <= _LONGEST:
        return word
    # A doubled last byte may be halved: what is left of the letter stays distinct.
    return _stripped(letters).encode("latin-1").decode("utf-8", "surrogateescape")


def _stripped(word: str) -> str:
    word = _without_inflection(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    return _tidy(_without_ending(word))


def _without_plural(word: str) -> str:
    if word[1:].endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _without_inflection(word: str) -> str:
    if word[1:].endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _mended(rest) if _has_vowel(rest) else word
    return word


def _mended(rest: str) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    if _is_doubled(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    return f"{rest}e" if _measure(rest) == 1 and _is_short(rest) else rest


def _replaced(word: str, endings: dict[str, str]) -> str:
    for length in range(min(7, len(word)), 1, -1):
        ending = word[-length:]
        if ending in endings:
            rest = word[:-length]
            return rest + endings[ending] if _measure(rest) > 0 else word
    return word


def _without_ending(word: str) -> str:
    for length in range(min(5, len(word)), 1, -1):
        ending = word[-length:]
        if ending in _STEP_4:
            rest = word[:-length]
            fits = _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t")))
            return rest if fits else word
    return word


def _tidy(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        length = _measure(rest)
        if length > 1 or (length == 1 and not _is_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


def _is_vowel(word: str, at: int) -> bool:
    if word[at] in _VOWELS:
        return True
    return word[at] == "y" and at > 0 and not _is_vowel(word, at - 1)


def _has_vowel(word: str) -> bool:
    return any(_is_vowel(word, at) for at in range(len(word)))


def _measure(word: str) -> int:
    """Count the places where a consonant follows a vowel."""
    kinds = [_is_vowel(word, at) for at in range(len(word))]
    return sum(before and not after for before, after in pairwise(kinds))


def _is_doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and word[-1] not in _VOWELS


def _is_short(word: str) -> bool:
    """Say whether a word ends in consonant, vowel, consonant, and not in w, x or y."""
    if len(word) < _SHORTEST or word[-1] in "wxy":
        return False
    last = len(word) - 1
    return not _is_vowel(word, last) and _is_vowel(word, last - 1) and not _is_vowel(word, last - 2)
