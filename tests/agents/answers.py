"""One answer of a model as each provider streams it."""

import json
from base64 import b64encode
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
    thought: str = ""
    """What it thinks before it speaks."""
    more: tuple[Call, ...] = ()
    """What else it calls at once."""

    @property
    def calls(self) -> list[tuple[str, Call]]:
        """Return what it calls, each with what makes its id its own."""
        wanted = [self.call, *self.more] if self.call else []
        names = [str(self.number), *(f"{self.number}n{at}" for at in range(1, len(wanted)))]
        return list(zip(names, wanted, strict=False))

    @property
    def seal(self) -> str:
        """Return what the provider asks back with a thought."""
        return b64encode(f"the seal of answer {self.number}".encode()).decode()


def anthropic(answer: Answer) -> list[Event]:
    """Return the answer as the Messages API streams it."""
    usage = {"input_tokens": answer.read, "output_tokens": _WRITTEN}
    head = {"id": f"msg_{answer.number}", "type": "message", "role": "assistant", "model": "m1"}
    message = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[Event] = [{"type": "message_start", "message": message}]
    blocks: list[tuple[Event, list[Event]]] = []
    if answer.thought:
        thought: Event = {"type": "thinking_delta", "thinking": answer.thought}
        seal: Event = {"type": "signature_delta", "signature": answer.seal}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [thought, seal]))
    blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": answer.text}]))
    for id_, call in answer.calls:
        block = {"type": "tool_use", "id": f"toolu_{id_}", "name": call.name, "input": {}}
        written = json.dumps(call.arguments)
        blocks.append((block, [{"type": "input_json_delta", "partial_json": written}]))
    for index, (block, deltas) in enumerate(blocks):
        events += _block(index, block, deltas)
    reason = "end_turn" if answer.call is None else "tool_use"
    delta = {"stop_reason": reason, "stop_sequence": None}
    end: Event = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": _WRITTEN}}
    return [*events, end, {"type": "message_stop"}]


def _block(index: int, block: Event, deltas: list[Event]) -> list[Event]:
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def responses(answer: Answer) -> list[Event]:
    """Return the answer as the Responses API streams it."""
    text = {"type": "output_text", "text": answer.text, "annotations": []}
    status = {"status": "completed"}
    said = {"type": "message", "id": f"msg_{answer.number}", "role": "assistant", **status}
    items: list[Event] = [{**said, "content": [text]}]
    if answer.thought:
        told = {"type": "summary_text", "text": answer.thought}
        thought = {"type": "reasoning", "id": f"rs_{answer.number}", "summary": [told]}
        items.insert(0, {**thought, "encrypted_content": answer.seal})
    for id_, call in answer.calls:
        ids = {"id": f"fc_{id_}", "call_id": f"call_{id_}"}
        written = {"name": call.name, "arguments": json.dumps(call.arguments)}
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
    if answer.thought:
        delta["reasoning_content"] = answer.thought
    if answer.calls:
        delta["tool_calls"] = [
            {
                "index": index,
                "id": f"call_{id_}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for index, (id_, call) in enumerate(answer.calls)
        ]
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
    if answer.thought:
        parts.insert(0, {"text": answer.thought, "thought": True})
    for index, (_, call) in enumerate(answer.calls):
        seal = {} if index else {"thoughtSignature": answer.seal}
        parts.append({"functionCall": {"name": call.name, "args": call.arguments}, **seal})
    content = {"role": "model", "parts": parts}
    counts = {"promptTokenCount": answer.read, "candidatesTokenCount": _WRITTEN}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**counts, "totalTokenCount": answer.read + _WRITTEN},
        "modelVersion": "m1",
    }
