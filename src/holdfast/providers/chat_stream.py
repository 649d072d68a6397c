"""An OpenAI chat completion put together from the pieces in which it is streamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast
from uuid import uuid4

from holdfast.ports.model import Spoken, Thought

__all__ = ["ChatStream"]

_Fields: TypeAlias = dict[str, object]

_REASONING = ("reasoning_content", "reasoning")
_ENVELOPE = ("id", "created", "model", "system_fingerprint", "service_tier")


class ChatStream:
    """Takes chunks as they come; the whole is what the server would have answered at once.

    Nothing is taken for granted: compatible servers leave out indices, ids and roles, and some
    send content as a list of parts.
    """

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._envelope: _Fields = {}
        self._usage: object = None
        self._finish: object = None
        self._words: dict[str, list[str]] = {}
        self._calls: list[_Fields] = []
        self._places: dict[object, int] = {}

    @property
    def is_whole(self) -> bool:
        """Say whether the end of the answer has arrived: why it ended, or what it cost."""
        return self._finish is not None or self._usage is not None

    def take(self, chunk: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next chunk in, and yield what it says."""
        self._envelope |= {name: chunk[name] for name in _ENVELOPE if chunk.get(name) is not None}
        self._usage = chunk.get("usage") or self._usage
        for choice in _items(chunk.get("choices"))[:1]:
            self._finish = choice.get("finish_reason") or self._finish
            yield from self._delta(_fields(choice.get("delta")))

    def answer(self) -> _Fields:
        """Return the completion as the server writes it without streaming."""
        said = {name: "".join(pieces) for name, pieces in self._words.items()}
        message: _Fields = {"role": "assistant", "content": said.pop("content", None) or None}
        message |= said
        if self._calls:
            message["tool_calls"] = [_written(call) for call in self._calls]
        elif message["content"] is None:
            message["content"] = ""
        choice = {"index": 0, "finish_reason": self._finish, "message": message}
        answer: _Fields = {**self._envelope, "object": "chat.completion", "choices": [choice]}
        return {**answer, "usage": self._usage} if self._usage else answer

    def _delta(self, delta: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        for name in _REASONING:
            if text := _text(delta.get(name)):
                self._say(name, text)
                yield Thought(text)
        for name in ("content", "refusal"):
            if text := _text(delta.get(name)):
                self._say(name, text)
                yield Spoken(text)
        for piece in _items(delta.get("tool_calls")):
            self._call(piece)

    def _say(self, name: str, text: str) -> None:
        self._words.setdefault(name, []).append(text)

    def _call(self, piece: Mapping[str, object]) -> None:
        call = self._calls[self._place(piece)]
        function = _fields(piece.get("function"))
        call["id"] = call["id"] or piece.get("id") or ""
        call["name"] = call["name"] or function.get("name") or ""
        cast("list[str]", call["arguments"]).append(_text(function.get("arguments")))
        known = ("index", "id", "type", "function")
        cast("_Fields", call["more"]).update(
            {name: value for name, value in piece.items() if name not in known}
        )

    def _place(self, piece: Mapping[str, object]) -> int:
        """Return which call a piece belongs to; without index and id it is the newest one."""
        key = piece.get("index")
        if key is None:
            key = piece.get("id")
        if key is None and self._calls:
            return len(self._calls) - 1
        if key not in self._places:
            self._places[key] = len(self._calls)
            self._calls.append({"id": "", "name": "", "arguments": list[str](), "more": {}})
        return self._places[key]


def _written(call: Mapping[str, object]) -> _Fields:
    arguments = "".join(cast("list[str]", call["arguments"])) or "{}"
    return {
        "id": call["id"] or f"call_{uuid4().hex[:24]}",
        "type": "function",
        "function": {"name": call["name"], "arguments": arguments},
        **cast("_Fields", call["more"]),
    }


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "".join(text for part in _items(value) if isinstance(text := part.get("text"), str))


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _items(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        return []
    return [_fields(item) for item in cast("list[object]", value)]
