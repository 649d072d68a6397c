"""What agents keep of LiteLLM's answers, which have one shape for every provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.figures import count, usage_in
from holdfast.formats.loose import mapping, mappings, sequence, string
from holdfast.formats.session_reader import thought
from holdfast.session import Usage
from holdfast.transcript import NO_EXTRAS, Thinking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["answer_in", "thoughts", "tokens_in"]

_NAMES = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")

_RESPONSES = ("input_tokens", "output_tokens")
"""How the Responses API calls what was sent and received."""


def answer_in(response: Mapping[str, object]) -> Mapping[str, object]:
    """Return the message of a response."""
    choices = mappings(response.get("choices"))
    return mapping(choices[0].get("message") if choices else None)


def thoughts(answer: Mapping[str, object]) -> Iterator[Thinking]:
    """Return what a model thought: its sealed blocks, or the words alone."""
    item = mapping(answer.get("responses_reasoning_item"))
    if item:
        yield _reasoning(item)
    blocks = mappings(answer.get("thinking_blocks"))
    for block in blocks:
        yield thought(string(block.get("thinking")), string(block.get("signature")))
    text = string(answer.get("reasoning_content")) or string(answer.get("reasoning"))
    if text and not blocks and not item:
        yield Thinking(text)


def _reasoning(item: Mapping[str, object]) -> Thinking:
    """Return a thought of the Responses API, which OpenHands keeps without its shape."""
    told = [text for text in sequence(item.get("summary")) if isinstance(text, str)]
    more = [text for text in sequence(item.get("content")) if isinstance(text, str)]
    seal = string(item.get("encrypted_content")) or None
    summary = [{"type": "summary_text", "text": text} for text in told]
    whole = {"type": "reasoning", "id": string(item.get("id")), "summary": summary}
    extras = {"responses": {**whole, "encrypted_content": seal}} if seal else NO_EXTRAS
    return Thinking("\n\n".join(told + more), seal, extras)


def tokens_in(fields: Mapping[str, object], cost: object = None) -> Usage | None:
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
