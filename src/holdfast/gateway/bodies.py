"""Bodies of requests: unpacked, read within bounds, and put together again from their own bytes."""

from __future__ import annotations

import io
import json
import zlib
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import msgspec

from holdfast.recognition.request import MESSAGES, said_by
from holdfast.recognition.slices import KnownSlices, MessageSlices, decoded, slice_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.recognition.atoms import Atom

DEEPEST = 100
"""Levels of nesting that a request may have; the deepest schemas of tools have thirty."""
_FLAT = 2 * (DEEPEST - 2)
"""Bytes of a value that is too short to be nested too deeply: each level has two brackets."""
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SLICES = msgspec.json.Decoder(list[msgspec.Raw])
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


def read_body(data: bytes, dialect: str, known: KnownSlices, owner: str = "") -> dict[str, object]:
    """Return what a request to a model says; its messages stay slices, those that are known unread.

    Args:
        data: The body.
        dialect: Whose request it is.
        known: What earlier requests said.
        owner: Whose messages these are: nobody else's are known to them.

    Raises:
        HttpRefusal: when it is no JSON object, or nested too deeply.
    """
    name = MESSAGES[dialect]
    try:
        fields = _FIELDS.decode(data)
        slices = _SLICES.decode(fields.pop(name))
    except (ValueError, KeyError, RecursionError):
        return read_object(data)
    found = {field: _value(raw) for field, raw in fields.items()}
    long = [field for field, raw in fields.items() if len(raw) > _FLAT]
    read: dict[int, object] = {}

    def check(place: int) -> tuple[Atom, ...]:
        _check_depth(found[long[place]], DEEPEST - 1)
        return ()

    def atoms(place: int) -> tuple[Atom, ...]:
        read[place] = message = _value(slices[place])
        if len(slices[place]) > _FLAT:
            _check_depth(message, DEEPEST - 2)
        return said_by(message, dialect)

    # By a key of their own: a message says something where a field of the same bytes does not.
    known.said([fields[each] for each in long], slice_key(owner, dialect, "field"), check)
    said = known.said(slices, slice_key(owner, dialect), atoms)
    found[name] = MessageSlices(slices, said, read)
    return found


def read_object(data: bytes) -> dict[str, object]:
    """Return the JSON object that a body is.

    Raises:
        HttpRefusal: when it is none, or nested too deeply.
    """
    found = _value(data)
    if not isinstance(found, dict):
        raise HttpRefusal(400, "the body is not a JSON object")
    _check_depth(cast("object", found), DEEPEST)
    return cast("dict[str, object]", found)


def _value(raw: bytes | msgspec.Raw) -> object:
    try:
        return decoded(raw)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise HttpRefusal(400, f"the body is not JSON: {error}") from None


def _check_depth(value: object, most: int) -> None:
    """Refuse a value that has more levels than a limit."""
    level: list[object] = [value]
    for _ in range(most):
        level = [
            child
            for each in level
            for child in (
                cast("dict[str, object]", each).values()
                if isinstance(each, dict)
                else cast("list[object]", each if isinstance(each, list) else [])
            )
            if isinstance(child, dict | list) and child
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> HttpRefusal:
    return HttpRefusal(400, f"the body is nested more than {DEEPEST} levels deep")


def spliced(data: bytes, name: str, messages: Sequence[object], asked: object = None) -> bytes:
    """Return a body with other messages under a name; everything else stays byte for byte.

    Args:
        data: The body.
        name: Where it has its messages.
        messages: What stands there instead.
        asked: The messages that it has: those of them that go out again stay as they are, too.
    """
    if isinstance(asked, MessageSlices):
        messages = asked.as_written(messages)
    try:
        return msgspec.json.encode({**_FIELDS.decode(data), name: messages})
    except (UnicodeError, msgspec.DecodeError):
        plain = [json.loads(bytes(m)) if isinstance(m, msgspec.Raw) else m for m in messages]
        whole = {**json.loads(data), name: plain}
        return json.dumps(whole, separators=(",", ":")).encode()
