"""Text, code and images as markup: whatever stands in them, a browser only shows it."""

from __future__ import annotations

import re
from html import escape as escape_markup
from typing import TYPE_CHECKING

from holdfast.views.words import visible

if TYPE_CHECKING:
    from holdfast.transcript import Media

__all__ = ["attribute", "escaped", "line_of", "media_shown", "preformatted", "web_address"]

_WEB = re.compile(r"https?://[^\s\"'<>\\^`{|}]{1,2000}", re.IGNORECASE)
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
    """Return the text as words of a page, with every sign in it visible."""
    return escape_markup(visible(text))


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


def preformatted(text: str) -> str:
    """Return the text line by line as it is, in letters of one width."""
    # The first line break after the tag belongs to the tag, as browsers read it.
    return f'<pre dir="auto">\n{escaped(text)}</pre>'


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
