"""Unpacks what an agent packed inside its database; files that are packed are unpacked in `files`.

A value comes whole, so what it unpacks to is bounded: a few bytes may claim to be anything.
"""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["unpacked"]

_ZSTD = b"\x28\xb5\x2f\xfd"
_MOST = 256 * 1024 * 1024


def unpacked(value: object) -> object:
    """Return what a value was before it was packed with zstd.

    Any other value comes back as it is, and so does one that is damaged or too large, or that
    nothing here can unpack: whoever reads it sees that it is packed.
    """
    if not isinstance(value, bytes) or not value.startswith(_ZSTD):
        return value
    if find_spec("zstandard") is None:
        return value
    from zstandard import ZstdDecompressor, ZstdError

    try:
        with ZstdDecompressor().stream_reader(value) as stream:
            found = stream.read(_MOST + 1)
    except (ZstdError, MemoryError):
        return value
    return found if 0 < len(found) <= _MOST else value
