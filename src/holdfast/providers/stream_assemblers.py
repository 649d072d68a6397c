"""Answers put together from streams of APIs that no model of ours is asked through.

The Responses API and Gemini are streamed by callers, who want their answers recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from holdfast.ports.model import Spoken, Thought

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GeminiStream", "ResponsesStream"]

_Fields: TypeAlias = dict[str, object]
_Value = TypeVar("_Value")
_PLAIN = frozenset({"text", "thought"})


class ResponsesStream:
    """Takes the events of a response; most say what the last one says as a whole."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._response: _Fields = {}
        self._items: dict[object, _Fields] = {}
        self._words: dict[object, list[str]] = {}
        self._is_whole = False

    @property
    def is_whole(self) -> bool:
        """Say whether the end has come; an answer at its limit of tokens is whole."""
        return self._is_whole

    def take(self, event: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next event in, and yield what it says."""
        place = event.get("output_index")
        match event.get("type"):
            case "response.output_item.done":
                self._items[place] = _fields(event.get("item"))
                self._words.pop(place, None)
            case "response.output_text.delta" | "response.refusal.delta":
                text = str(event.get("delta") or "")
                self._words.setdefault(place, []).append(text)
                yield Spoken(text)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield Thought(str(event.get("delta") or ""))
            case "response.created":
                self._response = _fields(event.get("response"))
            case "response.completed" | "response.incomplete":
                self._response = _fields(event.get("response"))
                self._is_whole = True
            case _:
                pass

    def answer(self) -> _Fields:
        """Return the response; some servers leave the items out of its last event."""
        output = self._response.get("output") or self._finished()
        return {**self._response, "object": "response", "output": output}

    def partial(self) -> _Fields | None:
        """Return the items that are finished, and the words of those that are not."""
        content = [
            {"type": "output_text", "text": "".join(words), "annotations": list[object]()}
            for words in _in_order(self._words)
        ]
        cut = {"type": "message", "role": "assistant", "status": "incomplete", "content": content}
        output = [*self._finished(), *([cut] if content else [])]
        return {**self._response, "object": "response", "output": output} if output else None

    def _finished(self) -> list[_Fields]:
        return _in_order(self._items)


class GeminiStream:
    """Takes the pieces of a Gemini answer; each is an answer with the next parts."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._answer: _Fields = {}
        self._candidate: _Fields = {}
        self._parts: list[_Fields] = []

    @property
    def is_whole(self) -> bool:
        """Say whether it was said why the answer ended."""
        return bool(self._candidate.get("finishReason")) or "promptFeedback" in self._answer

    def take(self, piece: Mapping[str, object]) -> Iterator[Spoken | Thought]:
        """Take the next piece in, and yield what it says."""
        self._answer |= {name: value for name, value in piece.items() if name != "candidates"}
        candidates = piece.get("candidates")
        for candidate in cast("list[object]", candidates or [])[:1]:
            fields = _fields(candidate)
            content = _fields(fields.pop("content", None))
            self._candidate |= fields
            parts = content.get("parts")
            for part in map(
                _fields, cast("list[object]", parts) if isinstance(parts, list) else []
            ):
                self._join(part)
                if text := part.get("text"):
                    yield Thought(str(text)) if part.get("thought") else Spoken(str(text))

    def answer(self) -> _Fields:
        """Return the answer as the server gives it without streaming."""
        content = {"role": "model", "parts": self._parts}
        return {**self._answer, "candidates": [{**self._candidate, "content": content}]}

    def partial(self) -> _Fields | None:
        """Return the parts that have come: each comes whole, but for words."""
        return self.answer() if self._parts else None

    def _join(self, part: _Fields) -> None:
        """Add a part; words go on where words of the same kind ended, unless one is signed."""
        last = self._parts[-1] if self._parts else {}
        is_plain = part.keys() <= _PLAIN and last.keys() <= _PLAIN and "text" in last
        if is_plain and last.get("thought") == part.get("thought"):
            last["text"] = f"{last['text']}{part.get('text') or ''}"
        else:
            self._parts.append(part)


def _fields(value: object) -> _Fields:
    return dict(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else {}


def _in_order(found: Mapping[object, _Value]) -> list[_Value]:
    return [found[place] for place in sorted(found, key=lambda place: cast("int", place or 0))]
