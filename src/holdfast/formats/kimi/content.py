"""The messages of Kimi's journals, which spell the fields of calls in two ways."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.content import contents, speaker_of
from holdfast.formats.json_access import (
    as_json,
    mapping,
    mappings,
    sequence,
    string,
)
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

    from holdfast.formats.json_access import JsonObject
    from holdfast.transcript import Part

BLOB = "blobref:"
"""How the address begins of what Kimi keeps in a file of its own: its media type, then its name."""


_ROLES = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
}


_MEDIA: Mapping[str, Literal["image", "audio", "video"]] = {
    "image_url": "image",
    "audio_url": "audio",
    "video_url": "video",
}


_CAMEL = {"image_url": "imageUrl", "audio_url": "audioUrl", "video_url": "videoUrl"}


def spoken(message: JsonObject) -> Message:
    """Return a message; one of an unknown role says nothing."""
    role = _ROLES.get(string(message.get("role")))
    if role is None:
        return Message(Role.USER)
    if role is Role.TOOL:
        answered = _either(message, "toolCallId", "tool_call_id")
        failed = message.get("isError") is True
        found = (*shown_of(message.get("content")), *_noted(message))
        return Message(role, (ToolResult(string(answered), found, is_error=failed),))
    calls = mappings(_either(message, "toolCalls", "tool_calls"))
    parts = (*content_of(message.get("content")), *map(call_made, calls))
    return Message(speaker_of(parts, role), parts)


def content_of(value: object) -> Iterator[Part]:
    """Return the parts of a content field."""
    if isinstance(value, str):
        yield from contents(value)
    for each in sequence(value):
        part = mapping(each)
        kind = string(part.get("type"))
        if kind == "think":
            yield Thinking(string(part.get("think")), string(part.get("encrypted")) or None)
        elif kind in _MEDIA:
            url = string(mapping(_either(part, kind, _CAMEL[kind])).get("url"))
            known = url.removeprefix(BLOB).partition(";")[0] if url.startswith(BLOB) else ""
            found = contents([{"url": url, "mimeType": known}])
            yield from (
                replace(each, kind=_MEDIA[kind]) for each in found if isinstance(each, Media)
            )
        else:
            yield from contents([each])


def call_of(event: JsonObject) -> ToolCall:
    """Return the call that a step made."""
    name = string(event.get("name"))
    return ToolCall(string(event.get("toolCallId")), name, as_json(event.get("args")))


def result_of(event: JsonObject) -> ToolResult:
    """Return what came of a call."""
    result = mapping(event.get("result"))
    failed = result.get("isError") is True
    found = (*shown_of(result.get("output")), *_noted(result))
    return ToolResult(string(event.get("toolCallId")), found, failed)


def call_made(call: JsonObject) -> ToolCall:
    """Return a call as a message of the model holds it."""
    fields = {**call, **mapping(call.get("function"))}
    name = string(fields.get("name"))
    return ToolCall(string(call.get("id")), name, as_json(fields.get("arguments")))


def shown_of(value: object) -> tuple[Text | Media, ...]:
    """Return the words and pictures of a content field."""
    return tuple(part for part in content_of(value) if isinstance(part, Text | Media))


def _noted(result: JsonObject) -> Iterator[Text]:
    """Return what a tool says to the model alone, apart from its output."""
    if note := string(result.get("note")):
        yield Text(note)


def _either(fields: JsonObject, first: str, second: str) -> object:
    found = fields.get(first)
    return fields.get(second) if found is None else found
