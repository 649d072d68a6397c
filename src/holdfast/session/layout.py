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
    from holdfast.transcript import Content, Part

__all__ = ["Fetch", "Keep", "from_fields", "to_fields"]

Fields: TypeAlias = dict[str, Any]
Fetch: TypeAlias = Callable[[Mapping[str, object]], str]
"""Returns the text that a reference stands for."""


class Keep(Protocol):
    """Takes a text out of a message where it is long, and returns what refers to it."""

    def __call__(self, value: str, *, is_base64: bool = False) -> object:
        """Return the text itself, or a reference."""
        ...


def to_fields(message: Message, keep: Keep) -> Fields:
    """Return the message as JSON values, without its role."""
    return _slim(
        {
            "parts": [_part_fields(part, keep) for part in message.parts],
            "form": message.form,
            "synthetic": message.synthetic,
            "pinned": message.pinned,
            "extras": message.extras,
        }
    )


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
        case Text(text, extras):
            fields: Fields = {"k": "text", "text": keep(text), "extras": extras}
        case Thinking(text, signature, extras):
            seal = None if signature is None else keep(signature)
            fields = {"k": "thinking", "text": keep(text), "seal": seal, "extras": extras}
        case ToolCall(id_, name, arguments, extras):
            fields = {"k": "call", "id": id_, "name": name, "args": keep(arguments)}
            fields["extras"] = extras
        case ToolResult():
            fields = {"k": "result", "id": part.call_id, "error": part.is_error}
            fields["content"] = [_part_fields(piece, keep) for piece in part.content]
            fields |= {"name": part.name, "form": part.form, "extras": part.extras}
        case Media():
            fields = {"k": "media", "kind": part.kind, "type": part.media_type}
            fields["bytes"] = keep(part.data, is_base64=True)
            fields |= {"url": part.url, "extras": part.extras}
        case Summary(text, origin):
            fields = {"k": "summary", "text": keep(text), "origin": origin}
        case Recalled(text):
            fields = {"k": "recalled", "text": keep(text)}
        case Opaque(dialect, value, readable):
            fields = {"k": "opaque", "dialect": dialect, "value": value, "readable": readable}
        case _:
            assert_never(part)
    return _slim(fields)


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
    return Summary(_read(fields.get("text"), fetch), fields.get("origin", ""))


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


def _slim(fields: Fields) -> Fields:
    """Leave out what is empty; a seal that is an empty text is a seal all the same."""
    return {
        key: value
        for key, value in fields.items()
        if value or (key == "seal" and value is not None)
    }
