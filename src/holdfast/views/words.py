"""Words for counts and moments, and text that is safe to show and cut to a line."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_ELLIPSIS = "…"
_COLORS = re.compile(r"\x1b\[[0-9;:]*m")
"""How programs color their output in a terminal; nothing else has anything to show for it."""
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Signs that a page may not hold, that a terminal obeys, or that turn the order of words around."""
_PICTURES = 0x2400
_DELETE = 0x7F
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


def visible(text: str) -> str:
    """Return the text with its line breaks, and without signs that do something unseen.

    Control characters become pictures of themselves, signs that reverse text become their names
    in brackets, halves of characters become the sign for what cannot be shown.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\x1b" in plain:
        plain = _COLORS.sub("", plain)
    return _HIDDEN.sub(_picture, plain) if not plain.isascii() or _HIDDEN.search(plain) else plain


def spelled_out(text: str) -> str:
    """Return JSON whose hidden signs are escapes: it says the same, and a terminal shows it."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _picture(found: re.Match[str]) -> str:
    sign = ord(found[0])
    if sign < ord(" "):
        return chr(_PICTURES + sign)
    if sign == _DELETE:
        return "\u2421"
    if 0x2000 <= sign < 0x2100:
        return f"[U+{sign:04X}]"
    return "\ufffd"


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
