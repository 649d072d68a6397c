"""Shorten what is stale in a transcript, without a model: phase one of a compaction.

Pruning is for the window only. The record, the audit and the summarizer's brief are made from
the original turns, so that evidence in tool results is read before it goes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from holdfast.compaction.report import PrunedCounts
from holdfast.transcript import (
    Media,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    exchange_at,
    newest_user,
)
from holdfast.transcript.toolkit import Toolkit, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Content, Transcript

__all__ = ["LONG", "PrunedTranscript", "prune", "prune_media"]

LONG = 200
"""Results and argument strings up to this many characters are left alone."""

_LEAF_FRONT = 160
_RECALL_TOOLS = frozenset(
    {"session_search", "memory", "ctx_grep", "ctx_describe", "ctx_expand", "ctx_recent"}
)
"""What recall brought back is exempt: shortening it would make the agent fetch it for ever."""


@dataclass(frozen=True, slots=True)
class PrunedTranscript:
    """A shortened transcript, message for message, and what was shortened."""

    transcript: Transcript
    counts: PrunedCounts


def prune(transcript: Transcript, toolkit: Toolkit, *, protected: int) -> PrunedTranscript:
    """Shorten stale tool output and arguments before index `protected`.

    Identical results keep only their newest copy; other long results become one informative
    line; long strings inside old arguments are cut inside the parsed JSON.
    """
    calls = {call.id: call for message in transcript for call in message.calls}
    repeated = _repeated(transcript)
    tally = {"deduplicated": 0, "summarised": 0, "arguments": 0}

    def shorten(part: Part, index: int) -> Part:
        match part:
            case ToolResult() if _is_long(part):
                call = calls.get(part.call_id, ToolCall(part.call_id, part.name or "tool"))
                if call.name in _RECALL_TOOLS:
                    return part
                copied = repeated.get(part.text, index) > index
                tally["deduplicated" if copied else "summarised"] += 1
                line = _copy_line(call, toolkit) if copied else toolkit.describe(call, part)
                return replace(part, content=(Text(f"[{flat(line, LONG - 2)}]"), *_media(part)))
            case ToolCall(arguments=arguments) if len(arguments) > LONG:
                shorter = _shrink_arguments(arguments)
                if shorter == arguments:
                    return part
                tally["arguments"] += 1
                return replace(part, arguments=shorter)
            case _:
                return part

    pruned = tuple(
        _with_parts(message, tuple(shorten(part, index) for part in message.parts))
        if message.role in (Role.TOOL, Role.ASSISTANT) and not message.pinned
        else message
        for index, message in enumerate(transcript[:protected])
    )
    return PrunedTranscript(pruned + transcript[protected:], PrunedCounts(**tally))


def prune_media(transcript: Transcript) -> PrunedTranscript:
    """Put a placeholder where historical media was.

    What stays is the media of the newest user message that carries any, and what tools showed
    last in the turn that is still running.
    """
    staying = _current_media(transcript)
    removed = 0
    result: list[Message] = []
    for index, message in enumerate(transcript):
        if index in staying or message.pinned or not _shows(message):
            result.append(message)
            continue
        parts = tuple(_placeholders(part) for part in message.parts)
        removed += sum(map(_media_count, message.parts))
        result.append(replace(message, parts=parts))
    return PrunedTranscript(tuple(result), PrunedCounts(media=removed))


def _current_media(transcript: Transcript) -> frozenset[int]:
    showing = [index for index, message in enumerate(transcript) if _shows(message)]
    by_users = [index for index in showing if transcript[index].role is Role.USER]
    running = newest_user(transcript) or 0
    by_tools = [index for index in showing if index > running and transcript[index].results]
    if by_tools:
        # Results of parallel calls stand side by side and are seen together.
        newest = exchange_at(transcript, by_tools[-1])
        by_tools = [index for index in by_tools if index in newest]
    return frozenset([*by_users[-1:], *by_tools])


def _repeated(transcript: Transcript) -> dict[str, int]:
    """Return the index of the newest copy of each long result."""
    return {
        result.text: index
        for index, message in enumerate(transcript)
        for result in message.results
        if _is_long(result)
    }


def _is_long(result: ToolResult) -> bool:
    return sum(len(part.text) for part in result.content if isinstance(part, Text)) > LONG


def _media(result: ToolResult) -> tuple[Content, ...]:
    return tuple(part for part in result.content if not isinstance(part, Text))


def _copy_line(call: ToolCall, toolkit: Toolkit) -> str:
    described = toolkit.describe(call, None).removesuffix(" (no result)")
    return f"{described} - same output as a later call, shown there"


def _with_parts(message: Message, parts: tuple[Part, ...]) -> Message:
    # Identity tells unchanged messages apart: their weight is already known.
    if all(now is before for now, before in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, parts=parts)


def _shrink_arguments(arguments: str) -> str:
    """Cut long string leaves; structure, numbers, booleans and nulls survive."""
    try:
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return json.dumps(_cut_leaves(value), ensure_ascii=False)


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


def _shows(message: Message) -> bool:
    return any(map(_media_count, message.parts))


def _media_count(part: Part) -> int:
    if isinstance(part, ToolResult):
        return sum(isinstance(piece, Media) for piece in part.content)
    return int(isinstance(part, Media))


def _placeholders(part: Part) -> Part:
    match part:
        case Media():
            return _placeholder(part)
        case ToolResult(content=content):
            shown: Sequence[Content] = tuple(
                _placeholder(piece) if isinstance(piece, Media) else piece for piece in content
            )
            return replace(part, content=tuple(shown))
        case _:
            return part


def _placeholder(media: Media) -> Text:
    size = f", {len(media.data) * 3 // 4 // 1024 + 1} kB" if media.data else ""
    return Text(
        f"[{media.kind} {media.media_type or 'of an earlier turn'}{size}: not in the window]"
    )
