"""The JSON layout of a stored message: short keys, nothing lost, empty fields left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, assert_never, cast

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
    from holdfast.transcript import Content, Extras, Part

__all__ = ["Fetch", "Keep", "from_fields", "to_fields"]

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
