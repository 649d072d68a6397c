"""Calls and results among the items of the OpenAI Responses API.

A call and its result are items of their own. Functions carry JSON text, custom tools free text,
and the tools built into the API an action; all of them become tool calls here, and each is
written back as the kind of item it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from holdfast.transcript import NO_EXTRAS, Media, Opaque, Text, ToolCall, ToolResult
from holdfast.wire.arguments import free_text, value_of, wrapped, written
from holdfast.wire.fields import Misfit, Wire, each, known_string, leftover, own, record, string
from holdfast.wire.media import (
    is_reachable,
    location,
    placeholder,
    read_foreign,
    read_url,
    write_foreign,
)

if TYPE_CHECKING:
    from holdfast.transcript import Content, Extras, Form, Part

__all__ = [
    "ACTIONS",
    "NAME",
    "OUTPUTS",
    "is_content",
    "read_action",
    "read_call",
    "read_content",
    "read_output",
    "write_call",
    "write_content",
    "write_output",
]

NAME = "responses"
_ITEM = f"{NAME}:item"
ACTIONS = {
    "local_shell_call": "action",
    "shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action",
}
"""Calls of tools that the API brings, with the field that says what to do."""
OUTPUTS = frozenset(
    [
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
    ]
)
_FUNCTION = frozenset({"type", "call_id", "name", "arguments"})
_CUSTOM = frozenset({"type", "call_id", "name", "input"})
_OUTPUT = frozenset({"type", "call_id", "output"})
_TEXT = frozenset({"type", "text"})


def is_content(kind: object) -> bool:
    """Say whether a type is one of message content, rather than of an item."""
    return isinstance(kind, str) and (kind.startswith(("input_", "output_")) or kind == "refusal")


def read_content(value: object, *, usual: str = "input_text") -> Content:
    """Read one part of a message or of an output; a kind that is not known is kept."""
    raw = record(value)
    match raw:
        case {"type": "input_text" | "output_text" as kind, "text": str() as text}:
            extras = leftover(raw, _TEXT, NAME) if len(raw) > 2 else NO_EXTRAS
            return Text(text, extras if kind == usual else {**extras, _ITEM: {"type": kind}})
        case {"type": "input_image", "image_url": str() as url}:
            return _read_media(raw, "image_url", url, "image")
        case {"type": "input_file", "file_data": str() as url}:
            return _read_media(raw, "file_data", url, "file")
        case {"type": "input_image" | "input_file" as kind, "file_id": str() as file_id}:
            rest = {key: entry for key, entry in raw.items() if key not in ("type", "file_id")}
            image = kind == "input_image"
            return Media("image" if image else "file", url=file_id, extras={NAME: rest})
        case _ if media := read_foreign(raw, NAME):
            return media
        case {"type": str()}:
            return Opaque(NAME, raw, known_string(raw, "refusal") or known_string(raw, "text"))
        case _:
            raise Misfit(".type", "a content part needs a type")


def _read_media(raw: Wire, key: str, url: str, kind: str) -> Content:
    media_type, payload, address = read_url(url)
    rest = {name: entry for name, entry in raw.items() if name not in ("type", key)}
    extras: Extras = {NAME: rest} if rest else NO_EXTRAS
    if kind == "image":
        return Media("image", media_type, payload, address, extras)
    return Media("file", media_type, payload, address, extras)


def write_content(part: Part, *, speaker: str) -> Wire:
    """Write one part of a message or of an output."""
    kind = "output_text" if speaker == "assistant" else "input_text"
    match part:
        case Text(text=text, extras=extras):
            noted = own(extras, _ITEM).get("type")
            return {"type": noted if noted else kind, "text": text, **own(extras, NAME)}
        case Opaque(value=value):
            return dict(value)
        case Media() if foreign := write_foreign(part, NAME):
            return foreign
        case Media() if speaker != "assistant" and is_reachable(part, NAME):
            return _media(part)
        case Media():
            return {"type": kind, "text": placeholder(part)}
        case unreachable:
            raise TypeError(f"{unreachable!r} is not content")


def _media(media: Media) -> Wire:
    rest = own(media.extras, NAME)
    is_file_id = bool(media.url) and ":" not in media.url
    if media.kind == "image":
        place = "file_id" if is_file_id else "image_url"
        return {"type": "input_image", place: media.url or location(media), **rest}
    if media.kind != "file":
        return {"type": "input_text", "text": placeholder(media)}
    if is_file_id:
        return {"type": "input_file", "file_id": media.url, **rest}
    place = "file_data" if media.data or media.url.startswith("data:") else "file_url"
    return {"type": "input_file", place: location(media), **rest}


def read_call(raw: Wire) -> ToolCall:
    """Read the call of a function or of a tool that takes free text."""
    if raw.get("type") == "custom_tool_call":
        extras: Extras = {**leftover(raw, _CUSTOM, NAME), _ITEM: {"type": "custom_tool_call"}}
        arguments = wrapped(string(raw, "input"))
    else:
        extras = leftover(raw, _FUNCTION, NAME) if len(raw) > 4 else NO_EXTRAS
        arguments = string(raw, "arguments")
    return ToolCall(string(raw, "call_id"), string(raw, "name"), arguments, extras)


def read_action(raw: Wire) -> ToolCall:
    """Read the call of a tool that the API brings."""
    kind = string(raw, "type")
    place = ACTIONS[kind]
    known = frozenset({"type", "call_id", place})
    extras = {**leftover(raw, known, NAME), _ITEM: {"type": kind, "absent": place not in raw}}
    arguments = written(raw.get(place))
    return ToolCall(string(raw, "call_id"), kind.removesuffix("_call"), arguments, extras)


def write_call(call: ToolCall) -> Wire:
    """Write a call as the kind of item it was; one from another dialect calls a function."""
    noted = own(call.extras, _ITEM)
    kind = known_string(noted, "type")
    rest = own(call.extras, NAME)
    if kind == "custom_tool_call":
        free = free_text(call.arguments)
        return {"type": kind, "call_id": call.id, "name": call.name, "input": free, **rest}
    if kind in ACTIONS:
        item: Wire = {"type": kind, "call_id": call.id, **rest}
        return item if noted.get("absent") else item | {ACTIONS[kind]: value_of(call.arguments)}
    function: Wire = {"type": "function_call", "call_id": call.id, "name": call.name}
    return function | {"arguments": call.arguments} | rest


def read_output(raw: Wire) -> ToolResult:
    """Read the result of a call."""
    kind = string(raw, "type")
    place = "call_id" if isinstance(raw.get("call_id"), str) else "id"
    known = _OUTPUT if place == "call_id" else frozenset({"type", "id", "output"})
    extras = leftover(raw, known, NAME)
    if kind != "function_call_output" or place == "id":
        extras = {**extras, _ITEM: {"type": kind, "place": place}}
    output = raw.get("output")
    parts: tuple[Content, ...] = ()
    form: Form = ""
    if isinstance(output, str):
        parts = (Text(output),)
    elif isinstance(output, dict):
        parts = (Opaque(NAME, cast("Wire", output)),)
        form = "string"
    elif isinstance(output, list):
        parts = each(cast("object", output), ".output", _read_output_part)
        form = "parts"
    else:
        form = "null" if "output" in raw else "absent"
    return ToolResult(string(raw, place), parts, form=form, extras=extras)


def _read_output_part(value: object) -> Content:
    raw = record(value)
    if isinstance(raw.get("type"), str):
        return read_content(raw)
    if media := read_foreign(raw, NAME):
        return media
    streams = (known_string(raw, "stdout"), known_string(raw, "stderr"))
    return Opaque(NAME, raw, "\n".join(filter(None, streams)))


def write_output(result: ToolResult, parts: tuple[Part, ...]) -> Wire:
    """Write a result from the parts of it that may be said."""
    noted = own(result.extras, _ITEM)
    kind = known_string(noted, "type") or "function_call_output"
    item: Wire = {"type": kind, known_string(noted, "place") or "call_id": result.call_id}
    match result.form, parts:
        case "absent", ():
            pass
        case "null", ():
            item["output"] = None
        case "string", (Opaque(value=value),):
            item["output"] = dict(value)
        case "", (Text(text=text),):
            item["output"] = text
        case form, () if form != "parts":
            item["output"] = ""
        case _:
            item["output"] = [write_content(part, speaker="tool") for part in parts]
    return item | own(result.extras, NAME)
