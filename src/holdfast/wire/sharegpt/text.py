"""Calls, results and reasoning in the turns of ShareGPT conversations: tags or lists of parts.

Models of the Hermes family think between `<think>` tags, call in `<tool_call>` tags and are
answered in `<tool_response>` tags; LLaMA-Factory gives calls and results turns of their own, or
writes turns as lists of parts, each a type and a value. There words, reasoning and calls are told
apart by the container, and only results are still one text: that of a single call as it is, those
of several calls as a JSON list.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from holdfast.transcript import Opaque, Role, Text, Thinking, ToolCall, ToolResult
from holdfast.wire.common import Misfit, Wire, each, known_string, own, record
from holdfast.wire.json_text import object_in, read_object, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript import Part

NAME = "sharegpt"
_THINK, _THOUGHT = "<think>", "</think>"
_CALL, _CALLED = "<tool_call>", "</tool_call>"
_ANSWER, _ANSWERED = "<tool_response>", "</tool_response>"
_RESULT_FIELDS = frozenset({"tool_call_id", "name", "content"})
ROLES = {
    "system": Role.SYSTEM,
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    "function_call": Role.ASSISTANT,
    "tool": Role.TOOL,
    "observation": Role.TOOL,
    "function": Role.TOOL,
    "function_response": Role.TOOL,
}
"""Who speaks, by the names that tools write."""
ROLE_NAMES = {
    Role.SYSTEM: "system",
    Role.USER: "user",
    Role.ASSISTANT: "assistant",
    Role.TOOL: "tool",
}


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
            inner = segment.strip("\n")
            match object_in(inner):
                case {"content": _} as found if found.keys() <= _RESULT_FIELDS:
                    results.append(read_answer(found))
                case _:
                    results.append(ToolResult("", (Text(inner),), extras={NAME: {"json": False}}))
        elif segment.strip():
            return None
    return results or None


def read_answer(found: Wire) -> ToolResult:
    """Return the result that an object with `content` is."""
    content = found["content"]
    words = content if isinstance(content, str) else written(content)
    extras: dict[str, object] = {
        NAME: {
            "json": True,
            **{key: found[key] for key in ("tool_call_id", "name") if key in found},
        }
    }
    return ToolResult("", (Text(words),), name=known_string(found, "name"), extras=extras)


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
    texts = [
        result.text
        if own(result.extras, NAME).get("json") is False
        else written(render_answer(result))
        for result in results
    ]
    return "\n".join(f"{_ANSWER}\n{text}\n{_ANSWERED}" for text in texts)


def render_answer(result: ToolResult) -> Wire:
    """Return a result as an object with `content`."""
    noted = own(result.extras, NAME)
    fields: Wire = {"tool_call_id": result.call_id, "name": result.name}
    if noted.get("json"):
        fields = {key: value for key, value in noted.items() if key != "json"}
    parsed = object_in(result.text)
    return {**fields, "content": result.text if parsed is None else parsed}


def has_parts(turn: Wire) -> bool:
    """Say whether a turn is a list of parts and not one text."""
    return "from" not in turn and isinstance(turn.get("content"), list)


def parts_in(turn: Wire) -> list[Part]:
    """Return the parts of a turn, calls still without an id; a call that is none is words."""
    return list(each(turn.get("content"), ".content", parse_part))


def results_in(text: str, waiting: int) -> list[ToolResult]:
    """Return the results of calls that wait: one, or as many as the text lists."""
    found = _listed(text) if waiting > 1 else []
    if found and len(found) <= waiting:
        return [read_answer(entry) for entry in found]
    return [ToolResult("", (Text(text),), extras={NAME: {"bare": True}})]


def render_parts(parts: Sequence[Part]) -> list[Wire]:
    """Write parts as a list; the results of several calls become one text."""
    results = [part for part in parts if isinstance(part, ToolResult)]
    if results:
        if len(results) == 1 and own(results[0].extras, NAME).get("bare", True):
            return [{"type": "text", "value": results[0].text}]
        answers = [render_answer(result) for result in results]
        return [{"type": "text", "value": written(answers)}]
    return [render_part(part) for part in parts]


def parse_part(value: object) -> Part:
    """Read one part of such a turn; a kind that is not known is kept as it is."""
    raw = record(value)
    match raw:
        case {"type": "text", "value": str() as text}:
            return Text(text)
        case {"type": "reasoning", "value": str() as text}:
            return Thinking(text, extras={NAME: {}})
        case {"type": "tool_call", "value": str() as text}:
            return read_call(text) or Text(text)
        case {"type": str()}:
            return Opaque(NAME, raw, known_string(raw, "value"))
        case _:
            raise Misfit(".type", "a part needs a type")


def _listed(text: str) -> list[Wire]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return []
    entries = cast("list[object]", found) if isinstance(found, list) else []
    listed = [cast("Wire", entry) for entry in entries if isinstance(entry, dict)]
    are_results = all("content" in entry and entry.keys() <= _RESULT_FIELDS for entry in listed)
    return listed if are_results and len(listed) == len(entries) else []


def render_part(part: Part) -> Wire:
    """Write one part of a turn that is a list of parts."""
    match part:
        case Thinking(text=text):
            return {"type": "reasoning", "value": text}
        case ToolCall():
            return {"type": "tool_call", "value": render_call(part)}
        case Opaque(value=value):
            return dict(value)
        case Text(text=text):
            return {"type": "text", "value": text}
        case _:
            raise TypeError(f"{type(part).__name__} is no part of a turn")
