"""Items of the OpenAI Responses API: each item is one message.

Reasoning items are thinking, replayed whole or left out; one that nothing follows is left out,
because the API refuses it. Items that only this API understands (compaction, web search, ...)
travel as they are. What it cannot say: whether a result is an error.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.transcript import Message, Opaque, Role, Text, Thinking, ToolCall, ToolResult
from holdfast.wire.body import Body
from holdfast.wire.fields import (
    Misfit,
    Wire,
    content_parts,
    each,
    known_string,
    leftover,
    own,
    read_all,
    record,
)
from holdfast.wire.responses_items import (
    ACTIONS,
    NAME,
    OUTPUTS,
    is_content,
    read_action,
    read_call,
    read_content,
    read_output,
    write_call,
    write_content,
    write_output,
)
from holdfast.wire.words import as_string, compose, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Part, Transcript

__all__ = ["NAME", "decode", "encode", "read_item"]

_MESSAGE = f"{NAME}:message"
_KNOWN = frozenset({"type", "role", "content"})
_ROLES = {
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
}


def decode(body: Body) -> Transcript:
    """Read the items of an input and the instructions beside them."""
    messages = read_all(NAME, "input", body.messages, read_item)
    if isinstance(body.system, str):
        messages.insert(0, Message(Role.SYSTEM, (Text(body.system),)))
    elif body.system is not None:
        raise DecodeError(NAME, "instructions", "expected text")
    return tuple(messages)


def read_item(value: object) -> Message:
    """Read one item.

    Raises:
        Misfit: when it cannot be read, with the path below the item.
    """
    raw = record(value)
    kind = raw.get("type")
    match kind:
        case "message" | None:
            return _said(raw)
        case "function_call" | "custom_tool_call":
            return Message(Role.ASSISTANT, (read_call(raw),))
        case "reasoning":
            return Message(Role.ASSISTANT, (_reasoning(raw),))
        case str() if kind in OUTPUTS:
            return Message(Role.TOOL, (read_output(raw),))
        case str() if kind in ACTIONS and isinstance(raw.get("call_id"), str):
            return Message(Role.ASSISTANT, (read_action(raw),))
        case str():
            return Message(Role.ASSISTANT, (Opaque(NAME, raw, _readable(raw)),))
        case _:
            raise Misfit(".type", "expected text")


def _said(raw: Wire) -> Message:
    name = raw.get("role")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise Misfit(".role", f"unknown role {name!r}")
    extras: dict[str, object] = dict(leftover(raw, _KNOWN, NAME)) if len(raw) > 2 else {}
    if "type" not in raw or role is Role.SYSTEM:
        # A system message among the items is told apart from the instructions beside them.
        extras[_MESSAGE] = {"role": name, "untyped": "type" not in raw}
    content = raw.get("content")
    if isinstance(content, str):
        return compose(role, (Text(content),), "", extras)
    usual = "output_text" if role is Role.ASSISTANT else "input_text"
    parts = content_parts(content, ".content", partial(read_content, usual=usual))
    if any(isinstance(part, Opaque) and not is_content(part.value["type"]) for part in parts):
        return Message(role, (Opaque(NAME, raw, _words(parts)),))
    return compose(role, parts, "parts", extras)


def _reasoning(raw: Wire) -> Thinking:
    """Return a reasoning item: its words for people, its seal, and the item itself."""
    summaries = each(raw.get("summary") or [], ".summary", record)
    texts = [known_string(entry, "text") for entry in summaries]
    content = each(raw.get("content") or [], ".content", record)
    texts += [known_string(entry, "text") for entry in content]
    seal = raw.get("encrypted_content")
    text = "\n\n".join(filter(None, texts))
    return Thinking(text, seal if isinstance(seal, str) else None, {NAME: raw})


def _readable(raw: Wire) -> str:
    match raw:
        case {"output": str() as text} | {"code": str() as text} | {"text": str() as text}:
            return text
        case {"action": {"query": str() as query}} | {"arguments": {"query": str() as query}}:
            return f"searched: {query}"
        case {"action": {"url": str() as url}}:
            return f"opened: {url}"
        case {"revised_prompt": str() as text}:
            return text
        case _:
            return ""


def _words(parts: Sequence[Part]) -> str:
    texts = [part.text if isinstance(part, Text) else "" for part in parts]
    return "\n\n".join(filter(None, texts))


def encode(transcript: Transcript) -> Body:
    """Write the items of an input; a system prompt at the start becomes the instructions."""
    system: str | None = None
    first = transcript[0] if transcript else None
    if first is not None and first.role is Role.SYSTEM and _MESSAGE not in first.extras:
        system = as_string(first, first.parts, NAME)
    start = 0 if system is None else 1
    items = [item for message in transcript[start:] for item in _items(message)]
    return Body(_followed(items), system)


def _items(message: Message) -> list[Wire]:
    parts = portable(message, NAME)
    if not parts:
        return [] if message.parts else [_spoken(message, (), own(message.extras, NAME))]
    items: list[Wire] = []
    fields = own(message.extras, NAME)
    for is_item, run in groupby(parts, _is_item):
        if is_item:
            items += [_item(part) for part in run]
        else:
            # The fields of a message belong to its first words: an id names one item.
            items.append(_spoken(message, tuple(run), fields))
            fields = {}
    return items


def _is_item(part: Part) -> bool:
    if isinstance(part, Opaque):
        return not is_content(part.value.get("type"))
    return isinstance(part, Thinking | ToolCall | ToolResult)


def _item(part: Part) -> Wire:
    match part:
        case ToolCall():
            return write_call(part)
        case ToolResult():
            carrier = Message(Role.TOOL, part.content)
            return write_output(part, portable(carrier, NAME))
        case Thinking(extras=extras):
            return dict(own(extras, NAME))
        case Opaque(value=value):
            return dict(value)
        case unreachable:
            raise TypeError(f"{unreachable!r} is not an item")


def _spoken(message: Message, parts: Sequence[Part], fields: Wire) -> Wire:
    noted = own(message.extras, _MESSAGE)
    speaker = "user" if message.role is Role.TOOL else str(message.role)
    content: object = as_string(message, parts, NAME)
    if content is None or any(_is_typed(part) for part in parts):
        written = marked_texts(message, parts)
        content = [write_content(part, speaker=speaker) for part in written]
    item: Wire = {"type": "message", "role": noted.get("role") or speaker, "content": content}
    if noted.get("untyped"):
        del item["type"]
    return item | fields


def _is_typed(part: Part) -> bool:
    return isinstance(part, Text) and f"{NAME}:item" in part.extras


def _followed(items: list[Wire]) -> list[Wire]:
    """Return the items without reasoning that has lost what it reasoned for."""
    kept: list[Wire] = []
    is_followed = False
    for item in reversed(items):
        kind = item.get("type", "message")
        if kind != "reasoning":
            is_heard = kind in OUTPUTS or (kind == "message" and item.get("role") != "assistant")
            is_followed = not is_heard
        elif not is_followed:
            continue
        kept.append(item)
    kept.reverse()
    return kept
