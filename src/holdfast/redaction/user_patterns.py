"""Find secrets by the user's own patterns, in linear time whatever they and the text are.

Patterns run on RE2, which never backtracks and refuses what cannot be matched without it. It is
imported when there is a pattern: the built-in passes do not need it.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Protocol, cast

from holdfast.errors import ConfigError
from holdfast.redaction.spans import Mask, SecretSpan, masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONGEST_PATTERN = 1000
_REACH = 2048
"""Bytes behind the start of a search that are looked at before it goes on to the whole text."""
_MASKED = re.compile(rb"\[REDACTED(?: PRIVATE KEY)?\]")
_HALF = re.compile(r"(?<!\\)(?:\\\\)*\\C")
_SIDES = (b"", b"\n", b"a", b" ")
_ASCII_ONLY = re.compile(r"(?<!\\)(?:\\\\)*\\[wWdDbB]")


class RegexpMatch(Protocol):
    """A match of RE2."""

    def span(self) -> tuple[int, int]:
        """Return where it begins and ends."""
        ...


class Regexp(Protocol):
    """What is used of a pattern that RE2 has compiled."""

    def search(self, text: bytes, pos: int = ..., endpos: int = ...) -> RegexpMatch | None:
        """Return the first match between two positions."""
        ...


class _Options(Protocol):
    log_errors: bool


class _Re2(Protocol):
    """What is used of the module, which has no types."""

    error: type[Exception]
    Options: Callable[[], _Options]

    def compile(self, pattern: str, options: _Options) -> Regexp: ...


def compiled(pattern: str) -> Regexp:
    """Return a user's pattern, ready to use.

    Raises:
        ConfigError: The pattern is not valid, RE2 does not take it, or it matches the empty text.
    """
    where = f"redaction.extra_patterns: {pattern[:80]!r}"
    if len(pattern) > _LONGEST_PATTERN:
        message = f"{where} is longer than {_LONGEST_PATTERN} characters; split it into several"
        raise ConfigError(message)
    if not pattern.isascii() and _ASCII_ONLY.search(pattern):
        # It would silently miss what it was written for: no `\b` stands beside an umlaut.
        message = (
            f"{where} has letters beyond ASCII, which \\w, \\d and \\b do not know; "
            "write [\\p{L}\\p{N}_] for \\w and leave \\b out"
        )
        raise ConfigError(message)
    if _HALF.search(pattern):
        message = f"{where} has \\C, which takes half a character; write . in its place"
        raise ConfigError(message)
    try:
        import re2 as module  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        message = f"{where} needs RE2, which is missing; install it with: pip install google-re2"
        raise ConfigError(message) from error
    re2 = cast("_Re2", module)
    options = re2.Options()
    options.log_errors = False
    try:
        # Anchors mean lines: texts are redacted joined, and a log is many lines.
        ready = re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeEncodeError) as error:
        message = f"{where} is not a valid regular expression for RE2: {_reason(pattern, error)}"
        raise ConfigError(message) from error
    # Zero-width anchors see no more than one character on either side, so these are all places.
    for before, after in product(_SIDES, repeat=2):
        if ready.search(before + after, len(before), len(before)):
            message = (
                f"{where} matches the empty text; require at least one character, with + or {{1,n}}"
            )
            raise ConfigError(message)
    return ready


def _reason(pattern: str, error: Exception) -> str:
    """Return what RE2 says about a pattern, and what to do where Python would have taken it."""
    said = error.args[0] if error.args else ""
    reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(error)
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return f"{reason}; correct it"
    return (
        f"{reason}; look-around, back-references, possessive repeats and counts above 1000 could "
        "take very long and are not supported: write it without them, and \\Z as \\z"
    )


def user_pattern_spans(pattern: Regexp, text: str) -> Iterator[SecretSpan]:
    """Yield what a user's pattern finds, leaving what is already masked alone.

    A hint that the pattern would find again is not given: redacting twice must change nothing.
    """
    # Bytes, because of a string each search would make its bytes anew. A lone half of a
    # surrogate pair has none, and is one question mark, so that characters still count the same.
    data = text.encode("utf-8", "replace")
    first = pattern.search(data)
    if first is None:
        return
    markers = [found.span() for found in _MASKED.finditer(data)]
    passed = counted = characters = 0
    for start, stop in _matches(pattern, data, first.span()[0]):
        while passed < len(markers) and markers[passed][1] <= start:
            passed += 1
        if passed < len(markers) and markers[passed][0] < stop:
            continue
        characters += len(data[counted:start].decode())
        secret = data[start:stop].decode()
        counted = start
        again = pattern.search(masked(secret).encode())
        mask = Mask.WHOLE if again else Mask.HINT
        yield SecretSpan(characters, characters + len(secret), mask)


def _matches(pattern: Regexp, data: bytes, start: int) -> Iterator[tuple[int, int]]:
    r"""Yield the matches behind a position, one after the other, in linear time over all of them.

    One search is linear, but all of them need not be: with `a[^b]*b|a` each `a` would look for a
    `b` up to the end of the text. So a search sees a limited piece, and a larger one only when it
    finds nothing there or what it finds reaches the end of the piece.
    """
    end = len(data)
    while start < end:
        reach = _REACH
        while True:
            position = start + reach
            while position < len(data) and data[position] & 0xC0 == 0x80:
                position += 1
            limit = min(position, len(data))
            found = pattern.search(data, start, limit)
            if limit == end or (found is not None and found.span()[1] < limit):
                break
            reach *= 4
        if found is None:
            return
        yield found.span()
        start = found.span()[1]
