"""Bodies of requests: unpacked, read within bounds, and put together again from their own bytes."""

from __future__ import annotations

import io
import json
import zlib
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["HttpRefusal", "read_object", "spliced", "unpacked"]

DEEPEST = 100
"""Levels of nesting that a request may have; the deepest schemas of tools have thirty."""
_WINDOW = zlib.MAX_WBITS | 32
"""Reads gzip and zlib alike."""


class HttpRefusal(Exception):
    """A request that is answered here: with a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        """Keep both."""
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def unpacked(raw: bytes, encodings: str, limit: int) -> bytes:
    """Return what a body is without its content encodings.

    Raises:
        HttpRefusal: when it is larger than the limit, cannot be unpacked, or is packed otherwise.
    """
    for encoding in reversed(encodings.lower().split(",")):
        try:
            match encoding.strip():
                case "" | "identity":
                    continue
                case "gzip" | "x-gzip" | "deflate":
                    raw = _inflated(raw, limit)
                case "zstd" if find_spec("zstandard"):
                    raw = _zstd(raw, limit)
                case "br" if find_spec("brotli"):
                    raw = _brotli(raw, limit)
                case other:
                    raise HttpRefusal(
                        415, f"a body that is packed with {other[:20]!r} cannot be read"
                    )
        except (ValueError, zlib.error, EOFError) as error:
            raise HttpRefusal(400, f"the body is not packed with {encoding.strip()}") from error
        if len(raw) > limit:
            raise too_large(limit)
    return raw


def too_large(limit: int) -> HttpRefusal:
    """Return the refusal of a body over the limit."""
    return HttpRefusal(413, f"the request is larger than {limit:,} bytes (gateway.max_body_bytes)")


def _inflated(raw: bytes, limit: int) -> bytes:
    whole = bytearray()
    while raw:
        member = zlib.decompressobj(_WINDOW)
        whole += member.decompress(raw, limit + 1 - len(whole))
        if len(whole) > limit:
            break
        if not member.eof:
            raise EOFError
        raw = member.unused_data
    return bytes(whole)


def _zstd(raw: bytes, limit: int) -> bytes:
    from zstandard import ZstdDecompressor, ZstdError

    try:
        reader = ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True)
        return reader.read(limit + 1)
    except ZstdError as error:
        raise ValueError from error


def _brotli(raw: bytes, limit: int) -> bytes:
    # It has no types.
    brotli: Any = import_module("brotli")
    packed = brotli.Decompressor()
    try:
        whole = bytearray(packed.process(raw, output_buffer_limit=limit + 1))
        while not packed.is_finished() and len(whole) <= limit:
            more = packed.process(b"", output_buffer_limit=limit + 1 - len(whole))
            if not more:
                raise EOFError
            whole += more
    except brotli.error as error:
        raise ValueError from error
    return bytes(whole)


def read_object(data: bytes) -> dict[str, object]:
    """Return the JSON object that a body is.

    Raises:
        HttpRefusal: when it is none, or nested too deeply.
    """
    try:
        try:
            found: object = msgspec.json.decode(data)
        except ValueError:
            # Half of a surrogate pair, which some clients cut an emoji to.
            found = json.loads(data)
    except RecursionError:
        raise HttpRefusal(400, f"the body is nested more than {DEEPEST} levels deep") from None
    except ValueError as error:
        raise HttpRefusal(400, f"the body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise HttpRefusal(400, "the body is not a JSON object")
    level: list[object] = [cast("object", found)]
    for _ in range(DEEPEST):
        level = [
            child
            for each in level
            for child in (
                cast("dict[str, object]", each).values()
                if isinstance(each, dict)
                else cast("list[object]", each)
            )
            if isinstance(child, dict | list) and child
        ]
        if not level:
            return cast("dict[str, object]", found)
    raise HttpRefusal(400, f"the body is nested more than {DEEPEST} levels deep")


def spliced(data: bytes, name: str, messages: Sequence[object]) -> bytes:
    """Return a body with other messages under a name; everything else stays byte for byte."""
    try:
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return msgspec.json.encode({**fields, name: messages})
    except (UnicodeError, msgspec.DecodeError):
        whole = {**json.loads(data), name: messages}
        return json.dumps(whole, separators=(",", ":")).encode()
