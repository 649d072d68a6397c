"""Shorten what is stale in a transcript, without a model: phase one of a compaction.

Pruning is for the window only. The record, the audit and the summarizer's brief are made from
the original turns, so that evidence in tool results is read before it goes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.compaction.media import without_old_media
from holdfast.compaction.report import PrunedCounts
from holdfast.transcript import Message, Part, Role, Text, ToolCall, ToolResult
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from holdfast.transcript import Content, Transcript

    Describe: TypeAlias = Callable[[ToolCall, ToolResult | None], str]
    _Sketch: TypeAlias = tuple[int, str, str]

__all__ = ["LONG", "PrunedTranscript", "prune", "squeezed"]

LONG = 200
"""Results and argument strings up to this many characters are left alone."""

_LEAF_FRONT = 160
_SHORTENED = (Role.TOOL, Role.ASSISTANT)
_ENDS = 48
"""Characters at both ends of a text that tell it from nearly all others of its length."""
_RECALL_TOOLS = frozenset(
    {"session_search", "memory", "ctx_grep", "ctx_describe", "ctx_expand", "ctx_recent"}
)
"""What recall brought back is exempt: shortening it would make the agent fetch it for ever."""


@dataclass(frozen=True, slots=True)
class PrunedTranscript:
    """A shortened transcript, message for message, and what was shortened."""

    transcript: Transcript
    counts: PrunedCounts


def prune(
    transcript: Transcript,
    describe: Describe,
    *,
    protected: int,
    only: Container[int] | None = None,
) -> PrunedTranscript:
    """Shorten stale tool output and arguments before index `protected`, and historical media.

    Identical results keep only their newest copy; other long results become one informative
    line; long strings inside old arguments are cut inside the parsed JSON.

    Args:
        transcript: What is to be shortened.
        describe: Says in a line what a call did and how it went, or only what it did.
        protected: From here on messages keep their words.
        only: The messages that are rewritten, where others will be folded; all are counted.
    """
    stale = _Stale(transcript, describe)
    kinds: list[str] = []
    pruned = [*transcript]
    for index, message in enumerate(transcript[:protected]):
        if message.pinned or message.role not in _SHORTENED:
            continue
        found = [kind for part in message.parts if (kind := stale.kind(part, index))]
        kinds += found
        if found and (only is None or index in only):
            pruned[index] = stale.shortened(message, index)
    tally = Counter(kinds)
    shown = without_old_media(tuple(pruned))
    return PrunedTranscript(shown.transcript, PrunedCounts(**tally, media=shown.count))


def squeezed(message: Message, describe: Describe) -> Message:
    """Return a message of a call that still waits in its shortest form: the call itself stays."""
    stale = _Stale((message,), describe)
    return stale.shortened(message, 0) if message.role is not Role.USER else message


class _Stale:
    """Tells which parts of a transcript may be shortened, and shortens them."""

    def __init__(self, transcript: Transcript, describe: Describe) -> None:
        self._describe = describe
        self._calls: dict[str, ToolCall] = {}
        self._newest: dict[str, int] = {}
        """Where a text stands last that another of the same sketch comes before."""
        self._shared: set[_Sketch] = set()
        seen: set[_Sketch] = set()
        for index, message in enumerate(transcript):
            for part in message.parts:
                if isinstance(part, ToolCall):
                    self._calls[part.id] = part
                elif isinstance(part, ToolResult) and len(text := part.text) > LONG:
                    sketch = _sketch(text)
                    if sketch in seen:
                        self._shared.add(sketch)
                        self._newest[text] = index
                    seen.add(sketch)

    def kind(self, part: Part, index: int) -> str:
        """Return how a part would be shortened; nothing when it stays."""
        # Without patterns: this runs for every part of a transcript.
        if isinstance(part, ToolResult):
            text = part.text
            if len(text) <= LONG or self._call(part).name in _RECALL_TOOLS:
                return ""
            return "deduplicated" if self._comes_again(text, index) else "summarised"
        if isinstance(part, ToolCall) and len(part.arguments) > LONG:
            return "arguments" if _is_long(part.arguments) else ""
        return ""

    def shortened(self, message: Message, index: int) -> Message:
        """Return the message with its stale parts shortened."""
        parts = tuple(self._short(part, self.kind(part, index)) for part in message.parts)
        return replace(message, parts=parts)

    def _short(self, part: Part, kind: str) -> Part:
        if not kind:
            return part
        if isinstance(part, ToolCall):
            return replace(part, arguments=_shrunk(part.arguments))
        result = cast("ToolResult", part)
        call = self._call(result)
        line = self._describe(call, result if kind == "summarised" else None)
        if kind == "deduplicated":
            described = line.removesuffix(" (no result)")
            line = f"{described} - same output as a later call, shown there"
        return replace(result, content=(Text(f"[{flat(line, LONG - 2)}]"), *_not_text(result)))

    def _comes_again(self, text: str, index: int) -> bool:
        """Say whether a later result has the same words."""
        return _sketch(text) in self._shared and self._newest.get(text, index) > index

    def _call(self, result: ToolResult) -> ToolCall:
        known = self._calls.get(result.call_id)
        return known or ToolCall(result.call_id, result.name or "tool")


def _sketch(text: str) -> _Sketch:
    """Return what equal texts have in common: to hash whole ones is to read megabytes."""
    return len(text), text[:_ENDS], text[-_ENDS:]


def _not_text(result: ToolResult) -> tuple[Content, ...]:
    return tuple(part for part in result.content if not isinstance(part, Text))


def _is_long(arguments: str) -> bool:
    """Say whether `_shrunk` would cut anything; most arguments are only counted."""
    try:
        return _has_long_leaf(json.loads(arguments))
    except (ValueError, RecursionError):
        return False


def _has_long_leaf(value: object) -> bool:
    if isinstance(value, str):
        return len(value) > LONG
    if isinstance(value, dict):
        return any(map(_has_long_leaf, cast("dict[str, object]", value).values()))
    return isinstance(value, list) and any(map(_has_long_leaf, cast("list[object]", value)))


def _shrunk(arguments: str) -> str:
    """Cut long string leaves; structure, numbers, booleans and nulls survive."""
    try:
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    shorter = _cut_leaves(value)
    return arguments if shorter == value else json.dumps(shorter, ensure_ascii=False)


def _cut_leaves(value: object) -> object:
    match value:
        case str() if len(value) > LONG:
            return f"{value[:_LEAF_FRONT]}… [{len(value) - _LEAF_FRONT} characters more]"
        case dict():
            entries = cast("dict[str, object]", value)
            return {key: _cut_leaves(item) for key, item in entries.items()}
        case list():
            return [_cut_leaves(item) for item in cast("list[object]", value)]
        case _:
            return value
