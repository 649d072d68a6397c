"""Text, code and images as markup: whatever stands in them, a browser only shows it."""

from __future__ import annotations

import re
from html import escape as escape_markup
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.transcript import Media

__all__ = ["attribute", "escaped", "line_of", "media_shown", "preformatted", "prose", "web_address"]

_COLORS = re.compile(r"\x1b\[[0-9;:]*m")
"""How programs color their output in a terminal; a page has nothing to show for it."""
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Signs that a page may not hold, or that would turn the order of words around."""
_PICTURES = 0x2400
_DELETE = 0x7F
_WEB = re.compile(r"https?://[^\s\"'<>\\^`{|}]{1,2000}", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`\n]*")
_ENCODED = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_INLINE = re.compile(r"data:[^,]{0,100};base64,", re.IGNORECASE)
# What the bytes say is shown, not what somebody says they are. Drawings made of markup are left
# out: they are documents of their own.
_BEGINNINGS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
}
_WIDEST = 120


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


def prose(text: str) -> str:
    """Return the text as paragraphs, and what stands in fences as blocks of code.

    Nothing else of Markdown is interpreted: its signs are readable as they are.
    """
    if "```" not in text and "~~~" not in text:
        return _paragraphs(text)
    return "".join(_blocks(text.splitlines()))


def preformatted(text: str) -> str:
    """Return the text line by line as it is, in letters of one width."""
    # The first line break after the tag belongs to the tag, as browsers read it.
    return f'<pre dir="auto">\n{escaped(text)}</pre>'


def _blocks(lines: list[str]) -> Iterator[str]:
    fence = ""
    found: list[str] = []
    for line in lines:
        opening = _FENCE.fullmatch(line)
        if fence:
            mark = line.strip()
            if mark.startswith(fence) and not mark.strip(fence[0]):
                yield preformatted("\n".join(found))
                fence, found = "", []
                continue
        elif opening:
            yield _paragraphs("\n".join(found))
            fence, found = opening[1], []
            continue
        found.append(line)
    rest = "\n".join(found)
    yield preformatted(rest) if fence else _paragraphs(rest)


def _paragraphs(text: str) -> str:
    words = text.strip("\n")
    return f'<div class="words" dir="auto">{escaped(words)}</div>' if words.strip() else ""


def media_shown(media: Media) -> str:
    """Return an image as such, and what is no image, or is elsewhere, as words about it."""
    inline = _INLINE.match(media.url)
    content = media.data or (media.url[inline.end() :] if inline else "")
    content = "".join(content.split()) if any(map(str.isspace, content)) else content
    kind = next((name for start, name in _BEGINNINGS.items() if content.startswith(start)), "")
    if media.kind == "image" and kind and _ENCODED.fullmatch(content):
        source = f"data:{kind};base64,{content}"
        return f'<img src="{source}" alt="image of the conversation" loading="lazy">'
    address = web_address(media.url)
    if address:
        words = line_of(media.url, _WIDEST)
        link = f'<a href="{address}" rel="noopener noreferrer nofollow">{words}</a>'
        return f'<p class="aside">{escaped(media.kind)} at {link}</p>'
    return f'<p class="aside">{_named(media, content)}</p>'


def _named(media: Media, content: str) -> str:
    words = [media.kind, media.media_type]
    if content:
        words.append(f"of {len(content) * 3 // 4:,} bytes, not shown")
    elif media.url:
        words += ["at", media.url]
    return line_of(" ".join(filter(None, words)), _WIDEST)
