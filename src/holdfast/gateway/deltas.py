"""Joins the pieces of text of a stream, of which there are thousands, to a few events.

Reading an event as a whole takes several times longer than passing it on. Most say a few letters
and nothing else, and are read by a type that has only those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_Fields: TypeAlias = dict[str, Any]
_Said: TypeAlias = tuple[object, str]
"""What a delta says, after what tells it from deltas of something else."""


class _ChatDelta(Struct):
    content: str | None = None
    role: str | None = None
    tool_calls: Any = None
    function_call: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    refusal: Any = None


class _ChatChoice(Struct):
    delta: _ChatDelta
    index: int = 0
    finish_reason: str | None = None


class _ChatChunk(Struct):
    choices: list[_ChatChoice]
    usage: Any = None
    error: Any = None


class _BlockDelta(Struct):
    type: str = ""
    text: str = ""
    partial_json: str = ""
    thinking: str = ""


class _MessageEvent(Struct):
    type: str
    index: int = 0
    delta: _BlockDelta | None = None


class _ResponseEvent(Struct):
    type: str
    output_index: int = 0
    delta: Any = None


class _Part(Struct, forbid_unknown_fields=True):
    text: str


class _Content(Struct):
    parts: tuple[_Part]


class _Candidate(Struct):
    content: _Content
    finishReason: str | None = None  # noqa: N815 - the provider's name


class _GeminiChunk(Struct):
    candidates: tuple[_Candidate]


_BLOCK_TEXTS = {
    "text_delta": "text",
    "input_json_delta": "partial_json",
    "thinking_delta": "thinking",
}
_TEXT_EVENT = "response.output_text.delta"


def _chat(event: _ChatChunk) -> _Said | None:
    if len(event.choices) != 1 or event.usage is not None or event.error is not None:
        return None
    choice = event.choices[0]
    delta = choice.delta
    is_text = delta.content and choice.finish_reason is None and choice.index == 0
    others = (delta.tool_calls, delta.function_call, delta.reasoning, delta.reasoning_content)
    if not is_text or delta.refusal is not None or others != (None, None, None, None):
        return None
    return 0, delta.content or ""


def _message(event: _MessageEvent) -> _Said | None:
    delta = event.delta
    name = _BLOCK_TEXTS.get(delta.type) if delta and event.type == "content_block_delta" else None
    return ((event.index, name), cast("str", getattr(delta, name))) if name else None


def _response(event: _ResponseEvent) -> _Said | None:
    is_text = event.type == _TEXT_EVENT and isinstance(event.delta, str)
    return (event.output_index, event.delta) if is_text else None


def _gemini(event: _GeminiChunk) -> _Said | None:
    (candidate,) = event.candidates
    return (0, candidate.content.parts[0].text) if candidate.finishReason is None else None


def _write_chat(event: _Fields, text: str) -> None:
    event["choices"][0]["delta"]["content"] = text


def _write_message(event: _Fields, text: str) -> None:
    event["delta"][_BLOCK_TEXTS[event["delta"]["type"]]] = text


def _write_response(event: _Fields, text: str) -> None:
    event["delta"] = text


def _write_gemini(event: _Fields, text: str) -> None:
    event["candidates"][0]["content"]["parts"][0]["text"] = text


_READERS: Mapping[
    str,
    tuple[Callable[[bytes], Any], Callable[[Any], _Said | None], Callable[[_Fields, str], None]],
] = {
    "openai": (msgspec.json.Decoder(_ChatChunk).decode, _chat, _write_chat),
    "anthropic": (msgspec.json.Decoder(_MessageEvent).decode, _message, _write_message),
    "responses": (msgspec.json.Decoder(_ResponseEvent).decode, _response, _write_response),
    "gemini": (msgspec.json.Decoder(_GeminiChunk).decode, _gemini, _write_gemini),
}


def joined_events(dialect: str, texts: Iterable[bytes]) -> Iterator[dict[str, object]]:
    """Yield the events that JSON texts are, text that follows text in one; others are left out."""
    if dialect not in _READERS:
        yield from filter(None, map(_object, texts))
        return
    decode, said_by, write = _READERS[dialect]
    last, key, words = b"", cast("object", None), list[str]()

    def pending() -> Iterator[dict[str, object]]:
        event = _object(last) if words else None
        if event is not None:
            write(event, "".join(words))
            words.clear()
            yield event

    for text in texts:
        try:
            said = said_by(decode(text))
        except (ValueError, RecursionError):
            said = None
        if said is not None:
            if said[0] != key:
                yield from pending()
            key, last = said[0], text
            words.append(said[1])
        elif event := _object(text):
            yield from pending()
            yield event
    yield from pending()


def _object(text: bytes) -> dict[str, object] | None:
    try:
        found: object = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", found) if isinstance(found, dict) else None
