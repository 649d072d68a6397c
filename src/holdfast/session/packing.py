"""Messages as bytes: lossless, small, and readable by every later version.

A plain text message is stored as its text. Everything else is JSON, compressed where that pays.
Long texts and media leave the message and are stored once under their hash, however often they
recur. The first byte of a packed message names the layout; layouts are never reused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from holdfast.errors import StoreDamaged
from holdfast.session.layout import from_fields, to_fields
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "BLOB_FROM",
    "Packed",
    "bare_text",
    "blob_hashes",
    "likely_hashes",
    "pack",
    "squeeze",
    "unpack",
    "unsqueeze",
]

BLOB_FROM = 4_096
"""Characters from which a text or a medium is stored on its own.

Each takes whole pages of the file then, which for a shorter one costs more room than storing it
again when it recurs: real sessions take 6 % less than with half of this.
"""

_JSON = b"j"
_RAW, _DEFLATED = b"r", b"d"
_PLAIN = _JSON + _RAW
_WORTH_SQUEEZING = 512
"""Bytes from which compressing pays: below, it takes longer than all the rest of an append."""
_LEVEL = 4
"""Takes a quarter less time than the usual 6, and 1 to 3 % more room."""
_HASH = re.compile(r"[0-9a-f]{64}")
_REFERENCE = re.compile(rb'"\$(?:text|base64)":"([0-9a-f]{64})"')
_decode = json.JSONDecoder().raw_decode
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_WINDOW_BITS = -15
"""Bare deflate: the store has checksums of its own."""
_TEXT_REF, _BASE64_REF = "$text", "$base64"
_DICTIONARY = (
    b'{"k":"call","id":"toolu_call_","name":"read_file","arguments":"{\\"path\\": \\"/src/'
    b'{"k":"result","call_id":"call_","content":[{"k":"text","text":"'
    b'"extras":{"openai":{}},"form":"string","is_error":true,"thinking","signature":"'
    b"Traceback (most recent call last):\n  File error: failed warning: exception "
    b"def class import return self None True False function const export from the "
    b"and that with this for you are not have please should would test tests passed "
)
"""Primes the compressor with what messages of agents are full of; part of the layout `d`."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A message as the store keeps it."""

    body: str | bytes
    blobs: Mapping[bytes, bytes]
    """What the body refers to, by hash, not compressed."""


def bare_text(message: Message) -> str | None:
    """Return the body of a message that is nothing but a short text, as most are."""
    # Without patterns, which take longer than all the rest.
    if len(message.parts) != 1 or message.form or message.synthetic is not None:
        return None
    only = message.parts[0]
    if not isinstance(only, Text) or only.extras or message.extras or message.pinned:
        return None
    text = only.text
    return text if len(text) < _WORTH_SQUEEZING and _is_encodable(text) else None


def pack(message: Message) -> Packed:
    """Return the message as a body, and the blobs that the body refers to."""
    text = bare_text(message)
    if text is not None:
        return Packed(text, {})
    blobs: dict[bytes, bytes] = {}

    def keep(value: str, *, is_base64: bool = False) -> object:
        if len(value) < BLOB_FROM:
            return value
        raw = _decoded(value) if is_base64 else None
        content = value.encode("utf-8", "surrogatepass") if raw is None else raw
        digest = hashlib.sha256(content).digest()
        blobs[digest] = content
        return {_TEXT_REF if raw is None else _BASE64_REF: digest.hex()}

    written = _encode(to_fields(message, keep))
    return Packed(_JSON + squeeze(written.encode("utf-8", "surrogatepass")), blobs)


def unpack(role: Role, body: str | bytes, fetch: Callable[[bytes], bytes]) -> Message:
    """Return the message that was packed.

    Args:
        role: Who speaks; the store keeps it beside the body.
        body: What `pack` returned.
        fetch: Returns the content of a blob by its hash.

    Raises:
        StoreDamaged: when the body is none that any version has written.
    """
    if isinstance(body, str):
        return Message(role, (Text(body),))

    fields = _fields(body)
    try:
        return from_fields(role, fields, partial(_fetched, fetch))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreDamaged(f"a stored message cannot be read: {error!r}") from error


def likely_hashes(body: str | bytes) -> list[bytes]:
    """Return blobs that a packed message refers to, as far as that shows without unpacking it.

    It serves to read many blobs at once. A message that refers to blobs is short as a rule, so
    that it is not compressed.
    """
    if not isinstance(body, bytes) or not body.startswith(_PLAIN):
        return []
    return [bytes.fromhex(digest.decode()) for digest in _REFERENCE.findall(body)]


def blob_hashes(body: str | bytes) -> frozenset[bytes]:
    """Return the blobs that a packed message refers to."""
    found: set[bytes] = set()
    waiting: list[object] = [] if isinstance(body, str) else [_fields(body)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            digest = fields.get(_TEXT_REF) or fields.get(_BASE64_REF)
            if isinstance(digest, str) and _HASH.fullmatch(digest):
                found.add(bytes.fromhex(digest))
            waiting += fields.values()
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
    return frozenset(found)


def squeeze(content: bytes) -> bytes:
    """Return the content compressed where that pays, with a byte in front that says whether."""
    if len(content) >= _WORTH_SQUEEZING:
        compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW_BITS, zdict=_DICTIONARY)
        smaller = compressor.compress(content) + compressor.flush()
        if len(smaller) < len(content):
            return _DEFLATED + smaller
    return _RAW + content


def unsqueeze(stored: bytes) -> bytes:
    """Return what was squeezed.

    Raises:
        StoreDamaged: when the bytes are none that any version has written.
    """
    layout, content = stored[:1], stored[1:]
    if layout == _RAW:
        return content
    if layout != _DEFLATED:
        raise StoreDamaged(f"stored bytes have the unknown layout {layout!r}")
    expander = zlib.decompressobj(_WINDOW_BITS, zdict=_DICTIONARY)
    try:
        expanded = expander.decompress(content)
        return expanded if expander.eof else expanded + expander.flush()
    except zlib.error as error:
        raise StoreDamaged(f"stored bytes cannot be expanded: {error}") from error


def _fields(body: bytes) -> dict[str, object]:
    if body[:1] != _JSON:
        raise StoreDamaged(f"a stored message has the unknown layout {body[:1]!r}")
    try:
        # Bytes are copied once: most messages are short, and reading a window reads thousands.
        content = body[2:] if body.startswith(_PLAIN) else unsqueeze(body[1:])
        written = content.decode("utf-8", "surrogatepass")
        fields, end = _decode(written)
    except ValueError as error:
        raise StoreDamaged(f"a stored message cannot be read: {error}") from error
    if end != len(written):
        raise StoreDamaged(f"a stored message cannot be read: it ends at {end}")
    return cast("dict[str, object]", fields)


def _fetched(fetch: Callable[[bytes], bytes], reference: Mapping[str, object]) -> str:
    if _BASE64_REF in reference:
        return base64.b64encode(fetch(bytes.fromhex(str(reference[_BASE64_REF])))).decode()
    content = fetch(bytes.fromhex(str(reference[_TEXT_REF])))
    return content.decode("utf-8", "surrogatepass")


def _is_encodable(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _decoded(value: str) -> bytes | None:
    """Return what base64 text stands for, if encoding it again gives the same text."""
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == value else None
