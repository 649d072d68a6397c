"""The items of Grok's `chat_history.jsonl`, one a line, as messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.decoding import decoded
from holdfast.formats.loose import as_json, mapping, mappings, sequence, string
from holdfast.formats.session_reader import contents, summarized
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["ANSWERS", "item_message"]

ANSWERS = frozenset(["reasoning", "assistant", "backend_tool_call"])
"""The items that a model makes: those that stand together are one answer."""


def item_message(entry: Mapping[str, object]) -> Message | str | None:
    """Return what an item says, why it cannot be read, or nothing where it says nothing."""
    match entry.get("type"):
        case "system":
            return Message(Role.SYSTEM, contents(entry.get("content")))
        case "user":
            return _asked(Message(Role.USER, contents(entry.get("content"))))
        case "assistant":
            said = contents(entry.get("content"))
            return Message(Role.ASSISTANT, (*_thoughts(entry), *said, *_calls(entry)))
        case "tool_result":
            return Message(Role.TOOL, (_result(entry),))
        case "reasoning":
            return _item(entry)
        case "backend_tool_call":
            call = mapping(entry.get("kind"))
            kind = f"{string(call.get('tool_type'))}_call"
            return _item({"type": kind, **{k: v for k, v in call.items() if k != "tool_type"}})
        case kind if entry.get("content"):
            return f"a line of type {kind!r} is not known"
        case _:
            return None


def _asked(message: Message) -> Message:
    """Return what a user said, or the summary that a compaction says in the user's name."""
    found = summarized(message.text, "grok")
    known = found.summary
    is_summary = known is not None and known.text != message.text and len(message.parts) == 1
    return found if is_summary else message


def _item(item: Mapping[str, object]) -> Message | str | None:
    """Read what Responses has an item for, so that nothing of it is lost."""
    found = decoded("responses", item)
    return found if isinstance(found, str) else next(iter(found), None)


def _thoughts(entry: Mapping[str, object]) -> Iterator[Thinking]:
    """Return the thought of an answer, which older versions wrote into it."""
    thought = mapping(entry.get("reasoning"))
    text, sealed = string(thought.get("text")), string(thought.get("encrypted"))
    if not text and not sealed:
        return
    item = {"type": "reasoning", "id": string(thought.get("id")), "encrypted_content": sealed}
    found = _item({**item, "summary": [{"type": "summary_text", "text": text}]})
    if isinstance(found, Message) and sealed:
        yield from (part for part in found.parts if isinstance(part, Thinking))
    else:
        yield Thinking(text)


def _calls(entry: Mapping[str, object]) -> Iterator[ToolCall]:
    for call in mappings(entry.get("tool_calls")):
        arguments = as_json(call.get("arguments"))
        yield ToolCall(string(call.get("id")), string(call.get("name")), arguments)


def _result(entry: Mapping[str, object]) -> ToolResult:
    # An image is a part of its own; some versions wrote its address alone.
    pictures = [
        {"url": each} if isinstance(each, str) else each for each in sequence(entry.get("images"))
    ]
    said = contents(entry.get("content")) or (Text(""),)
    return ToolResult(string(entry.get("tool_call_id")), (*said, *contents(pictures)))
