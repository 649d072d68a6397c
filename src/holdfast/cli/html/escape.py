"""Makes any text safe and readable inside a page: as words, in attributes, as addresses."""

from __future__ import annotations

import re
from html import escape as escape_markup

__all__ = ["attribute", "escaped", "line_of", "web_address"]

_COLORS = re.compile(r"\x1b\[[0-9;:]*m")
"""How programs color their output in a terminal; a page has nothing to show for it."""
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Signs that a page may not hold, or that would turn the order of words around."""
_PICTURES = 0x2400
_DELETE = 0x7F
_WEB = re.compile(r"https?://[^\s\"'<>\\^`{|}]{1,2000}", re.IGNORECASE)


def escaped(text: str) -> str:
    """Return the text as words of a page.

    Control characters become pictures of themselves, signs that reverse text become their names
    in brackets, halves of characters become the sign for what cannot be shown.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\x1b" in plain:
        plain = _COLORS.sub("", plain)
    if not plain.isascii() or _HIDDEN.search(plain):
        plain = _HIDDEN.sub(_shown, plain)
    return escape_markup(plain)


def attribute(text: str) -> str:
    """Return the text as the value of an attribute, on one line and without its quotes."""
    return escaped(" ".join(text.split()))


def line_of(text: str, width: int) -> str:
    """Return the beginning of the first line that says something, as words of a page."""
    for line in text[: 20 * width].splitlines():
        words = " ".join(line.split())
        if words:
            return escaped(words if len(words) <= width else words[: width - 1] + "…")
    return ""


def web_address(text: str) -> str:
    """Return an address that is safe to follow, as the value of an attribute, or nothing."""
    return escaped(text) if _WEB.fullmatch(text) else ""


def _shown(found: re.Match[str]) -> str:
    sign = ord(found[0])
    if sign < ord(" "):
        return chr(_PICTURES + sign)
    if sign == _DELETE:
        return "\u2421"
    if 0x2000 <= sign < 0x2100:
        return f"[U+{sign:04X}]"
    return "\ufffd"
