"""Reads the messages that LangGraph stores, whichever provider they were meant for.

Calls stand beside the content in one spelling for all providers. Older releases have only what
the provider wrote, and that among the arguments that were left over.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Native
from holdfast.formats.figures import usage_in
from holdfast.formats.langgraph.blocks import Speaker, as_plain, parts_of, reasoning_of
from holdfast.formats.langgraph.values import built
from holdfast.formats.litellm import tokens_in
from holdfast.formats.loose import as_json, mapping, mappings, string
from holdfast.formats.session_reader import summarized
from holdfast.session import Usage
from holdfast.transcript import (
    NO_EXTRAS,
    Media,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.transcript import Content, Part

__all__ = [
    "ORIGIN",
    "REMOVAL",
    "ROLES",
    "Entry",
    "entry_of",
    "is_summary",
    "message_of",
    "native_of",
]

ORIGIN = "langgraph"
REMOVAL = "remove"
"""The kind of an entry that takes another one away."""
ROLES = {
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
_ANTHROPIC_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_SEALS = "__gemini_function_call_thought_signatures__"
"""Where the seals of calls are kept that a model of Google made, by their ids."""


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
    if kind not in ROLES and kind not in (REMOVAL, "chat"):
        kind = (kind or name).removesuffix("Chunk").removesuffix("Message").lower()
    if kind == "chat":
        kind = string(fields.get("role"))
    if kind not in ROLES and kind != REMOVAL:
        return None
    values = json.dumps([kind, *(fields.get(each) for each in _SAME)], default=str, sort_keys=True)
    mark = blake2b(values.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return Entry(string(fields.get("id")), kind, mark, fields)


def message_of(entry: Entry) -> Message:
    """Return the message itself."""
    fields = entry.fields
    role = ROLES[entry.kind]
    provider = string(mapping(fields.get("response_metadata")).get("model_provider"))
    speaker = Speaker(role, is_google=provider.startswith("google"))
    parts = tuple(parts_of(fields.get("content"), speaker))
    if role is Role.TOOL:
        return Message(role, (_result(entry, parts),))
    if is_summary(entry):
        return summarized("\n\n".join(p.text for p in parts if isinstance(p, Text)), ORIGIN)
    if role is Role.ASSISTANT:
        return Message(role, (*_thoughts(fields, speaker), *parts, *_calls(fields)))
    return Message(role, parts)


def _result(entry: Entry, parts: Sequence[Part]) -> ToolResult:
    fields = entry.fields
    content: tuple[Content, ...] = tuple(
        part for part in parts if isinstance(part, Text | Media | Opaque)
    )
    name = string(fields.get("name"))
    call = string(fields.get("tool_call_id"))
    if entry.kind == "function":
        call = call or _unnamed(name)
    return ToolResult(call, content, fields.get("status") == "error", name)


def _thoughts(fields: Mapping[str, object], speaker: Speaker) -> Iterator[Part]:
    """Return the thoughts that stand beside the content."""
    extra = mapping(fields.get("additional_kwargs"))
    if thought := string(extra.get("reasoning_content")):
        yield Thinking(thought, extras={"openai": {"field": "reasoning_content"}})
    yield from reasoning_of(mapping(extra.get("reasoning")), speaker)


def is_summary(entry: Entry) -> bool:
    """Say whether LangChain's own middleware wrote the message in place of older ones."""
    return mapping(entry.fields.get("additional_kwargs")).get("lc_source") == "summarization"


def native_of(entry: Entry, at: int | None) -> Native:
    """Return what is known of a message besides its words."""
    fields = entry.fields
    name = string(fields.get("name"))
    if ROLES[entry.kind] is not Role.ASSISTANT:
        is_person = name and ROLES[entry.kind] is not Role.TOOL
        return Native(id=entry.id, at=at, more={"name": name} if is_person else NO_EXTRAS)
    answer = mapping(fields.get("response_metadata"))
    models = (string(answer.get(each)) for each in ("model_name", "model", "model_id"))
    return Native(
        id=entry.id,
        model=next(filter(None, models), ""),
        usage=_usage(fields, answer),
        at=at,
        more={"name": name} if name else NO_EXTRAS,
    )


def _usage(fields: Mapping[str, object], answer: Mapping[str, object]) -> Usage | None:
    counts = mapping(fields.get("usage_metadata"))
    if not counts:
        # Older releases have only what the provider wrote.
        return tokens_in(mapping(answer.get("token_usage"))) or _claimed(answer)
    details = mapping(counts.get("input_token_details"))
    read, kept = _count(details, "cache_read"), _count(details, "cache_creation")
    # Here the cached tokens are counted among the input.
    fresh = max(0, _count(counts, "input_tokens") - read - kept)
    return Usage(1, fresh, _count(counts, "output_tokens"), read, kept)


def _claimed(answer: Mapping[str, object]) -> Usage | None:
    return usage_in(mapping(answer.get("usage")), _ANTHROPIC_COUNTS)


def _count(counts: Mapping[str, object], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) else 0


def _calls(fields: Mapping[str, object]) -> Iterator[ToolCall]:
    known = [*mappings(fields.get("tool_calls")), *mappings(fields.get("invalid_tool_calls"))]
    extra = mapping(fields.get("additional_kwargs"))
    seals = mapping(extra.get(_SEALS))
    for call in known:
        id_, arguments = string(call.get("id")), as_json(as_plain(call.get("args")))
        seal = string(seals.get(id_))
        extras = {"gemini": {"thoughtSignature": seal}} if seal else NO_EXTRAS
        yield ToolCall(id_, string(call.get("name")), arguments, extras)
    if known:
        return
    for call in mappings(extra.get("tool_calls")):
        yield _spelled(string(call.get("id")), mapping(call.get("function")))
    if single := mapping(extra.get("function_call")):
        yield _spelled(_unnamed(string(single.get("name"))), single)


def _spelled(id_: str, function: Mapping[str, object]) -> ToolCall:
    return ToolCall(id_, string(function.get("name")), as_json(function.get("arguments")))


def _unnamed(function: str) -> str:
    """Return what pairs a call and a result of the old kind, which have no id."""
    return f"function_{function}"
