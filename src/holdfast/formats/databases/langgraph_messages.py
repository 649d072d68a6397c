"""Reads the messages that LangGraph stores, whichever provider they were meant for.

Calls stand beside the content in one spelling for all providers; the same calls among the
content, in a provider's own spelling, are passed over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.chronicle import Native
from holdfast.formats.databases.langgraph_values import built
from holdfast.formats.loose import as_json, is_array, is_object, mapping, mappings, sequence, string
from holdfast.formats.sessions.reader import summarized
from holdfast.session import Usage
from holdfast.transcript import Media, Message, Opaque, Role, Text, Thinking, ToolCall, ToolResult
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.transcript import Content, Part
    from holdfast.wire.media import Kind

__all__ = ["ORIGIN", "REMOVAL", "Entry", "entry_of", "is_summary", "message_of", "native_of"]

ORIGIN = "langgraph"
REMOVAL = "remove"
"""The kind of an entry that takes another one away."""
_ROLES = {
    "human": Role.USER,
    "user": Role.USER,
    "ai": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_SAME = ("content", "tool_calls", "tool_call_id", "status")
_CALLS = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})
_ANTHROPIC = frozenset({"thinking", "redacted_thinking", "document"})
_KINDS: Mapping[str, Kind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "file",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in a channel: what it is known by, and what it was made of."""

    id: str
    kind: str
    print: bytes
    fields: Mapping[str, object]


def entry_of(value: object) -> Entry | None:
    """Return the message that a value of a channel is; None when it is none.

    Raises:
        Unreadable: when it is damaged.
    """
    found = built(value)
    fields = mapping(value) if found is None else found.fields
    name = "" if found is None else found.name
    kind = string(fields.get("type")) or string(fields.get("role"))
    if kind not in _ROLES and kind not in (REMOVAL, "chat"):
        kind = (kind or name).removesuffix("Chunk").removesuffix("Message").lower()
    if kind == "chat":
        kind = string(fields.get("role"))
    if kind not in _ROLES and kind != REMOVAL:
        return None
    values = json.dumps([kind, *(fields.get(each) for each in _SAME)], default=str, sort_keys=True)
    mark = blake2b(values.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return Entry(string(fields.get("id")), kind, mark, fields)


def message_of(entry: Entry) -> Message:
    """Return the message itself."""
    fields = entry.fields
    role = _ROLES[entry.kind]
    parts = tuple(_parts(fields.get("content"), role))
    extra = mapping(fields.get("additional_kwargs"))
    if role is Role.TOOL:
        content: tuple[Content, ...] = tuple(
            part for part in parts if isinstance(part, Text | Media | Opaque)
        )
        is_error = fields.get("status") == "error"
        call, name = string(fields.get("tool_call_id")), string(fields.get("name"))
        return Message(role, (ToolResult(call, content, is_error, name),))
    if is_summary(entry):
        return summarized("\n\n".join(p.text for p in parts if isinstance(p, Text)), ORIGIN)
    if role is Role.ASSISTANT:
        thought = string(extra.get("reasoning_content"))
        before = (Thinking(thought, extras={"openai": {"field": "reasoning_content"}}),)
        return Message(role, (*(before if thought else ()), *parts, *_calls(fields)))
    return Message(role, parts)


def is_summary(entry: Entry) -> bool:
    """Say whether LangChain's own middleware wrote the message in place of older ones."""
    return mapping(entry.fields.get("additional_kwargs")).get("lc_source") == "summarization"


def native_of(entry: Entry, at: int | None) -> Native:
    """Return what is known of a message besides its words."""
    fields = entry.fields
    answer = mapping(fields.get("response_metadata"))
    model = string(answer.get("model_name")) or string(answer.get("model"))
    is_answer = _ROLES[entry.kind] is Role.ASSISTANT
    usage = _usage(mapping(fields.get("usage_metadata"))) if is_answer else None
    return Native(id=entry.id, model=model if is_answer else "", usage=usage, at=at)


def _usage(counts: Mapping[str, object]) -> Usage | None:
    if not counts:
        return None
    details = mapping(counts.get("input_token_details"))
    read, kept = _count(details, "cache_read"), _count(details, "cache_creation")
    # Here the cached tokens are counted among the input.
    fresh = max(0, _count(counts, "input_tokens") - read - kept)
    return Usage(1, fresh, _count(counts, "output_tokens"), read, kept)


def _count(counts: Mapping[str, object], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) else 0


def _calls(fields: Mapping[str, object]) -> Iterator[ToolCall]:
    known = [*mappings(fields.get("tool_calls")), *mappings(fields.get("invalid_tool_calls"))]
    for call in known:
        yield ToolCall(
            string(call.get("id")), string(call.get("name")), as_json(_plain(call.get("args")))
        )
    if not known:
        extra = mapping(fields.get("additional_kwargs"))
        for call in mappings(extra.get("tool_calls")):
            function = mapping(call.get("function"))
            arguments = as_json(function.get("arguments"))
            yield ToolCall(string(call.get("id")), string(function.get("name")), arguments)


def _plain(value: object) -> object:
    """Return a value as JSON can say it: an object inside it as its fields."""
    return json.loads(json.dumps(value, default=str))


def _parts(content: object, role: Role) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield Text(content)
        return
    for block in sequence(content) if is_array(content) else (content,):
        if isinstance(block, str):
            yield Text(block)
        elif is_object(block):
            yield from _block(block, role)


def _block(block: dict[str, object], role: Role) -> Iterator[Part]:
    kind = string(block.get("type"))
    if kind in _CALLS:
        return
    if kind == "reasoning":
        words = [string(each.get("text")) for each in mappings(block.get("summary"))]
        if thought := string(block.get("reasoning")) or "\n\n".join(words):
            yield Thinking(thought)
        return
    if kind in _KINDS and "source" not in block and kind not in block:
        yield _media(block)
        return
    is_anthropic = kind in _ANTHROPIC or "source" in block
    dialect = "anthropic" if is_anthropic else "openai"
    speaker = "assistant" if role is Role.ASSISTANT else "user"
    try:
        (message,) = DIALECTS[dialect].decode(Body([{"role": speaker, "content": [block]}]))
    except (DecodeError, ValueError):
        yield Text(as_json(_plain(block)))
    else:
        yield from message.parts


def _media(block: Mapping[str, object]) -> Media:
    return Media(
        kind=_KINDS[string(block.get("type"))],
        media_type=string(block.get("mime_type")),
        data=string(block.get("base64")) or string(block.get("data")),
        url=string(block.get("url")) or string(block.get("file_id")),
    )
