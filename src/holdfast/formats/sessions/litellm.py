"""What agents keep of LiteLLM's answers, which have one shape for every provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.loose import mapping, mappings, string
from holdfast.formats.sessions.figures import count, usage_in
from holdfast.formats.sessions.reader import thought
from holdfast.session import Usage
from holdfast.transcript import Thinking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["answer_in", "thoughts", "tokens_in"]

_NAMES = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")


def answer_in(response: Mapping[str, object]) -> Mapping[str, object]:
    """Return the message of a response."""
    choices = mappings(response.get("choices"))
    return mapping(choices[0].get("message") if choices else None)


def thoughts(answer: Mapping[str, object]) -> Iterator[Thinking]:
    """Return what a model thought: its sealed blocks, or the words alone."""
    blocks = mappings(answer.get("thinking_blocks"))
    for block in blocks:
        yield thought(string(block.get("thinking")), string(block.get("signature")))
    text = string(answer.get("reasoning_content")) or string(answer.get("reasoning"))
    if text and not blocks:
        yield Thinking(text)


def tokens_in(fields: Mapping[str, object], cost: object = None) -> Usage | None:
    """Return what an answer cost.

    What was read from a cache or written to one is part of the prompt there, and not here.
    """
    details = mapping(fields.get("prompt_tokens_details"))
    cached = count(fields.get("cache_read_tokens")) or count(details.get("cached_tokens"))
    found = usage_in({**fields, "cache_read_tokens": cached}, _NAMES, cost)
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
