"""Judge whether a value is a secret or only stands where one would be.

Documentation, templates and code are full of `token=<your-token>` and `password = get()`.
Masking those costs the reader and protects nobody. Every judgement here looks at a bounded
number of characters, so that a hostile value costs no more than a short one.
"""

from __future__ import annotations

import re
from itertools import pairwise

__all__ = [
    "LETTERS",
    "counts_far",
    "counts_up",
    "is_monotone",
    "is_placeholder",
    "is_random",
    "is_varied",
    "is_wordy",
    "rises",
]

LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_JUDGED = 128

# Only a stand-in contains these, whatever is around them.
_STAND_IN = re.compile(
    rb"\.\.\.|\*\*\*|\$[{(]|\{\{|%\(|<%|#\{|xxxxx|placeholder|changeme|changeit|dummy|fake|"
    rb"redacted|masked|example|fixme|lorem|foobar|not(?:real|valid|asecret|apassword)|"
    rb"your(?:api|access|auth|token|key|secret|pass|client|user)",
)
# Words of an instruction, when separators set them apart: `insert_key_here`, `PUT-YOUR-KEY`.
_ANYWHERE = frozenset(b"your here insert replace placeholder todo tbd sample".split())
_IN_FRONT = frozenset(b"my the put add some enter paste change".split())
# Whole values that are names of the thing, types, states or defaults everyone knows.
_COMMON = frozenset(
    b"""password passwd pass pwd secret token key apikey api_key api-key username user login
    none null nil undefined true false yes no on off required optional hidden string str bytes
    text value values number integer boolean object array any empty default test testing tests
    admin root guest postgres mysql redis rabbitmq localhost public private unknown missing
    invalid expired revoked disabled enabled auto prompt input output file env environment
    secretkeyref basic bearer digest oauth oauth2 apitoken accesstoken access_token yyy abc
    abc123 foo bar baz qux""".split(),
)
_OPENS_REFERENCE = re.compile(rb"[<\[{(`]|\$[A-Za-z_({]|%[A-Za-z_]+%$|%[sdv]|#\{|&\w")
# Nothing generated has the same number three times in a row: `1234-1234-1234`.
_REPEATS = re.compile(rb"\b(\d{3,12})-\1-\1\b")
_CONSTANT = re.compile(rb"[A-Z]+(?:[_ -][A-Z]+)*+\Z")
_SEPARATED = bytes.maketrans(b"-_./:+", b"      ")
_LONGEST_WORD = 15
_RISES = re.compile(rb"[a-z][A-Z]")


def is_placeholder(value: bytes) -> bool:
    """Return whether a value stands in for a secret: a template, a mask, a well-known default."""
    value = value[:_JUDGED]
    lower = value.lower()
    if lower in _COMMON or len(set(lower)) <= 2:
        return True
    if _OPENS_REFERENCE.match(value) or _STAND_IN.search(lower):
        return True
    if _CONSTANT.match(value):
        return True
    if value.isalnum():
        return False
    words = lower.translate(_SEPARATED).split()
    if len(words) > 1 and (words[0] in _IN_FRONT or not _ANYWHERE.isdisjoint(words)):
        return True
    return bool(_REPEATS.search(value))


def is_varied(value: bytes) -> bool:
    """Return whether a value has the variety of characters that a made-up one lacks."""
    value = value[:_JUDGED]
    return len(set(value)) >= min(9, 3 + len(value) // 4)


def is_monotone(value: bytes) -> bool:
    """Return whether one character makes up more than half of a value, or very few make it all."""
    value = value[:_JUDGED]
    distinct = set(value)
    if len(distinct) < min(6, 2 + len(value) // 4):
        return True
    if len(distinct) * 2 > len(value) + 1:
        return False
    # A character that makes up more than half of a value is its median.
    half = len(value) // 2
    return value.count(sorted(value)[half]) > half


def is_random(value: bytes) -> bool:
    """Return whether a value looks generated: with digits or a restless mix of cases.

    Names of things have no digits among their letters, and few capitals: one for a word.
    """
    value = value[:_JUDGED]
    letters = len(value) - len(value.translate(None, LETTERS))
    if not letters or is_wordy(value) or is_monotone(value):
        return False
    if len(value.translate(None, _DIGITS)) < len(value):
        return True
    capitals = len(value) - len(value.translate(None, LETTERS[26:]))
    balanced = letters <= 4 * capitals <= 3 * letters
    return letters >= 16 and balanced and rises(value) >= max(3, letters // 9)


def is_wordy(value: bytes) -> bool:
    """Return whether a value is words and numbers joined by separators, as in `app-db-2`."""
    for part in value[:_JUDGED].translate(_SEPARATED).split():
        if len(part) > _LONGEST_WORD or not (part.isdigit() or part.isalpha()):
            return False
        if rises(part) > 2:
            return False
    return True


def rises(value: bytes) -> int:
    """Return how often a small letter is followed by a capital."""
    return len(_RISES.findall(value))


_COUNTED = 8


def counts_far(value: bytes) -> bool:
    """Return whether a value counts far in one go, as in `xyz-1234567890`."""
    run = 0
    for before, after in pairwise(value[:_JUDGED]):
        run = run + 1 if after - before == 1 else 0
        if run >= _COUNTED:
            return True
    return False


def counts_up(value: bytes) -> bool:
    """Return whether most characters follow their neighbor, as in `abc123xyz-456defghi`.

    Hexadecimal values are exempt: sixteen symbols make such neighbors by chance.
    """
    value = value[:_JUDGED]
    if len(value) < 2 or not value.translate(None, _HEX):
        return False
    steps = sum(after - before == 1 for before, after in pairwise(value))
    return steps * 2 > len(value)
