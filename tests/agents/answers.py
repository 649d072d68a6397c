"""One answer of a model as each provider streams it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

Event = Mapping[str, object]
_WRITTEN = 10
"""Tokens of each answer."""


@dataclass(frozen=True)
class Call:
    """A tool that the model wants to use."""

    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class Answer:
    """What the model says, with a number of its own."""

    number: int
    text: str
    call: Call | None = None
    read: int = 100
    """Tokens of the request, as they are reported."""


def anthropic(answer: Answer) -> list[Event]:
    """Return the answer as the Messages API streams it."""
    usage = {"input_tokens": answer.read, "output_tokens": _WRITTEN}
    head = {"id": f"msg_{answer.number}", "type": "message", "role": "assistant", "model": "m1"}
    message = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[Event] = [{"type": "message_start", "message": message}]
    events += _block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text})
    if answer.call is not None:
        name, written = answer.call.name, json.dumps(answer.call.arguments)
        block = {"type": "tool_use", "id": f"toolu_{answer.number}", "name": name, "input": {}}
        events += _block(1, block, {"type": "input_json_delta", "partial_json": written})
    reason = "end_turn" if answer.call is None else "tool_use"
    delta = {"stop_reason": reason, "stop_sequence": None}
    end: Event = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": _WRITTEN}}
    return [*events, end, {"type": "message_stop"}]


def _block(index: int, block: Event, delta: Event) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]


def responses(answer: Answer) -> list[Event]:
    """Return the answer as the Responses API streams it."""
    text = {"type": "output_text", "text": answer.text, "annotations": []}
    status = {"status": "completed"}
    said = {"type": "message", "id": f"msg_{answer.number}", "role": "assistant", **status}
    items: list[Event] = [{**said, "content": [text]}]
    if answer.call is not None:
        ids = {"id": f"fc_{answer.number}", "call_id": f"call_{answer.number}"}
        written = {"name": answer.call.name, "arguments": json.dumps(answer.call.arguments)}
        items.append({"type": "function_call", **ids, **written, **status})
    usage = {
        "input_tokens": answer.read,
        "output_tokens": _WRITTEN,
        "total_tokens": answer.read + _WRITTEN,
    }
    response = {"id": f"resp_{answer.number}", "object": "response", "model": "m1", "output": items}
    events: list[Event] = [{"type": "response.created", "response": {**response, "output": []}}]
    for index, item in enumerate(items):
        place = {"output_index": index, "item": item}
        events.append({"type": "response.output_item.added", **place})
        events.append({"type": "response.output_item.done", **place})
    return [*events, {"type": "response.completed", "response": {**response, "usage": usage}}]


def chat(answer: Answer) -> list[Event]:
    """Return the answer as the Chat Completions API streams it."""
    delta: dict[str, object] = {"role": "assistant", "content": answer.text}
    if answer.call is not None:
        written = {"name": answer.call.name, "arguments": json.dumps(answer.call.arguments)}
        ids = {"index": 0, "id": f"call_{answer.number}", "type": "function"}
        delta["tool_calls"] = [{**ids, "function": written}]
    reason = "stop" if answer.call is None else "tool_calls"
    counts = {"prompt_tokens": answer.read, "completion_tokens": _WRITTEN}
    head = {"id": f"chatcmpl-{answer.number}", "object": "chat.completion.chunk", "model": "m1"}
    return [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**head, "choices": [], "usage": {**counts, "total_tokens": answer.read + _WRITTEN}},
    ]


def gemini(answer: Answer) -> Event:
    """Return the answer as Gemini gives it, whole or as the only piece of a stream."""
    parts: list[Event] = [{"text": answer.text}]
    if answer.call is not None:
        called = {"name": answer.call.name, "args": answer.call.arguments}
        parts.append({"functionCall": called, "thoughtSignature": "c2VhbA=="})
    content = {"role": "model", "parts": parts}
    counts = {"promptTokenCount": answer.read, "candidatesTokenCount": _WRITTEN}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**counts, "totalTokenCount": answer.read + _WRITTEN},
        "modelVersion": "m1",
    }
