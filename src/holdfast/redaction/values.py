"""Judge whether a value is a secret or only stands where one would be.

Documentation, templates and code are full of `token=<your-token>` and `password = get()`.
Masking those costs the reader and protects nobody. Every judgement here looks at a bounded
number of characters, so that a hostile value costs no more than a short one.
"""

from __future__ import annotations

import re
from itertools import pairwise

LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_JUDGED = 128

# Only a stand-in contains these, whatever is around them. A reference has an end: without one,
# `$(` and `%(` are characters of a password. `fake` must be a word, or the first part of one.
_STAND_IN = re.compile(
    rb"\.\.\.|\*\*\*|###|\$\{[^{}]{0,100}\}|\$\([^()]{1,100}\)|\{\{|%\([\w. -]{1,100}\)|<%|#\{|"
    rb"xxxxx|placeholder|changeme|changeit|dummy|"
    rb"(?<![a-z0-9])fake(?![a-z0-9])|"
    rb"fake[-_ ]?(?:api|auth|client|cred|key|pass|pw|secret|token|user)|"
    rb"redacted|masked|example|fixme|lorem|foobar|&lt;|required\||not(?:real|valid|asecret|apassword)|"
    rb"your(?:own|new|api|access|auth|token|key|secret|pass|client|user)",
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
    abc123 foo bar baz qux md5 sha1 sha256 sha512 bcrypt scrypt argon2 argon2id pbkdf2 base64
    base32 base58 utf8 utf-8 int32 int64 uint8 uint32 uint64 bytes32 ipv4 ipv6 rsa2048
    rsa4096 aes128 aes256 hs256 rs256 es256 ed25519 x25519""".split(),
)
# Pairs of letters that words and names in code hardly have; each word here is a letter and those
# that do not follow it. Two such pairs in a value, and nobody made it of words.
_UNLIKELY = frozenset(
    first + second
    for first, *others in (
        "bfknqwxz cbjw dhxz fbghjkmvwxz gbdjkqvwxz hbcfghjkpqvxz jbcdfghjklmnpqrsvwxz "
        "kbchjmqvxyz lhjwx mghjqrvxz nxz oq pjnqvwz qbcdefghijklmnpqrstvwxz rjqxz sbjxz tjkqx "
        "ujwy vbcdfghjklmnpqrtuvwxz wbgjkpqtuvwxz xbfgjklnqrvwxz yhkx zbcdfghjklmnpqrtvwxz"
    ).split()
    for second in others
)
# Words of passphrases are things and deeds; these are words of sentences about passwords.
_OF_SENTENCES = frozenset(
    b"""the and are but can for from has have into its may must not one only should that then
    they this was were will with you your use used using when which who please enter enters type
    least most than more characters character letters digits length long short minimum maximum
    required optional field string value values invalid incorrect wrong missing expired reset
    change changed forgot forgotten confirm confirmation update updated new old current same
    password passwords passphrase passwd secret secrets token tokens key keys user users username
    login account admin email name names file files path default set get been being does did done
    here there see also any all per via stored store hash hashed encrypted plain text""".split(),
)
# Also what stands between two literals that code joins, and selectors of a page.
_OPENS_REFERENCE = re.compile(
    rb"[<\[{(]|`[^`]{1,100}`|[,;)\]}]|['\"]?\s?[+.&]\s?[\w$]+[(.\[\s]|['\"][$<{]|[#.][A-Za-z_-]+\Z|"
    rb"\$[A-Za-z_({]|%[A-Za-z_]+%$|%[sdv]|#\{|&\w|!(?:vault|Ref|Sub|GetAtt|ImportValue|reference|env|secret)\b"
)
# Nothing generated has the same number three times in a row: `1234-1234-1234`.
_REPEATS = re.compile(rb"\b(\d{3,12})-\1-\1\b")
_CONSTANT = re.compile(rb"[A-Z]+(?:[_ -][A-Z]+)*+\Z")
_SEPARATED = bytes.maketrans(b"-_./:+", b"      ")
_LONGEST_WORD = 15
_PASSPHRASE_WORDS = 4
# What one would read as words in `camelCase2`.
_PARTS = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d\d+")
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


def is_passphrase(value: bytes) -> bool:
    """Return whether a value is four plain words or more that make no sentence."""
    words = value[:_JUDGED].lower().translate(_SEPARATED).split()
    return (
        len(words) >= _PASSPHRASE_WORDS
        and len(set(words)) == len(words)
        and all(word.isalpha() and 2 < len(word) < _LONGEST_WORD for word in words)
        and _OF_SENTENCES.isdisjoint(words)
    )


def is_numbered_phrase(value: bytes) -> bool:
    """Return whether a value is a few words and a number that make no sentence."""
    words = value[:_JUDGED].lower().split()
    return (
        1 < len(words) < _LONGEST_WORD
        and all(word.isalnum() for word in words)
        and any(word.isalpha() and len(word) > 2 for word in words)
        and not value.replace(b" ", b"").isalpha()
        and _OF_SENTENCES.isdisjoint(words)
        and not is_placeholder(value)
    )


def sounds_spoken(value: bytes) -> bool:
    """Return whether a value is a word that sentences about passwords have."""
    return value.lower() in _OF_SENTENCES


def is_gibberish(value: bytes) -> bool:
    """Return whether the letters of a value stand together as those of words do not.

    Where a capital follows a small letter a word begins, and any two letters may meet.
    """
    value = value[:_JUDGED]
    decoded = value.decode("ascii", "replace")
    lower = decoded.lower()
    unlikely = sum(
        lower[at : at + 2] in _UNLIKELY
        and not (decoded[at].islower() and decoded[at + 1].isupper())
        for at in range(len(lower) - 1)
    )
    if unlikely >= 2 + len(value) // 32:
        return True
    parts = _PARTS.findall(value)
    if len(parts) > 5 and 3 * len(parts) > len(value):
        return True
    return len(parts) > 4 and sum(len(part) == 1 for part in parts) * 3 >= len(parts)


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
    if letters < 16:
        return False
    capitals = len(value) - len(value.translate(None, LETTERS[26:]))
    balanced = letters <= 4 * capitals <= 3 * letters
    return (balanced and rises(value) >= max(3, letters // 9)) or is_gibberish(value)


def is_wordy(value: bytes) -> bool:
    """Return whether a value is words and numbers joined by separators, as in `app-db-2`."""
    for part in value[:_JUDGED].translate(_SEPARATED).split():
        if len(part) > _LONGEST_WORD or not (part.isdigit() or part.isalpha()):
            return False
        if rises(part) > 2 or is_gibberish(part):
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
