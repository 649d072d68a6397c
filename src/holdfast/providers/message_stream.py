"""An Anthropic message put together from the events in which it is streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from holdfast.ports.model import Spoken, Thought

__all__ = ["MessageStream"]

_Fields: TypeAlias = dict[str, object]

_GROWING = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
_UNREADABLE = "unreadable_arguments"


class MessageStream:
    """Takes events as they come; the whole is what the server would have answered at once."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._message: _Fields = {}
        self._usage: _Fields = {}
        self._blocks: dict[object, _Fields] = {}
        self._inputs: dict[object, list[str]] = {}

    @property
    def is_whole(self) -> bool:
        """Say whether the end of the answer has arrived."""
        return self._message.get("stop_reason") is not None

    def take(self, event: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next event in, and yield what it says."""
        index = event.get("index")
        match event.get("type"):
            case "message_start":
                self._message = dict(_fields(event.get("message")))
                self._spend(self._message.get("usage"))
            case "content_block_start":
                self._blocks[index] = dict(_fields(event.get("content_block")))
            case "content_block_delta":
                yield from self._grow(index, _fields(event.get("delta")))
            case "message_delta":
                self._message |= _fields(event.get("delta"))
                self._spend(event.get("usage"))
            case _:
                pass

    def answer(self) -> _Fields:
        """Return the message as the server writes it without streaming."""
        content = [self._finished(index, block) for index, block in self._blocks.items()]
        return {
            **self._message,
            "type": "message",
            "role": "assistant",
            "content": content,
            "usage": self._usage,
        }

    def _grow(self, index: object, delta: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        kind = str(delta.get("type"))
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        if kind == "input_json_delta":
            self._inputs.setdefault(index, []).append(str(delta.get("partial_json") or ""))
        elif kind == "citations_delta":
            cited = block.get("citations")
            known = cast("list[object]", cited) if isinstance(cited, list) else []
            block["citations"] = [*known, delta.get("citation")]
        elif name := _GROWING.get(kind):
            text = str(delta.get(name) or "")
            block[name] = f"{block.get(name) or ''}{text}"
            if text and name != "signature":
                yield Spoken(text) if name == "text" else Thought(text)

    def _finished(self, index: object, block: _Fields) -> _Fields:
        written = "".join(self._inputs.get(index, ()))
        return {**block, "input": _arguments(written)} if written else block

    def _spend(self, usage: object) -> None:
        self._usage |= {name: each for name, each in _fields(usage).items() if each is not None}


def _arguments(text: str) -> object:
    """Return the arguments of a call; those that were cut off stay readable as text."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return {_UNREADABLE: text}
    return cast("object", value) if isinstance(value, dict) else {_UNREADABLE: text}


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
