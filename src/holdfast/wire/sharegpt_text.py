"""Calls, results and reasoning that ShareGPT conversations write into their text.

Models of the Hermes family think between `<think>` tags, call in `<tool_call>` tags and are
answered in `<tool_response>` tags; LLaMA-Factory gives calls and results turns of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.transcript import Text, Thinking, ToolCall, ToolResult
from holdfast.wire.arguments import object_in, written
from holdfast.wire.fields import Wire, known_string, own
from holdfast.wire.tolerant import read_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript import Part

__all__ = [
    "NAME",
    "is_words",
    "parse_answers",
    "parse_call",
    "parse_reply",
    "parse_thought",
    "read_answer",
    "read_call",
    "render_answer",
    "render_answers",
    "render_call",
    "render_reply",
    "segments",
]

NAME = "sharegpt"
_THINK, _THOUGHT = "<think>", "</think>"
_CALL, _CALLED = "<tool_call>", "</tool_call>"
_ANSWER, _ANSWERED = "<tool_response>", "</tool_response>"


def parse_reply(text: str) -> list[Part] | None:
    """Return the reasoning, words and calls of a reply, calls still without an id.

    None means that a call in it cannot be read; the reply is then plain words.
    """
    parts, text = parse_thought(text)
    if _CALL not in text:
        return [*parts, Text(text)] if text or not parts else parts
    for is_call, segment in segments(text, _CALL, _CALLED):
        if not is_call:
            words = segment.strip("\n")
            parts += [Text(words)] if words else []
            continue
        call = read_call(segment)
        if call is None:
            return None
        parts.append(call)
    return parts


def parse_thought(text: str) -> tuple[list[Part], str]:
    """Return the reasoning that a reply begins with, and the rest of it."""
    if not text.startswith(_THINK) or _THOUGHT not in text:
        return [], text
    thought, _, text = text[len(_THINK) :].partition(_THOUGHT)
    return [Thinking(thought.strip("\n"), extras={NAME: {}})], text.removeprefix("\n")


def is_words(text: str) -> bool:
    """Say whether a reply holds no reasoning and no call, so that it says itself alone."""
    return _CALL not in text and not text.startswith(_THINK)


def parse_call(text: str) -> list[Part] | None:
    """Return the call that a turn is, still without an id; None when it cannot be read."""
    if _CALLED in text:
        return parse_reply(f"{_CALL}{text}{_CALLED}") if read_object(text) else None
    call = read_call(text)
    return None if call is None else [call]


def read_call(text: str) -> ToolCall | None:
    """Return the call that a model wrote, still without an id; None when it cannot be read."""
    match read_object(text):
        case {"name": str() as name, "arguments": str() as arguments}:
            return ToolCall("", name, arguments)
        case {"name": str() as name} as found:
            return ToolCall("", name, written(found.get("arguments", {})))
        case _:
            return None


def parse_answers(text: str) -> list[ToolResult] | None:
    """Return the results in the text, or None when it holds anything else."""
    if _ANSWER not in text:
        return None
    results: list[ToolResult] = []
    for is_answer, segment in segments(text, _ANSWER, _ANSWERED):
        if is_answer:
            results.append(_read_answer(segment))
        elif segment.strip():
            return None
    return results or None


def _read_answer(text: str) -> ToolResult:
    inner = text.strip("\n")
    match object_in(inner):
        case {"content": _} as found if found.keys() <= {"tool_call_id", "name", "content"}:
            return read_answer(found)
        case _:
            return ToolResult("", (Text(inner),), extras={NAME: {"json": False}})


def read_answer(found: Wire) -> ToolResult:
    """Return the result that an object with `content` is."""
    content = found["content"]
    words = content if isinstance(content, str) else written(content)
    extras: dict[str, object] = {NAME: {"json": True, **_kept(found)}}
    return ToolResult("", (Text(words),), name=known_string(found, "name"), extras=extras)


def _kept(found: Wire) -> Wire:
    return {key: found[key] for key in ("tool_call_id", "name") if key in found}


def segments(text: str, opening: str, closing: str) -> Iterator[tuple[bool, str]]:
    """Yield the text outside and inside of the tags, in order; an open tag reaches to the end."""
    rest = text
    while rest:
        outside, found, rest = rest.partition(opening)
        yield False, outside
        if found:
            inside, _, rest = rest.partition(closing)
            yield True, inside


def render_reply(parts: Sequence[Part]) -> str:
    """Write reasoning, words and calls as one text."""
    thoughts = [part.text for part in parts if isinstance(part, Thinking)]
    pieces = [
        f"{_CALL}\n{render_call(part)}\n{_CALLED}" if isinstance(part, ToolCall) else part.text
        for part in parts
        if isinstance(part, ToolCall | Text)
    ]
    thinking = "".join(f"{_THINK}\n{thought}\n{_THOUGHT}\n" for thought in thoughts)
    return thinking + "\n".join(pieces)


def render_call(call: ToolCall) -> str:
    """Write a call as JSON."""
    found = object_in(call.arguments)
    return written({"name": call.name, "arguments": call.arguments if found is None else found})


def render_answers(results: Sequence[ToolResult]) -> str:
    """Write results, each between its tags."""
    return "\n".join(f"{_ANSWER}\n{_render_answer(result)}\n{_ANSWERED}" for result in results)


def _render_answer(result: ToolResult) -> str:
    if own(result.extras, NAME).get("json") is False:
        return result.text
    return written(render_answer(result))


def render_answer(result: ToolResult) -> Wire:
    """Return a result as an object with `content`."""
    noted = own(result.extras, NAME)
    fields: Wire = {"tool_call_id": result.call_id, "name": result.name}
    if noted.get("json"):
        fields = {key: value for key, value in noted.items() if key != "json"}
    parsed = object_in(result.text)
    return {**fields, "content": result.text if parsed is None else parsed}
