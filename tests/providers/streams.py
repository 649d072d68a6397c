"""Answers as providers stream them, for the server of `tests.providers.provider`."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.ports import ChatModel, Delta, Finished, Prompt
from holdfast.wire import Body
from tests.providers.provider import Reply

EVENTS = {"content-type": "text/event-stream"}
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
PROMPT = Prompt(body=Body([{"role": "user", "content": "Hello"}]), max_tokens=50)


def chunk(finish: str | None = None, **delta: object) -> dict[str, Any]:
    """Return one piece of a chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    fields = {"id": "c1", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    return {**fields, "choices": [choice]}


def usage_chunk(**more: object) -> dict[str, Any]:
    return {**chunk(), "choices": [], "usage": {**USAGE, **more}}


def streamed(*chunks: Mapping[str, object], cut: int | None = None) -> Reply:
    """Return a chat completion as a stream of these pieces."""
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks) + "data: [DONE]\n\n"
    return Reply(body=body, headers=EVENTS, cut=cut)


def spoken(*texts: str, finish: str = "stop") -> list[dict[str, Any]]:
    """Return the pieces of an answer in words."""
    return [
        chunk(role="assistant", content=""),
        *(chunk(content=text) for text in texts),
        chunk(finish),
        usage_chunk(),
    ]


def events(*each: Mapping[str, object], cut: int | None = None) -> Reply:
    """Return an Anthropic message as a stream of these events."""
    body = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in each)
    return Reply(body=body, headers=EVENTS, cut=cut)


def message_events(
    *blocks: tuple[Mapping[str, object], Iterable[Mapping[str, object]]],
    stop: str = "end_turn",
) -> list[dict[str, Any]]:
    """Return the events of a message; each block comes with the deltas that fill it."""
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 4}
    found: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "ping"},
    ]
    for index, (block, deltas) in enumerate(blocks):
        found.append({"type": "content_block_start", "index": index, "content_block": block})
        found += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        found.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": stop, "stop_sequence": None}
    found.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 3}})
    return [*found, {"type": "message_stop"}]


def text_block(*texts: str) -> tuple[dict[str, object], list[dict[str, object]]]:
    deltas: list[dict[str, object]] = [{"type": "text_delta", "text": text} for text in texts]
    return {"type": "text", "text": ""}, deltas


def said(model: ChatModel, prompt: Prompt = PROMPT) -> list[Delta]:
    return list(model.stream(prompt))


def answered(model: ChatModel, prompt: Prompt = PROMPT) -> Mapping[str, Any]:
    """Return the whole answer."""
    last = said(model, prompt)[-1]
    assert isinstance(last, Finished)
    return last.answer
