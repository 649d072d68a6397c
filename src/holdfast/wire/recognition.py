"""Tells which provider's dialect a list of messages is written in.

Dialects share much of their vocabulary, so every message is asked and votes are counted: a
transcript that went through a gateway may hold a field or two of another dialect.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.wire.fields import Wire, known_string, records
from holdfast.wire.sharegpt import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["Verdict", "dialect_of", "is_answer", "is_message"]

_SURE = 3
_LIKELY = 1

_ITEMS = frozenset(
    [
        "compaction",
        "computer_call",
        "computer_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "file_search_call",
        "function_call",
        "function_call_output",
        "item_reference",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_call",
        "reasoning",
        "web_search_call",
    ]
)
_BLOCKS = {
    "image_url": "openai",
    "input_audio": "openai",
    "input_file": "responses",
    "input_image": "responses",
    "input_text": "responses",
    "output_text": "responses",
    "document": "anthropic",
    "image": "anthropic",
    "redacted_thinking": "anthropic",
    "server_tool_use": "anthropic",
    "thinking": "anthropic",
    "tool_result": "anthropic",
    "tool_use": "anthropic",
}
_VALUED = frozenset(["reasoning", "text", "tool_call"])
_OPENAI_ROLES = frozenset(["developer", "function", "system", "tool"])
_SPEAKERS = frozenset([*ROLES, "developer", "model", "session_meta"])
"""Who speaks in any dialect, and what Hermes writes first; users and members have roles too."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which dialect messages are taken for, and why."""

    dialect: str
    reason: str
    confidence: float
    """As that of a `Guess`: low where nothing but the shape speaks for it."""


def is_message(value: object) -> bool:
    """Say whether a JSON value has the shape of a message in any dialect."""
    entry = _entry(value)
    if role := known_string(entry, "role"):
        is_known = "content" in entry and role in _SPEAKERS
        return is_known or "parts" in entry or "tool_calls" in entry
    if "from" in entry:
        return isinstance(entry.get("value"), str) and known_string(entry, "from") in _SPEAKERS
    return known_string(entry, "type") in _ITEMS or is_answer(entry)


def is_answer(entry: Mapping[str, object]) -> bool:
    """Say whether an entry is a whole answer of the Responses API, which some loops keep."""
    return entry.get("object") == "response" and isinstance(entry.get("output"), list)


def dialect_of(messages: Sequence[object], *, has_system: bool = False) -> Verdict:
    """Return the dialect that the messages speak, and why it was taken for that.

    Text alone says nothing: without a word that only one dialect knows it is OpenAI chat, the
    dialect that most tools write.
    """
    votes = Counter[str]()
    reasons: dict[str, str] = {}
    if has_system:
        votes["anthropic"] += _SURE
        reasons["anthropic"] = "a system prompt stands beside the messages"
    for message in messages:
        for dialect, weight, reason in _evidence(_entry(message)):
            votes[dialect] += weight
            reasons.setdefault(dialect, reason)
    if not messages:
        return Verdict("openai", "there is no message in it", 0.2)
    if not votes:
        return Verdict("openai", "messages with a role and text", 0.5)
    winner, _ = max(votes.items(), key=lambda vote: (vote[1], vote[0] == "openai"))
    return Verdict(winner, reasons[winner], 0.8)


def _evidence(entry: Mapping[str, object]) -> Iterator[tuple[str, int, str]]:
    role, kind = known_string(entry, "role"), known_string(entry, "type")
    if "from" in entry and "value" in entry:
        yield "sharegpt", _SURE, "turns have `from` and `value`"
    if "parts" in entry:
        yield "gemini", _SURE, "messages have `parts`"
    if kind in _ITEMS or is_answer(entry):
        yield "responses", _SURE, f"there is a {kind or 'response'} item"
    elif kind == "message":
        # Anthropic's answers carry this type too, so content decides.
        yield "responses", _LIKELY, "items have the type message"
    if "tool_calls" in entry or "tool_call_id" in entry or role in {"tool", "function"}:
        yield "openai", _SURE, "tool calls are written as OpenAI chat writes them"
    elif role in _OPENAI_ROLES:
        yield "openai", _LIKELY, f"there is a {role} message"
    for block in records(entry.get("content")):
        name = known_string(block, "type")
        if name in _VALUED and "value" in block:
            yield "sharegpt", _SURE, "content has parts with `type` and `value`"
        elif name in _BLOCKS:
            yield _BLOCKS[name], _SURE, f"content has a part of type {name}"


def _entry(value: object) -> Wire:
    return cast("Wire", value) if isinstance(value, dict) else {}
