"""Cache breakpoints: where a request says that its prefix is worth keeping, by Anthropic's markers.

Four markers are allowed. One stands at the end of the system prompt, behind the tools, so that a
compaction does not lose it; three roll along with the last messages, so that the next request
finds the newest of them within its lookback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, cast

from holdfast.wire import Body

if TYPE_CHECKING:
    from holdfast.cost import Ttl
    from holdfast.wire import SharedPrefix

MARKER = "cache_control"
"""The field that carries a marker."""

ROLLING = 3
"""How many of the last messages are marked."""

GOAL_LINE = "The goal of this conversation, as its user set it:"
"""What a conversation writes above its goal, at the end of the system prompt."""

_NOTE_LINE = "[Earlier turns of this conversation were compacted into a summary."
"""How the note begins that the first compaction adds to the system prompt."""

_SYSTEM_ROLES = ("system", "developer")

_UNMARKABLE = ("thinking", "redacted_thinking")
"""Parts that the provider refuses a marker on."""


def mark(body: Body, *, ttl: Ttl = "5m", native: bool = True) -> Body:
    """Return the body with its system prompt and its last three other messages marked.

    The input is not changed; messages without a marker are shared with it. A string becomes a
    text part, a list is marked at its last part. What has no part to mark, and a tool's answer in
    OpenAI's layout, carries the marker on the message, which only a receiver with Anthropic's own
    layout reads; for others such a message is passed over and an earlier one is marked instead.
    In a system prompt, what conversations add at its end (the note of the first compaction, the
    goal) becomes a part of its own, so that the words before it stay cached when it comes or goes.

    Args:
        body: What is to be sent, in OpenAI's or Anthropic's layout. Markers that it has already
            are taken away: a fifth one would be refused.
        ttl: How long the provider is to keep it.
        native: Whether the receiver reads markers on messages.
    """
    bare = unmarked(body)
    return _set(bare, ttl=ttl, native=native)


class Marker:
    """Marks the requests of one conversation, looking for old markers in each message once.

    It goes by the shared prefix of bodies. Those without one are looked through from the start.

    A body with one was made for one request and is marked as it is: the list of a long
    conversation takes longer to copy than everything else that is done to it.
    """

    def __init__(self) -> None:
        """Begin with a conversation of which nothing was sent."""
        self._prefix: SharedPrefix | None = None
        self._clean = 0

    def mark(self, body: Body, *, ttl: Ttl = "5m", native: bool = True) -> Body:
        """Return what the function `mark` returns for a body that nobody changed.

        Where the body has a shared prefix, its own list of messages is marked and returned.
        """
        known = body.prefix is not None and body.prefix is self._prefix
        messages = list(body.messages) if body.prefix is None else body.messages
        seen = min(self._clean, len(messages)) if known else 0
        fresh = messages[seen:]
        bare = _bare(fresh)
        clean = (one is other for one, other in zip(fresh, bare, strict=True))
        self._prefix = body.prefix
        self._clean = seen + sum(takewhile(bool, clean))
        messages[seen:] = bare
        return _set(Body(messages, _plain_content(body.system)), ttl=ttl, native=native)


def unmarked(body: Body) -> Body:
    """Return the body without markers; what has none is shared with the input."""
    return Body(_bare(body.messages), _plain_content(body.system))


def opening_of(messages: Sequence[Mapping[str, object]]) -> int:
    """Return how many messages at the start are the system prompt."""
    talk = (index for index, message in enumerate(messages) if not is_instruction(message))
    return next(talk, len(messages))


def is_instruction(message: Mapping[str, object]) -> bool:
    """Say whether a message is part of the system prompt rather than of the talk."""
    return message.get("role") in _SYSTEM_ROLES


def is_bare(message: Mapping[str, object]) -> bool:
    """Say whether a message has no marker, neither itself nor in a part."""
    fields = cast("dict[str, object]", message)
    return _bare((fields,))[0] is fields


def _bare(messages: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    # Nearly every message is words without a marker, and every call comes by here.
    return [
        message
        if type(message.get("content")) is str and MARKER not in message
        else _plain(message)
        for message in messages
    ]


def _plain(fields: dict[str, object]) -> dict[str, object]:
    """Return a message or a part without markers, also inside a tool's answer."""
    content = fields.get("content")
    plain = _plain_content(content)
    if plain is content and MARKER not in fields:
        return fields
    kept = {key: value for key, value in fields.items() if key != MARKER}
    return {**kept, "content": plain} if "content" in kept else kept


def _plain_content(content: object) -> object:
    if not isinstance(content, list):
        return content
    parts = cast("list[object]", content)
    plain = [
        _plain(cast("dict[str, object]", part)) if isinstance(part, dict) else part
        for part in parts
    ]
    same = all(one is other for one, other in zip(parts, plain, strict=True))
    return parts if same else plain


def _set(bare: Body, *, ttl: Ttl, native: bool) -> Body:
    """Set the markers in a body that has none and whose list is its own."""
    marker: dict[str, object] = {"type": "ephemeral"}
    if ttl == "1h":
        marker["ttl"] = ttl
    messages, system = bare.messages, bare.system
    opening = opening_of(messages)
    if _has_words(system):
        system = _marked_content(_sections(system), marker) or system
    elif opening:
        prompt = messages[opening - 1]
        parted = {**prompt, "content": _sections(prompt.get("content"))}
        messages[opening - 1] = _marked_message(parted, marker, native=native) or prompt
    left = ROLLING
    for index in range(len(messages) - 1, opening - 1, -1):
        if not left:
            break
        if is_instruction(messages[index]):
            continue
        marked = _marked_message(messages[index], marker, native=native)
        if marked is not None:
            messages[index] = marked
            left -= 1
    return Body(messages, system)


def _sections(content: object) -> object:
    """Return a system prompt as text parts: its own words, and each thing added at their end."""
    if not isinstance(content, str):
        return content
    found = (content.rfind(f"\n\n{line}") for line in (_NOTE_LINE, GOAL_LINE))
    starts = [0, *sorted(start for start in found if start > 0)]
    ends = [*starts[1:], len(content)]
    texts = [content[start:end] for start, end in zip(starts, ends, strict=True)]
    return [{"type": "text", "text": text} for text in texts] if len(texts) > 1 else content


def _marked_message(
    message: dict[str, object], marker: Mapping[str, object], *, native: bool
) -> dict[str, object] | None:
    """Return the message with a marker, or None where it can carry none."""
    if message.get("role") != "tool":
        content = _marked_content(message.get("content"), marker)
        if content is not None:
            return {**message, "content": content}
        if _has_words(message.get("content")):
            return None
    return {**message, MARKER: dict(marker)} if native else None


def _marked_content(content: object, marker: Mapping[str, object]) -> list[object] | None:
    """Return content with the marker on its last part that takes one; None where none does."""
    if isinstance(content, str) and content.strip():
        return [{"type": "text", "text": content, MARKER: dict(marker)}]
    if not isinstance(content, list):
        return None
    parts = list(cast("list[object]", content))
    for index in range(len(parts) - 1, -1, -1):
        part = parts[index]
        if isinstance(part, Mapping) and _takes_marker(cast("Mapping[str, object]", part)):
            parts[index] = {**cast("Mapping[str, object]", part), MARKER: dict(marker)}
            return parts
    return None


def _takes_marker(part: Mapping[str, object]) -> bool:
    if part.get("type") in _UNMARKABLE:
        return False
    text = part.get("text")
    return part.get("type") != "text" or (isinstance(text, str) and bool(text.strip()))


def _has_words(content: object) -> bool:
    return bool(content.strip()) if isinstance(content, str) else bool(content)
