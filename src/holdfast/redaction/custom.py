"""Take the user's own patterns, and only those that are safe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError
from holdfast.redaction.spans import Mask, Span, masked

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["compiled", "custom_spans"]

_LONGEST_PATTERN = 1000
_MASKED = re.compile(r"\[REDACTED(?: PRIVATE KEY)?\]")


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a user's pattern, ready to use.

    Raises:
        ConfigError: The pattern is not valid, may take very long, or matches nothing at all.
    """
    where = f"redaction.extra_patterns: {pattern[:80]!r}"
    if len(pattern) > _LONGEST_PATTERN:
        message = f"{where} is longer than {_LONGEST_PATTERN} characters; split it into several"
        raise ConfigError(message)
    try:
        # Anchors mean lines: texts are redacted joined, and a log is many lines.
        ready = re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        message = f"{where} is not a valid regular expression: {error}; correct it"
        raise ConfigError(message) from error
    # Most configurations have no patterns, and need not wait for the analysis to be imported.
    from holdfast.redaction.pattern_tree import read_pattern
    from holdfast.redaction.safety import danger_of

    danger = danger_of(read_pattern(pattern))
    if danger:
        message = f"{where} could take very long: {danger.reason}; {danger.advice}"
        raise ConfigError(message)
    if ready.match(""):
        message = (
            f"{where} matches the empty text; require at least one character, with + or {{1,n}}"
        )
        raise ConfigError(message)
    return ready


def custom_spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """Yield what a user's pattern finds, leaving what is already masked alone.

    A hint that the pattern would find again is not given: redacting twice must change nothing.
    """
    markers = [(found.start(), found.end()) for found in _MASKED.finditer(text)]
    passed = 0
    for found in pattern.finditer(text):
        start, stop = found.span()
        while passed < len(markers) and markers[passed][1] <= start:
            passed += 1
        inside_marker = passed < len(markers) and markers[passed][0] < stop
        if stop == start or inside_marker:
            continue
        again = pattern.search(masked(found.group()))
        yield Span(start, stop, Mask.WHOLE if again else Mask.HINT)
