"""Words for counts and moments, and text cut to the columns of a terminal or of a line."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime

__all__ = ["ago", "cells", "clean", "clock_time", "counted", "crop", "iso_time", "shortly_ago"]

_ELLIPSIS = "…"
_UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_STEPS = ((60, 1, "second"), (3600, 60, "minute"), (86_400, 3600, "hour"), (0, 86_400, "day"))
_RECENT_DAYS = 30


def clean(text: str) -> str:
    """Return the text on one line without control characters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        " " if sign in "\t\r\n" else "" if unicodedata.category(sign) in _UNSAFE else sign
        for sign in text
    )


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as `1 message` and `2,000 messages`."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {many or f'{one}s'}"


def cells(text: str) -> int:
    """Return how many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def crop(text: str, width: int) -> str:
    """Return the text in at most `width` columns, with an ellipsis where it was cut."""
    if cells(text) <= width:
        return text
    room = max(width - 1, 0)
    kept: list[str] = []
    for sign in text:
        room -= _cells(sign)
        if room < 0:
            break
        kept.append(sign)
    return "".join(kept).rstrip() + _ELLIPSIS


def _cells(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def iso_time(at: int | None) -> str | None:
    """Return a moment as ISO 8601 in UTC; None where it is not known, which 0 stands for."""
    if not at:
        return None
    try:
        return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None


def ago(at: int, now: int) -> str:
    """Return how long ago a moment was, such as `3 hours ago`; 0 stands for one nobody knows."""
    if not at:
        return "undated"
    seconds = (now - at) // 1000
    if seconds < 0:
        return "in the future"
    if seconds < 5:
        return "just now"
    below, size, unit = next(step for step in _STEPS if seconds < step[0] or not step[0])
    count = seconds // size
    if not below and count > _RECENT_DAYS:
        count, unit = (count // 30, "month") if count < 365 else (count // 365, "year")
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def shortly_ago(at: int, now: int) -> str:
    """Return how long ago a moment was in few columns: `3 hours ago` is `3h ago`."""
    words = ago(at, now)
    count, _, rest = words.partition(" ")
    if not count.isdigit():
        return words
    unit, _, last = rest.partition(" ")
    return f"{count}{'mo' if unit.startswith('mo') else unit[0]} {last}"


def clock_time(at: int) -> str:
    """Return a moment as local date and time, such as `2026-11-15 09:30`."""
    if not at:
        return "undated"
    try:
        return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
