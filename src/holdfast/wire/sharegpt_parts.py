"""Turns that LLaMA-Factory writes as lists of parts, each a type and a value.

Here words, reasoning and calls are told apart by the container, and only results are still one
text: that of a single call as it is, those of several calls as a JSON list.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from holdfast.transcript import Opaque, Role, Text, Thinking, ToolCall, ToolResult
from holdfast.wire.arguments import written
from holdfast.wire.fields import Misfit, Wire, each, known_string, own, record
from holdfast.wire.sharegpt_text import NAME, read_answer, read_call, render_answer, render_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Part

__all__ = ["ROLES", "ROLE_NAMES", "has_parts", "parts_in", "render_parts", "results_in"]

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


def has_parts(turn: Wire) -> bool:
    """Say whether a turn is a list of parts and not one text."""
    return "from" not in turn and isinstance(turn.get("content"), list)


def parts_in(turn: Wire) -> list[Part]:
    """Return the parts of a turn, calls still without an id; a call that is none is words."""
    return list(each(turn.get("content"), ".content", _part))


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
        return [{"type": "text", "value": _render_results(results)}]
    return [_render(part) for part in parts]


def _part(value: object) -> Part:
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
    known = {"tool_call_id", "name", "content"}
    listed = [cast("Wire", entry) for entry in entries if isinstance(entry, dict)]
    are_results = all("content" in entry and entry.keys() <= known for entry in listed)
    return listed if are_results and len(listed) == len(entries) else []


def _render_results(results: Sequence[ToolResult]) -> str:
    if len(results) == 1 and own(results[0].extras, NAME).get("bare", True):
        return results[0].text
    return written([render_answer(result) for result in results])


def _render(part: Part) -> Wire:
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
