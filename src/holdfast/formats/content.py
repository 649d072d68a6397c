"""Content as agents write it, in any spelling, as parts and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.json_access import count, mapping, mappings, sequence, string, usage_in
from holdfast.session import Usage
from holdfast.transcript import (
    NO_EXTRAS,
    Media,
    Message,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
)
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.json_access import JsonObject
    from holdfast.transcript import Part


def contents(value: object) -> tuple[Text | Media, ...]:
    """Return the words and pictures of a content field: a string, or parts in any spelling."""
    if isinstance(value, str):
        return (Text(value),)
    found: list[Text | Media] = []
    for each in sequence(value):
        if isinstance(each, str):
            found.append(Text(each))
            continue
        part = mapping(each)
        if text := string(part.get("text")):
            found.append(Text(text))
        inline = mapping(part.get("inlineData"))
        payload = string(part.get("data")) or string(inline.get("data"))
        kind = string(part.get("mimeType")) or string(inline.get("mimeType"))
        if payload:
            found.append(Media(media_type=kind, data=payload))
        image = part.get("image_url")
        addresses = [part.get("url"), mapping(image).get("url"), image]
        for url in map(string, (*addresses, *sequence(part.get("image_urls")))):
            if url.startswith("data:"):
                header, _, payload = url.removeprefix("data:").partition(",")
                media_type = header.partition(";")[0] or kind
                found.append(Media(media_type=media_type, data=payload))
            elif url:
                found.append(Media(media_type=kind, url=url))
    return tuple(found)


def words(value: object) -> str:
    """Return the words of a content field, without its pictures."""
    return "\n".join(part.text for part in contents(value) if isinstance(part, Text))


def thought(text: str, signature: str) -> Thinking:
    """Return a thought; one with Anthropic's signature may go back to Anthropic."""
    if not signature:
        return Thinking(text)
    return Thinking(text, signature, {"anthropic": {}})


def speaker_of(parts: Iterable[Part], named: Role) -> Role:
    """Return who said the parts: only a model thinks and calls, whoever a damaged line names."""
    is_model = any(isinstance(part, Thinking | ToolCall) for part in parts)
    return Role.ASSISTANT if is_model else named


def summarized(text: str, origin: str) -> Message:
    """Return another agent's summary as the message that stands for what it folded.

    The sentences that its agent puts around a summary are taken off, as the codecs do. A file
    shows that it is a summary, and not that we wrote it.
    """
    (message,) = DIALECTS["openai"].decode(Body([{"role": "user", "content": text}]))
    found = message.summary
    return Message(
        Role.USER,
        (Summary(text if found is None else found.text, origin, claimed=origin == "holdfast"),),
        synthetic=Synthetic.SUMMARY,
    )


def decoded(dialect: str, message: JsonObject) -> tuple[Message, ...] | str:
    """Return the messages that one message of a provider stands for, or why it cannot be read.

    A message that says nothing is left out.
    """
    try:
        found = DIALECTS[dialect].decode(Body([dict(message)]))
    except DecodeError as error:
        return f"{error.path}: {error.problem}"
    return tuple(each for each in found if each.parts)


_NAMES = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")

_RESPONSES = ("input_tokens", "output_tokens")
"""How the Responses API calls what was sent and received."""


def answer_in(response: JsonObject) -> JsonObject:
    """Return the message of a response."""
    choices = mappings(response.get("choices"))
    return mapping(choices[0].get("message") if choices else None)


def thoughts(answer: JsonObject) -> Iterator[Thinking]:
    """Return what a model thought: its sealed blocks, or the words alone."""
    item = mapping(answer.get("responses_reasoning_item"))
    if item:
        # A thought of the Responses API, which OpenHands keeps without its shape.
        told = [text for text in sequence(item.get("summary")) if isinstance(text, str)]
        more = [text for text in sequence(item.get("content")) if isinstance(text, str)]
        seal = string(item.get("encrypted_content")) or None
        summary = [{"type": "summary_text", "text": text} for text in told]
        whole = {"type": "reasoning", "id": string(item.get("id")), "summary": summary}
        extras = {"responses": {**whole, "encrypted_content": seal}} if seal else NO_EXTRAS
        yield Thinking("\n\n".join(told + more), seal, extras)
    blocks = mappings(answer.get("thinking_blocks"))
    for block in blocks:
        yield thought(string(block.get("thinking")), string(block.get("signature")))
    text = string(answer.get("reasoning_content")) or string(answer.get("reasoning"))
    if text and not blocks and not item:
        yield Thinking(text)


def tokens_in(fields: JsonObject, cost: object = None) -> Usage | None:
    """Return what an answer cost.

    What was read from a cache or written to one is part of the prompt there, and not here.
    """
    details = mapping(fields.get("prompt_tokens_details") or fields.get("input_tokens_details"))
    cached = count(fields.get("cache_read_tokens")) or count(details.get("cached_tokens"))
    names = _NAMES if "prompt_tokens" in fields else (*_RESPONSES, *_NAMES[2:])
    found = usage_in({**fields, "cache_read_tokens": cached}, names, cost)
    if found is None:
        return None
    cached += found.cache_write_tokens
    return Usage(
        found.calls,
        max(found.input_tokens - cached, 0),
        found.output_tokens,
        found.cache_read_tokens,
        found.cache_write_tokens,
        found.cost,
    )
