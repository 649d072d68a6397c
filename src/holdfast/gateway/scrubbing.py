"""Takes recalled memory out of answers on their way to the client, where any was put in.

A model may repeat what it was shown. Events that say nothing of it pass byte for byte.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from holdfast.memory import Scrubber, scrub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_Fields: TypeAlias = dict[str, Any]
_ITEM_TEXTS = ("content", "*", "text")
_WHOLE: Mapping[str, tuple[str, ...]] = {
    "openai": ("choices", "*", "message", "content"),
    "responses": ("output", "*", *_ITEM_TEXTS),
    "anthropic": _ITEM_TEXTS,
    "gemini": ("candidates", "*", "content", "parts", "*", "text"),
}
"""Where each dialect keeps the words of an answer; `*` stands for each of a list."""
_DONE: Mapping[str, tuple[str, ...]] = {
    "response.output_text.done": ("text",),
    "response.content_part.done": ("part", "text"),
    "response.output_item.done": ("item", *_ITEM_TEXTS),
    "response.completed": ("response", *_WHOLE["responses"]),
    "response.incomplete": ("response", *_WHOLE["responses"]),
}
"""Events that say again what was said."""


def scrubbed_answer(dialect: str, body: bytes) -> bytes:
    """Return an answer without memory in its words; one that has none, as it is."""
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return _written(answer) if _scrub_all(answer, _WHOLE[dialect]) else body


class StreamScrubber:
    """Scrubs a stream of events, however it is cut into pieces."""

    def __init__(self, dialect: str) -> None:
        """Begin outside every block of memory."""
        self._dialect = dialect
        self._rest = b""
        self._scrubbers: defaultdict[str, Scrubber] = defaultdict(Scrubber)

    def push(self, piece: bytes) -> bytes:
        """Take the next bytes; return the events that are whole and may be seen."""
        *blocks, self._rest = (self._rest + piece).replace(b"\r\n", b"\n").split(b"\n\n")
        return b"".join(map(self._block, blocks))

    def finish(self) -> bytes:
        """Return what is left when the stream has ended, as it is."""
        rest, self._rest = self._rest, b""
        return rest

    def _block(self, block: bytes) -> bytes:
        head, mark, text = block.partition(b"data:")
        try:
            event: object = json.loads(text)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            return block + b"\n\n"
        fields = cast("_Fields", event)
        before = self._spoken(fields)
        is_changed = fields != json.loads(text)
        written = head + mark + b" " + _written(fields) if is_changed else block
        # What was held back belongs before the event that ends its text.
        early = b"".join(_head_of(each) + _written(each) + b"\n\n" for each in before)
        return early + written + b"\n\n"

    def _spoken(self, event: _Fields) -> list[_Fields]:
        """Scrub an event in its place; return events that go before it."""
        match self._dialect:
            case "openai":
                self._chat(event)
            case "gemini":
                self._gemini(event)
            case "anthropic":
                return self._message(event)
            case _:
                return self._response(event)
        return []

    def _chat(self, event: _Fields) -> None:
        for choice in _objects(event.get("choices")):
            scrubber, delta = self._scrubbers[str(choice.get("index"))], _object(choice, "delta")
            said = delta.get("content")
            text = scrubber.push(said) if isinstance(said, str) else ""
            text += scrubber.finish() if choice.get("finish_reason") else ""
            if text or isinstance(said, str):
                choice["delta"] = {**delta, "content": text}

    def _gemini(self, event: _Fields) -> None:
        for holder, name in _slots(event, _WHOLE["gemini"]):
            holder[name] = self._scrubbers[str(holder.get("thought"))].push(holder[name])
        for candidate in _objects(event.get("candidates")):
            rest = self._scrubbers["None"].finish() if candidate.get("finishReason") else ""
            if rest:
                content = _object(candidate, "content")
                parts = [*_objects(content.get("parts")), {"text": rest}]
                candidate["content"] = {"role": "model", **content, "parts": parts}

    def _message(self, event: _Fields) -> list[_Fields]:
        delta, scrubber = _object(event, "delta"), self._scrubbers[str(event.get("index"))]
        if delta.get("type") == "text_delta":
            event["delta"] = {**delta, "text": scrubber.push(str(delta.get("text") or ""))}
        elif event.get("type") == "content_block_stop" and (rest := scrubber.finish()):
            said = {"type": "text_delta", "text": rest}
            return [{"type": "content_block_delta", "index": event.get("index"), "delta": said}]
        return []

    def _response(self, event: _Fields) -> list[_Fields]:
        kind = str(event.get("type"))
        scrubber = self._scrubbers[f"{event.get('output_index')} {event.get('content_index')}"]
        if kind == "response.output_text.delta":
            event["delta"] = scrubber.push(str(event.get("delta") or ""))
        _scrub_all(event, _DONE.get(kind, ()))
        if kind == "response.output_text.done" and (rest := scrubber.finish()):
            same = {name: event.get(name) for name in ("item_id", "output_index", "content_index")}
            return [{"type": "response.output_text.delta", **same, "delta": rest}]
        return []


def _objects(value: object) -> list[_Fields]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("_Fields", each) for each in items if isinstance(each, dict)]


def _object(holder: _Fields, name: str) -> _Fields:
    found: object = holder.get(name)
    return cast("_Fields", found) if isinstance(found, dict) else {}


def _head_of(event: Mapping[str, object]) -> bytes:
    """Return the lines that stand before the JSON of an event."""
    return f"event: {event['type']}\ndata: ".encode()


def _scrub_all(value: object, path: tuple[str, ...]) -> bool:
    """Scrub all words at a path; say whether there was any memory in them."""
    is_changed = False
    for holder, name in _slots(value, path) if path else ():
        clean = scrub(holder[name])
        is_changed = is_changed or clean != holder[name]
        holder[name] = clean
    return is_changed


def _slots(value: object, path: tuple[str, ...]) -> Iterator[tuple[_Fields, str]]:
    """Yield each object that has a text at the end of a path, with the text's name."""
    name, *rest = path
    if name == "*":
        for each in cast("list[object]", value) if isinstance(value, list) else []:
            yield from _slots(each, tuple(rest))
    elif isinstance(value, dict):
        fields = cast("_Fields", value)
        if rest:
            yield from _slots(fields.get(name), tuple(rest))
        elif isinstance(fields.get(name), str):
            yield fields, name


def _written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
