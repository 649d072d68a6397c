"""The turns of a trajectory as training sets write them, and the secrets masked in them.

A turn stays the JSON object that it was, so that what is kept is kept byte for byte. Three shapes
are known: ShareGPT (`from`, `value`), OpenAI messages (`role`, `content`, `tool_calls`), and
LLaMA-Factory's lists of parts, each with a `type` and a `value`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import DecodeError
from holdfast.formats.json_access import (
    is_array,
    is_object,
    kind_of,
    mapping,
    mappings,
    parsed,
    sequence,
    string,
)
from holdfast.redaction.redactor import redact_all
from holdfast.tokens import IMAGE_TOKENS
from holdfast.transcript import Role
from holdfast.wire.sharegpt import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_NAME_WORDS = frozenset({"value", "content", "text", "arguments", "input", "output", "reasoning"})
"""Fields whose texts say for themselves what they are about."""
_KINDS = frozenset({"from", "role", "type"})
"""Fields that hold one of a few known words."""
_LONGEST_KIND = 18
"""Characters of the longest of those words; no secret is as short."""


def redact_json(values: Sequence[object], redact: Callable[[str], str]) -> list[object]:
    """Return JSON values with the secrets in their texts and keys masked.

    A text is judged with the name of its field, as in `"api_key": "..."`. A value in which nothing
    was masked comes back as the same object.
    """
    leaves = [list(_leaves(value, "")) for value in values]
    asked = [text for found in leaves for text in found]
    masked = redact_all(asked, redact)
    if masked == asked:
        return list(values)
    result: list[object] = []
    start = 0
    for value, found in zip(values, leaves, strict=True):
        shown = masked[start : start + len(found)]
        start += len(found)
        same = shown == found
        result.append(value if same else _filled(value, "", iter(shown), redact))
    return result


def _leaves(value: object, key: str) -> Iterator[str]:
    if isinstance(value, str):
        if not _is_kind(key, value):
            yield value if key in _NAME_WORDS else _named(key, value)
    elif is_object(value):
        for name, each in value.items():
            if len(name) > _LONGEST_KIND:
                yield name
            yield from _leaves(each, name)
    elif is_array(value):
        for each in value:
            yield from _leaves(each, key)


def _is_kind(key: str, text: str) -> bool:
    return key in _KINDS and len(text) <= _LONGEST_KIND


def _named(key: str, text: str) -> str:
    return json.dumps({key: text}, ensure_ascii=False) if key else text


def _filled(value: object, key: str, masked: Iterator[str], redact: Callable[[str], str]) -> object:
    if isinstance(value, str):
        if _is_kind(key, value):
            return value
        shown = next(masked)
        if key in _NAME_WORDS or not key:
            return shown
        if shown == _named(key, value):
            return value
        # A text that was masked with its name is judged by itself if that broke the JSON.
        fields = mapping(parsed(shown))
        return fields[key] if key in fields else redact(value)
    if is_object(value):
        return {
            next(masked) if len(name) > _LONGEST_KIND else name: _filled(each, name, masked, redact)
            for name, each in value.items()
        }
    if is_array(value):
        return [_filled(each, key, masked, redact) for each in value]
    return value


RawTurn: TypeAlias = Mapping[str, object]
"""A turn as it stands in the file."""

_SPEAKERS = {**ROLES, "developer": Role.SYSTEM, "model": Role.ASSISTANT}
_WORDS = ("value", "text", "content")
"""Where a part of a list keeps its words."""
_NOTE = "session_meta"
_REASONING = ("reasoning_content", "reasoning", "thinking")
_PICTURES = frozenset({"image", "image_url", "input_image", "video", "audio", "input_audio"})


class Shape(StrEnum):
    """How the turns of a trajectory are written."""

    SHAREGPT = "sharegpt"
    OPENAI = "openai"
    PARTS = "parts"
    """LLaMA-Factory's: the content is a list of parts with a type and a value."""


@dataclass(frozen=True, slots=True)
class TrajectoryTurn:
    """One turn: who speaks, the object it was read from, and the words that count."""

    role: Role
    raw: RawTurn
    texts: tuple[str, ...]
    pictures: int = 0

    def tokens(self, count: Callable[[str], int]) -> int:
        """Return what the turn weighs: its words, reasoning and calls, and a price for pictures."""
        return sum(map(count, self.texts)) + self.pictures * IMAGE_TOKENS


def read_turns(raw: Sequence[object]) -> tuple[Shape, tuple[TrajectoryTurn, ...]]:
    """Return the turns of a conversation, and how they are written.

    Raises:
        DecodeError: a turn has no speaker that is known, or its words are no text; it says which.
    """
    turns: list[TrajectoryTurn] = []
    for index, each in enumerate(raw):
        if not is_object(each):
            problem = f"expected an object, found {kind_of(each)}"
            raise DecodeError("trajectory", f"turn {index}", problem)
        turns.append(_turn(each, index))
    parts = (part for turn in turns for part in mappings(turn.raw.get("content")))
    if any("from" in turn.raw for turn in turns):
        shape = Shape.SHAREGPT
    elif any("value" in part for part in parts):
        shape = Shape.PARTS
    else:
        shape = Shape.OPENAI
    return shape, tuple(turns)


def has_notes(raw: Sequence[object]) -> bool:
    """Say whether entries stand among the messages that their owner wrote for itself.

    Hermes puts what it knows of a session between the messages, under a role of its own.
    """
    return any(
        string(each.get("role")) == _NOTE for each in raw if is_object(each) and "from" not in each
    )


def redacted(
    turns: Sequence[TrajectoryTurn], redact: Callable[[str], str]
) -> tuple[TrajectoryTurn, ...]:
    """Return the turns with their secrets masked; a turn without one is the same object."""
    masked = redact_json([turn.raw for turn in turns], redact)
    return tuple(
        turn if raw is turn.raw else _turn(mapping(raw), index)
        for index, (turn, raw) in enumerate(zip(turns, masked, strict=True))
    )


def spoken(shape: Shape, text: str, turns: Sequence[TrajectoryTurn]) -> dict[str, object]:
    """Return a human turn with these words, written as the others of the trajectory are."""
    match shape:
        case Shape.SHAREGPT:
            names = (string(each.raw.get("from")) for each in turns if each.role is Role.USER)
            return {"from": next(names, "human"), "value": text}
        case Shape.OPENAI:
            return {"role": "user", "content": text}
        case Shape.PARTS:
            return {"role": "user", "content": [{"type": "text", "value": text}]}


def added(turn: TrajectoryTurn, words: str) -> TrajectoryTurn:
    """Return the turn with words at its end."""
    key = "value" if "from" in turn.raw else "content"
    content = turn.raw.get(key)
    if isinstance(content, str):
        raw = {**turn.raw, key: content + words}
        texts = tuple(content + words if text is content else text for text in turn.texts)
        return TrajectoryTurn(turn.role, raw, texts, turn.pictures)
    name = "value" if any("value" in part for part in mappings(content)) else "text"
    raw = {**turn.raw, key: [*sequence(content), {"type": "text", name: words}]}
    return TrajectoryTurn(turn.role, raw, (*turn.texts, words), turn.pictures)


def _turn(raw: RawTurn, index: int) -> TrajectoryTurn:
    is_sharegpt, place = "from" in raw, f"turn {index}"
    dialect, word = ("sharegpt", "speaker") if is_sharegpt else ("openai", "role")
    speaker = raw.get("from" if is_sharegpt else "role")
    role = _SPEAKERS.get(speaker) if isinstance(speaker, str) else None
    if role is None:
        raise DecodeError(dialect, place, f"unknown {word} {speaker!r}")
    if is_sharegpt:
        value = raw.get("value")
        if not isinstance(value, str):
            raise DecodeError(dialect, place, f"expected text, found {kind_of(value)}")
        return TrajectoryTurn(role, raw, (value,))
    content = raw.get("content")
    texts = [content] if isinstance(content, str) else []
    pictures = 0
    if content is not None and not isinstance(content, str) and not is_array(content):
        problem = f"expected text or a list of parts, found {kind_of(content)}"
        raise DecodeError(dialect, place, problem)
    texts += [part for part in sequence(content) if isinstance(part, str)]
    for part in mappings(content):
        texts += [text for key in _WORDS if isinstance(text := part.get(key), str)]
        pictures += string(part.get("type")) in _PICTURES
    texts += [text for key in _REASONING if isinstance(text := raw.get(key), str)]
    for call in (*mappings(raw.get("tool_calls")), mapping(raw.get("function_call"))):
        function = mapping(call.get("function")) or call
        texts += [
            text for key in ("name", "arguments") if isinstance(text := function.get(key), str)
        ]
    return TrajectoryTurn(role, raw, tuple(texts), pictures)
