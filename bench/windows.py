"""Windows as text: what a model is given, what `compress` leaves within so many characters.

Policies are compared at the same number of characters, because each counts tokens in its own way.
The text has all that a provider would be sent: roles, words, tool calls, results, and what stands
around a summary.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import holdfast
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from holdfast.transcript import Transcript

TRIES = 10
CLOSE = 0.99
"""A window of this part of the size is large enough: the search for a larger one ends."""


def window_text(messages: Iterable[Mapping[str, object]]) -> str:
    """Return OpenAI chat messages as the text that a model gets."""
    return "\n".join(line for message in messages for line in _lines(message))


def told(message: Mapping[str, object]) -> str:
    """Return the words of a message, without its tool calls."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def openai(transcript: Transcript) -> list[dict[str, object]]:
    """Return a transcript as OpenAI chat messages."""
    return DIALECTS["openai"].encode(transcript).messages


def fitted(
    messages: Sequence[dict[str, object]],
    size: int,
    summarizer: Callable[[str], str] | None = None,
) -> list[dict[str, object]]:
    """Return what `compress(fit=...)` leaves, at the largest fit whose text is within the size.

    A fit is in tokens and a size in characters, so the fit is searched for. Nothing is returned
    where no fit that was tried is within the size.
    """
    best: list[dict[str, object]] = []
    longest, low, high = 0, size // 8, size
    for _ in range(TRIES):
        tokens = (low + high) // 2
        window = list(holdfast.compress(messages, fit=tokens, summarizer=summarizer).messages)
        length = len(window_text(window))
        if length > size:
            high = tokens
            continue
        low = tokens
        if length > longest:
            best, longest = window, length
        if length >= size * CLOSE:
            break
    return best


def stand_together(
    places: Sequence[Sequence[int]],
    span: int,
    others: Sequence[Sequence[int]] = (),
    fewest: float = 0,
) -> bool:
    """Say whether one stretch of text has all of some things, and enough of others.

    Each thing is given by its places, in order. A stretch begins at a place of any of them and is
    `span` characters long; it must have every one of `places` and at least `fewest` of `others`.
    """
    if not all(places):
        return False
    starts = {place for each in (*places, *others) for place in each}
    return any(
        all(_within(each, start, span) for each in places)
        and sum(_within(each, start, span) for each in others) >= fewest
        for start in starts
    )


def _within(places: Sequence[int], start: int, span: int) -> bool:
    at = bisect_left(places, start)
    return at < len(places) and places[at] <= start + span


def _lines(message: Mapping[str, object]) -> Iterable[str]:
    role, words = message.get("role"), told(message)
    if words:
        yield f"{role}: {words}"
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call["function"]
        yield f"{role} calls {function['name']} {function['arguments']}"
