"""Media in the shape of another provider than the one whose dialect a list is written in.

Programs put the same image into lists of every dialect, in whichever shape they have it. Each codec
reads the shapes of its own provider, and asks here for those of all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from holdfast.transcript import Media
from holdfast.wire.common import Wire, kind_of, known_string, location, own, read_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.wire.common import MediaKind

_MEDIA_TYPES = ("media_type", "mime_type", "mimeType")
_IMAGES: Mapping[str, MediaKind] = {"image_url": "image", "input_image": "image"}
_SOURCES: Mapping[str, MediaKind] = {"image": "image", "document": "file"}
_UNTYPED: Mapping[str, MediaKind | None] = {"": None}
_SHAPES: tuple[tuple[tuple[str, str], Mapping[str, MediaKind | None]], ...] = (
    (("", "image_url"), _IMAGES),
    (("image_url", "url"), _IMAGES),
    (("", "file_id"), {"input_image": "image", "input_file": "file"}),
    (("", "file_data"), {"input_file": "file"}),
    (("", "file_url"), {"input_file": "file"}),
    (("file", "file_data"), {"file": "file"}),
    (("input_audio", "data"), {"input_audio": "audio"}),
    (("source", "data"), _SOURCES),
    (("source", "url"), _SOURCES),
    (("source", "file_id"), _SOURCES),
    (("", "data"), {"image": "image", "audio": "audio"}),
    (("inlineData", "data"), _UNTYPED),
    (("inline_data", "data"), _UNTYPED),
    (("fileData", "fileUri"), _UNTYPED),
    (("file_data", "file_uri"), _UNTYPED),
)
"""Where in a part media stands, perhaps in an object of its own, and what it is by the part's type.

None where the media type says what it is.
"""


def read_foreign(raw: Wire, dialect: str) -> Media | None:
    """Return media that has the shape of another provider; None when it has none that is known.

    The shape is filed under the dialect in whose list it stood: there it is written back as it
    was, and everywhere else as that provider writes media.
    """
    name = known_string(raw, "type")
    for (outer, key), kinds in _SHAPES:
        holder = own(raw, outer) if outer else raw
        payload = holder.get(key)
        # A document of Anthropic's may hold plain text, which is read and not looked at.
        if name not in kinds or not isinstance(payload, str) or holder.get("type") == "text":
            continue
        media_type = next((known_string(holder, key) for key in _MEDIA_TYPES if key in holder), "")
        if kinds[name] == "audio" and not media_type:
            media_type = f"audio/{known_string(holder, 'format')}"
        data, address = (payload, "") if key == "data" else ("", payload)
        if address.startswith("data:"):
            found, data, address = read_url(address)
            media_type = found or media_type
        hole: Wire = {**holder, key: None}
        frame = {**raw, outer: hole} if outer else hole
        shape: Wire = {"outer": outer, "key": key, "frame": frame}
        kind = kinds[name] or kind_of(media_type)
        return Media(kind, media_type, data, address, {f"{dialect}:media": shape})
    return None


def write_foreign(media: Media, dialect: str) -> Wire | None:
    """Return media in the shape in which `read_foreign` found it; None when it did not."""
    shape = own(media.extras, f"{dialect}:media")
    if not shape:
        return None
    outer, key, frame = str(shape["outer"]), str(shape["key"]), own(shape, "frame")
    payload = media.data if key == "data" else location(media)
    if not outer:
        return {**frame, key: payload}
    return {**frame, outer: {**own(frame, outer), key: payload}}


def envelope_of(content: object) -> Wire:
    """Return what Hermes wraps around a tool result with images, if the content is that.

    Its `content` has the parts, and it is taken off before a provider sees the message.
    """
    envelope = cast("Wire", content) if isinstance(content, dict) else {}
    is_one = envelope.get("_multimodal") and isinstance(envelope.get("content"), list)
    return envelope if is_one else {}
