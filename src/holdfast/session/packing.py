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
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, assert_never, cast

import msgspec

from holdfast.errors import StoreDamaged
from holdfast.session.squeezing import RAW, WORTH_SQUEEZING, squeeze, unsqueeze
from holdfast.transcript import (
    NO_EXTRAS,
    Media,
    Message,
    Opaque,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.transcript import Content, Extras, Part

Fields: TypeAlias = dict[str, Any]
Fetch: TypeAlias = Callable[[Mapping[str, object]], str]
"""Returns the text that a reference stands for."""


class Keep(Protocol):
    """Sees what is written of a message, and may take long texts out of it."""

    def text(self, text: str) -> object:
        """Return the text itself, or what refers to it."""
        ...

    def medium(self, content: str) -> object:
        """Return base64 text itself, or what refers to it."""
        ...

    def foreign(self, value: Mapping[str, object]) -> object:
        """Return a value of others, which may hold anything."""
        ...


def to_fields(message: Message, keep: Keep) -> Fields:
    """Return the message as JSON values, without its role and without what is empty."""
    # Each field is asked for by itself, here and below: this runs for every message of an import.
    fields: Fields = {}
    if message.parts:
        fields["parts"] = [_part_fields(part, keep) for part in message.parts]
    if message.form:
        fields["form"] = message.form
    if message.synthetic:
        fields["synthetic"] = message.synthetic
    if message.pinned:
        fields["pinned"] = message.pinned
    return _with(message.extras, fields, keep)


def from_fields(role: Role, fields: Fields, fetch: Fetch) -> Message:
    """Return the message that `to_fields` wrote, asking for what it refers to."""
    parts = tuple([_PARTS[each["k"]](each, fetch) for each in fields.get("parts", ())])
    if len(fields) == 1 and parts:
        return Message(role, parts)
    synthetic = fields.get("synthetic")
    return Message(
        role,
        parts,
        form=fields.get("form", ""),
        synthetic=None if synthetic is None else Synthetic(synthetic),
        pinned=fields.get("pinned", False),
        extras=fields.get("extras") or NO_EXTRAS,
    )


def _part_fields(part: Part, keep: Keep) -> Fields:
    match part:
        case Text():
            return _with(part.extras, _worded("text", part.text, keep), keep)
        case ToolCall():
            return _with(part.extras, _call_fields(part, keep), keep)
        case ToolResult():
            return _with(part.extras, _result_fields(part, keep), keep)
        case Thinking():
            return _with(part.extras, _thinking_fields(part, keep), keep)
        case Media():
            return _with(part.extras, _media_fields(part, keep), keep)
        case Summary():
            return _summary_fields(part, keep)
        case Recalled():
            return _worded("recalled", part.text, keep)
        case Opaque():
            return _opaque_fields(part, keep)
        case _:
            assert_never(part)


def _with(extras: Extras, fields: Fields, keep: Keep) -> Fields:
    if extras:
        fields["extras"] = keep.foreign(extras)
    return fields


def _worded(kind: str, text: str, keep: Keep) -> Fields:
    return {"k": kind, "text": keep.text(text)} if text else {"k": kind}


def _call_fields(part: ToolCall, keep: Keep) -> Fields:
    fields: Fields = {"k": "call"}
    if part.id:
        fields["id"] = part.id
    if part.name:
        fields["name"] = part.name
    if part.arguments:
        fields["args"] = keep.text(part.arguments)
    return fields


def _result_fields(part: ToolResult, keep: Keep) -> Fields:
    fields: Fields = {"k": "result"}
    if part.call_id:
        fields["id"] = part.call_id
    if part.is_error:
        fields["error"] = part.is_error
    if part.content:
        fields["content"] = [_part_fields(piece, keep) for piece in part.content]
    if part.name:
        fields["name"] = part.name
    if part.form:
        fields["form"] = part.form
    return fields


def _thinking_fields(part: Thinking, keep: Keep) -> Fields:
    fields = _worded("thinking", part.text, keep)
    # A seal that is an empty text is a seal all the same.
    if part.signature is not None:
        fields["seal"] = keep.text(part.signature)
    return fields


def _media_fields(part: Media, keep: Keep) -> Fields:
    fields: Fields = {"k": "media", "kind": part.kind}
    if part.media_type:
        fields["type"] = part.media_type
    if part.data:
        fields["bytes"] = keep.medium(part.data)
    if part.url:
        fields["url"] = part.url
    return fields


def _summary_fields(part: Summary, keep: Keep) -> Fields:
    fields = _worded("summary", part.text, keep)
    if part.origin:
        fields["origin"] = part.origin
    if part.check:
        fields["check"] = part.check
    if part.claimed:
        fields["claimed"] = True
    return fields


def _opaque_fields(part: Opaque, keep: Keep) -> Fields:
    fields: Fields = {"k": "opaque"}
    if part.dialect:
        fields["dialect"] = part.dialect
    if part.value:
        fields["value"] = keep.foreign(part.value)
    if part.readable:
        fields["readable"] = part.readable
    return fields


def _read(value: object, fetch: Fetch) -> str:
    """Return a text that stands here, or that is referred to."""
    if isinstance(value, dict):
        return fetch(cast("Mapping[str, object]", value))
    return cast("str", value or "")


def _text(fields: Fields, fetch: Fetch) -> Text:
    return Text(_read(fields.get("text"), fetch), fields.get("extras") or NO_EXTRAS)


def _thinking(fields: Fields, fetch: Fetch) -> Thinking:
    seal = fields.get("seal")
    return Thinking(
        _read(fields.get("text"), fetch),
        None if seal is None else _read(seal, fetch),
        fields.get("extras") or NO_EXTRAS,
    )


def _call(fields: Fields, fetch: Fetch) -> ToolCall:
    return ToolCall(
        fields.get("id", ""),
        fields.get("name", ""),
        _read(fields.get("args"), fetch),
        fields.get("extras") or NO_EXTRAS,
    )


def _result(fields: Fields, fetch: Fetch) -> ToolResult:
    pieces = [_PARTS[piece["k"]](piece, fetch) for piece in fields.get("content", ())]
    return ToolResult(
        fields.get("id", ""),
        cast("tuple[Content, ...]", tuple(pieces)),
        is_error=fields.get("error", False),
        name=fields.get("name", ""),
        form=fields.get("form", ""),
        extras=fields.get("extras") or NO_EXTRAS,
    )


def _media(fields: Fields, fetch: Fetch) -> Media:
    return Media(
        fields.get("kind", "image"),
        fields.get("type", ""),
        _read(fields.get("bytes"), fetch),
        fields.get("url", ""),
        fields.get("extras") or NO_EXTRAS,
    )


def _summary(fields: Fields, fetch: Fetch) -> Summary:
    return Summary(
        _read(fields.get("text"), fetch),
        fields.get("origin", ""),
        fields.get("check", ""),
        claimed=fields.get("claimed", False),
    )


def _recalled(fields: Fields, fetch: Fetch) -> Recalled:
    return Recalled(_read(fields.get("text"), fetch))


def _opaque(fields: Fields, _: Fetch) -> Opaque:
    value = cast("dict[str, object]", fields.get("value") or {})
    return Opaque(fields.get("dialect", ""), value, fields.get("readable", ""))


_PARTS: Mapping[str, Callable[[Fields, Fetch], Part]] = {
    "text": _text,
    "thinking": _thinking,
    "call": _call,
    "result": _result,
    "media": _media,
    "summary": _summary,
    "recalled": _recalled,
    "opaque": _opaque,
}
"""What reads each kind of part. A kind that is not here raises, as everything unreadable does."""


BLOB_FROM = 4_096
"""Characters from which a text or a medium is stored on its own.

Each takes whole pages of the file then, which for a shorter one costs more room than storing it
again when it recurs: real sessions take 6 % less than with half of this.
"""

_JSON = b"j"
_PLAIN = _JSON + RAW
_HASH = re.compile(r"[0-9a-f]{64}")
_REFERENCE = re.compile(rb'"\$(?:text|base64)":"([0-9a-f]{64})"')
_decode, _write = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
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
    if type(only) is not Text or only.extras or message.extras or message.pinned:
        return None
    text = only.text
    return text if len(text) < WORTH_SQUEEZING and _is_encodable(text) else None


def _written(fields: Mapping[str, object], foreign: Sequence[object]) -> bytes:
    """Return JSON: what `msgspec` writes in a fifth of the time, where that says the same.

    It writes things that are no JSON, such as dates and what is not a number, as something else,
    so what it has written of others' values is read back.
    """
    try:
        if not foreign or _decode(_write(foreign)) == foreign:
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
        return cast("dict[str, object]", _decode(content))
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
