"""Images in the page itself; whatever cannot be shown there is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.cli.html.escape import escaped, line_of, web_address

if TYPE_CHECKING:
    from holdfast.transcript import Media

__all__ = ["media_shown"]

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


def media_shown(media: Media) -> str:
    """Return an image as such, and what is no image, or is elsewhere, as words about it."""
    content = _content(media)
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


def _content(media: Media) -> str:
    inline = _INLINE.match(media.url)
    content = media.data or (media.url[inline.end() :] if inline else "")
    return "".join(content.split()) if any(map(str.isspace, content)) else content


def _named(media: Media, content: str) -> str:
    words = [media.kind, media.media_type]
    if content:
        words.append(f"of {len(content) * 3 // 4:,} bytes, not shown")
    elif media.url:
        words += ["at", media.url]
    return line_of(" ".join(filter(None, words)), _WIDEST)
