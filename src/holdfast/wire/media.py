"""Images, sounds and files as providers write them: data URLs, references, placeholders."""

from __future__ import annotations

from typing import Literal, TypeAlias

from holdfast.transcript import Media

__all__ = ["Kind", "is_reachable", "kind_of", "location", "placeholder", "read_url"]

Kind: TypeAlias = Literal["image", "audio", "video", "file"]
_BASE64 = ";base64,"


def kind_of(media_type: str) -> Kind:
    """Return what a media type is about."""
    match media_type.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case _:
            return "file"


def read_url(url: str) -> tuple[str, str, str]:
    """Return the media type, the base64 text and the address of a URL.

    Only a data URL in its plain form is taken apart; any other stays an address, so that it
    can be written as it was.
    """
    if url.startswith("data:"):
        head, mark, payload = url[5:].partition(_BASE64)
        if mark and ";" not in head:
            return head, payload, ""
    return "", "", url


def location(media: Media) -> str:
    """Return the address of the media: where it is, or the media itself."""
    return media.url or f"data:{media.media_type}{_BASE64}{media.data}"


def is_reachable(media: Media, dialect: str) -> bool:
    """Say whether a provider can get at the media.

    A file id is known to the provider that gave it and to nobody else.
    """
    address = media.url
    return (
        bool(media.data)
        or "://" in address
        or address.startswith("data:")
        or dialect in media.extras
    )


def placeholder(media: Media) -> str:
    """Return words for media that a provider does not take in this place."""
    address = media.url if "://" in media.url else ""
    return f"[{media.kind} left out{': ' if address else ''}{address}]"
