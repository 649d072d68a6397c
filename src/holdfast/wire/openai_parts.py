"""The pieces of an OpenAI chat message: content parts and tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from holdfast.transcript import NO_EXTRAS, Media, Opaque, Role, Text, ToolCall
from holdfast.wire.arguments import free_text, value_of, wrapped, written
from holdfast.wire.fields import Misfit, Wire, known_string, leftover, own, record, string
from holdfast.wire.media import (
    is_reachable,
    location,
    placeholder,
    read_foreign,
    read_url,
    write_foreign,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Content, Extras, Part

__all__ = [
    "NAME",
    "envelope_of",
    "joined",
    "read_call",
    "read_content",
    "write_call",
    "write_parts",
]

NAME = "openai"
_CALL = f"{NAME}:call"
_INNER = f"{NAME}:inner"
_TEXT = frozenset({"type", "text"})
_IMAGE = frozenset({"type", "image_url"})
_AUDIO = frozenset({"type", "input_audio"})
_FILE = frozenset({"type", "file"})
_FUNCTION = frozenset({"id", "type", "function"})
_CUSTOM = frozenset({"id", "type", "custom"})
_FREE = frozenset({"name", "input"})
_SOUND = frozenset({"data", "format"})
_INSIDE = frozenset({"name", "arguments"})


def read_content(value: object) -> Content:
    """Read one content part; a kind that is not known is kept as it is."""
    raw = record(value)
    match raw:
        case {"type": "text", "text": str() as text}:
            return Text(text, leftover(raw, _TEXT, NAME) if len(raw) > 2 else NO_EXTRAS)
        case {"type": "image_url", "image_url": {"url": str() as url}}:
            media_type, data, address = read_url(url)
            extras = _nested(raw, "image_url", _IMAGE, frozenset({"url"}))
            return Media("image", media_type, data, address, extras)
        case {"type": "input_audio"}:
            sound = record(raw.get("input_audio"), ".input_audio")
            media_type = f"audio/{string(sound, 'format', '.input_audio')}"
            extras = _nested(raw, "input_audio", _AUDIO, _SOUND)
            data = string(sound, "data", ".input_audio")
            return Media("audio", media_type, data, extras=extras)
        case {"type": "file", "file": {"file_data": str() as url}}:
            media_type, data, address = read_url(url)
            extras = _nested(raw, "file", _FILE, frozenset({"file_data"}))
            return Media("file", media_type, data, address, extras)
        case {"type": "file", "file": {"file_id": str() as file_id}}:
            extras = _stamped(_nested(raw, "file", _FILE, frozenset({"file_id"})))
            return Media("file", url=file_id, extras=extras)
        case _ if media := read_foreign(raw, NAME):
            return media
        case {"type": str()}:
            return Opaque(NAME, raw, known_string(raw, "refusal") or known_string(raw, "text"))
        case _:
            raise Misfit(".type", "a content part needs a type")


def envelope_of(content: object) -> Wire:
    """Return what Hermes wraps around a tool result with images, if the content is that.

    Its `content` has the parts, and it is taken off before a provider sees the message.
    """
    envelope = cast("Wire", content) if isinstance(content, dict) else {}
    is_one = envelope.get("_multimodal") and isinstance(envelope.get("content"), list)
    return envelope if is_one else {}


def read_call(value: object) -> ToolCall:
    """Read one tool call, of a function or of a tool that takes free text."""
    raw = record(value)
    call_id = string(raw, "id")
    if raw.get("type") == "custom":
        custom = record(raw.get("custom"), ".custom")
        noted: Extras = {**_nested(raw, "custom", _CUSTOM, _FREE), _CALL: {"custom": True}}
        arguments = wrapped(string(custom, "input", ".custom"))
        return ToolCall(call_id, string(custom, "name", ".custom"), arguments, noted)
    function = record(raw.get("function"), ".function")
    arguments = function.get("arguments")
    extras = NO_EXTRAS
    if len(raw) != 3 or len(function) != 2 or not isinstance(arguments, str):
        shape = {"untyped": "type" not in raw, "parsed": not isinstance(arguments, str)}
        extras = _nested(raw, "function", _FUNCTION, _INSIDE)
        extras = {**extras, _CALL: shape} if any(shape.values()) else extras
    text = arguments if isinstance(arguments, str) else written(arguments)
    return ToolCall(call_id, string(function, "name", ".function"), text, extras)


def write_call(call: ToolCall) -> Wire:
    """Write one tool call."""
    if not call.extras:
        function: Wire = {"name": call.name, "arguments": call.arguments}
        return {"id": call.id, "type": "function", "function": function}
    noted = own(call.extras, _CALL)
    if noted.get("custom"):
        free: Wire = {"name": call.name, "input": free_text(call.arguments)}
        custom: Wire = {"id": call.id, "type": "custom", "custom": free | own(call.extras, _INNER)}
        return custom | own(call.extras, NAME)
    arguments = value_of(call.arguments) if noted.get("parsed") else call.arguments
    function = {"name": call.name, "arguments": arguments, **own(call.extras, _INNER)}
    raw: Wire = {"id": call.id, "type": "function", "function": function}
    if noted.get("untyped"):
        del raw["type"]
    return raw | own(call.extras, NAME)


def joined(first: Wire, second: Wire) -> Wire:
    """Return two assistant messages as one, so that results follow their calls."""
    merged: Wire = {**first, **second}
    contents = [one for one in (first.get("content"), second.get("content")) if one]
    match contents:
        case [str() as one, str() as other]:
            merged["content"] = f"{one}\n\n{other}"
        case [one, other]:
            merged["content"] = [*_listed(one), *_listed(other)]
        case [one]:
            merged["content"] = one
        case _:
            merged["content"] = None
    both = (first.get("tool_calls"), second.get("tool_calls"))
    merged["tool_calls"] = [
        call for calls in both if isinstance(calls, list) for call in cast("list[Wire]", calls)
    ]
    return merged


def _listed(content: object) -> list[object]:
    if isinstance(content, list):
        return cast("list[object]", content)
    return [{"type": "text", "text": content}]


def write_parts(parts: Sequence[Part], role: Role) -> list[Wire]:
    """Write content parts as a list."""
    return [_part(part, role) for part in parts]


def _part(part: Part, role: Role) -> Wire:
    match part:
        case Text(text=text, extras=extras):
            return {"type": "text", "text": text, **own(extras, NAME)}
        case Opaque(value=value):
            return dict(value)
        case Media() if foreign := write_foreign(part, NAME):
            return foreign
        case Media() if role in (Role.USER, Role.TOOL) and is_reachable(part, NAME):
            return _media(part)
        case Media():
            return {"type": "text", "text": placeholder(part)}
        case _:
            raise TypeError(f"{type(part).__name__} is not content")


def _media(media: Media) -> Wire:
    inner = own(media.extras, _INNER)
    outer = own(media.extras, NAME)
    match media.kind:
        case "image":
            return {"type": "image_url", "image_url": {"url": location(media), **inner}, **outer}
        case "audio" if media.data:
            sound = {"data": media.data, "format": media.media_type.rpartition("/")[2], **inner}
            return {"type": "input_audio", "input_audio": sound, **outer}
        case "file" if media.url and "://" not in media.url and not media.url.startswith("data:"):
            return {"type": "file", "file": {"file_id": media.url, **inner}, **outer}
        case "file" if media.data or media.url.startswith("data:"):
            return {"type": "file", "file": {"file_data": location(media), **inner}, **outer}
        case _:
            return {"type": "text", "text": placeholder(media)}


def _nested(raw: Wire, key: str, outside: frozenset[str], inside: frozenset[str]) -> Extras:
    """Return the unknown fields of a part, and those of the object inside it."""
    extras: dict[str, object] = dict(leftover(raw, outside, NAME)) if len(raw) > 2 else {}
    found = cast("Wire", raw[key])
    rest = {name: value for name, value in found.items() if name not in inside}
    if rest:
        extras[_INNER] = rest
    return extras or NO_EXTRAS


def _stamped(extras: Extras) -> Extras:
    """Return extras that say whose file id it is, even when there is nothing else to say."""
    return extras if NAME in extras else {**extras, NAME: own(extras, NAME)}
