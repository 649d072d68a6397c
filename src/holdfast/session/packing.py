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
from functools import partial
from typing import TYPE_CHECKING, cast

import msgspec

from holdfast.errors import StoreDamaged
from holdfast.session.layout import from_fields, to_fields
from holdfast.session.squeezing import RAW, WORTH_SQUEEZING, squeeze, unsqueeze
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "BLOB_FROM",
    "Packer",
    "blob_hashes",
    "likely_hashes",
    "unpack",
]

BLOB_FROM = 4_096
"""Characters from which a text or a medium is stored on its own.

Each takes whole pages of the file then, which for a shorter one costs more room than storing it
again when it recurs: real sessions take 6 % less than with half of this.
"""

_JSON = b"j"
_PLAIN = _JSON + RAW
_HASH = re.compile(r"[0-9a-f]{64}")
_REFERENCE = re.compile(rb'"\$(?:text|base64)":"([0-9a-f]{64})"')
_read, _write = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
_read_any = json.JSONDecoder().decode
_write_any = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TEXT_REF, _BASE64_REF = "$text", "$base64"


class Packer:
    """Packs messages; what several of them refer to is squeezed once."""

    __slots__ = ("_foreign", "blobs")

    def __init__(self) -> None:
        """Begin with nothing packed."""
        self.blobs: dict[bytes, tuple[int, bytes]] = {}
        """What the bodies refer to: size and squeezed content by hash."""
        self._foreign: list[Mapping[str, object]] = []

    def pack(self, message: Message) -> str | bytes:
        """Return the message as a body; what it refers to is among the blobs."""
        text = _bare_text(message)
        if text is not None:
            return text
        self._foreign.clear()
        fields = to_fields(message, self)
        return _JSON + squeeze(_written(fields, self._foreign))

    def keep(self, content: bytes) -> bytes:
        """Add content to the blobs and return its hash."""
        digest = hashlib.sha256(content).digest()
        if digest not in self.blobs:
            self.blobs[digest] = len(content), squeeze(content)
        return digest

    def text(self, text: str) -> object:
        """Return a text of a message, or what refers to it where it is long."""
        if len(text) < BLOB_FROM:
            return text
        return {_TEXT_REF: self.keep(text.encode("utf-8", "surrogatepass")).hex()}

    def medium(self, content: str) -> object:
        """Return base64 text of a message, or what refers to it where it is long."""
        raw = None if len(content) < BLOB_FROM else _decoded(content)
        return self.text(content) if raw is None else {_BASE64_REF: self.keep(raw).hex()}

    def foreign(self, value: Mapping[str, object]) -> object:
        """Return a value of others, and remember to look whether JSON can say it."""
        self._foreign.append(value)
        return value


def _bare_text(message: Message) -> str | None:
    """Return the body of a message that is nothing but a short text, as most are."""
    # Without patterns, which take longer than all the rest.
    if len(message.parts) != 1 or message.form or message.synthetic is not None:
        return None
    only = message.parts[0]
    if not isinstance(only, Text) or only.extras or message.extras or message.pinned:
        return None
    text = only.text
    return text if len(text) < WORTH_SQUEEZING and _is_encodable(text) else None


def _written(fields: Mapping[str, object], foreign: Sequence[object]) -> bytes:
    """Return JSON: what `msgspec` writes in a fifth of the time, where that says the same.

    It writes things that are no JSON, such as dates and what is not a number, as something else,
    so what it has written of others' values is read back.
    """
    try:
        if not foreign or _read(_write(foreign)) == foreign:
            return _write(fields)
    except (TypeError, ValueError, RecursionError):
        pass  # among others half a pair of surrogates, which is not for it
    return _write_any(fields).encode("utf-8", "surrogatepass")


def unpack(role: Role, body: str | bytes, fetch: Callable[[bytes], bytes]) -> Message:
    """Return the message that was packed.

    Args:
        role: Who speaks; the store keeps it beside the body.
        body: What `Packer.pack` returned.
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


def _fields(body: bytes) -> dict[str, object]:
    if body[:1] != _JSON:
        raise StoreDamaged(f"a stored message has the unknown layout {body[:1]!r}")
    # Bytes are copied once: most messages are short, and reading a window reads thousands.
    content = body[2:] if body.startswith(_PLAIN) else unsqueeze(body[1:])
    try:
        return cast("dict[str, object]", _read(content))
    except ValueError:
        pass  # what `msgspec` has not written, it may not be able to read
    try:
        return _read_any(content.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise StoreDamaged(f"a stored message cannot be read: {error}") from error


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
