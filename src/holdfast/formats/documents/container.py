"""Providers' documents: which dialect they are in, and their conversation read and written back.

A container is a bare list of messages, a message a line, or an object that holds the messages
under a key beside whatever else its owner put there, which rides along untouched. Dialects share
much of their vocabulary, so every message is asked and votes are counted: a transcript that went
through a gateway may hold a field or two of another dialect.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.content import tokens_in
from holdfast.formats.document import Aside, Document, Envelope, Style
from holdfast.formats.events import SourceMetadata, with_native
from holdfast.formats.json_access import (
    is_array,
    is_object,
    kind_of,
    mapping,
    mappings,
    moment,
    sequence,
    string,
)
from holdfast.wire import DIALECTS, Body, with_originals
from holdfast.wire.provenance import written_labels
from holdfast.wire.sharegpt import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.json_access import JsonObject
    from holdfast.transcript import Transcript

__all__ = [
    "SYSTEM_KEYS",
    "ConversationPlace",
    "Verdict",
    "dialect_of",
    "dump",
    "find_conversation",
    "is_message",
    "key_of",
    "read_list",
    "read_object",
    "write_back",
]

_STRONG_VOTE = 3
_WEAK_VOTE = 1

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
    entry = mapping(value)
    if role := string(entry.get("role")):
        is_known = "content" in entry and role in _SPEAKERS
        return is_known or "parts" in entry or "tool_calls" in entry
    if "from" in entry:
        return isinstance(entry.get("value"), str) and string(entry["from"]) in _SPEAKERS
    return string(entry.get("type")) in _ITEMS or is_answer(entry)


def is_answer(entry: JsonObject) -> bool:
    """Say whether an entry is a whole answer of the Responses API, which some loops keep."""
    return entry.get("object") == "response" and is_array(entry.get("output"))


def dialect_of(messages: Sequence[object], *, has_system: bool = False) -> Verdict:
    """Return the dialect that the messages speak, and why it was taken for that.

    Text alone says nothing: without a word that only one dialect knows it is OpenAI chat, the
    dialect that most tools write.
    """
    votes = Counter[str]()
    reasons: dict[str, str] = {}
    if has_system:
        votes["anthropic"] += _STRONG_VOTE
        reasons["anthropic"] = "a system prompt stands beside the messages"
    for message in messages:
        for dialect, weight, reason in _evidence(mapping(message)):
            votes[dialect] += weight
            reasons.setdefault(dialect, reason)
    if not messages:
        return Verdict("openai", "there is no message in it", 0.2)
    if not votes:
        return Verdict("openai", "messages with a role and text", 0.5)
    winner, _ = max(votes.items(), key=lambda vote: (vote[1], vote[0] == "openai"))
    return Verdict(winner, reasons[winner], 0.8)


def _evidence(entry: JsonObject) -> Iterator[tuple[str, int, str]]:
    role, kind = string(entry.get("role")), string(entry.get("type"))
    if "from" in entry and "value" in entry:
        yield "sharegpt", _STRONG_VOTE, "turns have `from` and `value`"
    if "parts" in entry:
        yield "gemini", _STRONG_VOTE, "messages have `parts`"
    if kind in _ITEMS or is_answer(entry):
        yield "responses", _STRONG_VOTE, f"there is a {kind or 'response'} item"
    elif kind == "message":
        # Anthropic's answers carry this type too, so content decides.
        yield "responses", _WEAK_VOTE, "items have the type message"
    if "tool_calls" in entry or "tool_call_id" in entry or role in {"tool", "function"}:
        yield "openai", _STRONG_VOTE, "tool calls are written as OpenAI chat writes them"
    elif role in _OPENAI_ROLES:
        yield "openai", _WEAK_VOTE, f"there is a {role} message"
    for block in mappings(entry.get("content")):
        name = string(block.get("type"))
        if name in _VALUED and "value" in block:
            yield "sharegpt", _STRONG_VOTE, "content has parts with `type` and `value`"
        elif name in _BLOCKS:
            yield _BLOCKS[name], _STRONG_VOTE, f"content has a part of type {name}"


def items_of(answer: JsonObject) -> list[dict[str, object]]:
    """Return the items of an answer."""
    return [item for item in sequence(answer.get("output")) if is_object(item)]


def answer_metadata(answer: JsonObject) -> SourceMetadata:
    """Return what an answer says about itself, and what mini-swe-agent wrote beside it."""
    extra, usage = mapping(answer.get("extra")), mapping(answer.get("usage"))
    return SourceMetadata(
        reply=string(answer.get("id")),
        model=string(answer.get("model")),
        usage=tokens_in(usage, extra.get("cost") or usage.get("cost")),
        at=moment(extra.get("timestamp")) or moment(answer.get("created_at")),
    )


def with_answers(
    transcript: Transcript, natives: Mapping[int, SourceMetadata], first: int
) -> Transcript:
    """Return messages with what the answers that they came from say.

    Args:
        transcript: One message an item, below what stands beside the items.
        natives: What is known of an item, by its place.
        first: The place of the first item among the messages.
    """
    if not natives:
        return transcript
    return tuple(
        with_native(message, natives[place]) if place in natives else message
        for place, message in enumerate(transcript, -first)
    )


# The keys a conversation is found under, with the dialect that the key alone gives away.
_KEYS = {"messages": "", "input": "responses", "contents": "gemini", "conversations": ""}
_HISTORY = "history"
_LIKELY = 0.8

SYSTEM_KEYS: Mapping[str, tuple[str, ...]] = {
    "openai": (),
    "responses": ("instructions",),
    "anthropic": ("system",),
    "gemini": ("systemInstruction", "system_instruction"),
    "sharegpt": ("system",),
}
"""Where each dialect keeps its system prompt beside the messages; the first is written."""

_ROLES = frozenset(["system", "developer", "user", "assistant", "tool", "function"])
_LAST_WORDS = "exit"
"""The role under which mini-swe-agent notes how a run ended, which no model sees."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """Where in an object its conversation is, and in which dialect."""

    key: str
    dialect: str
    reason: str
    confidence: float
    """As that of a `Guess`."""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The entries of a list, told apart."""

    messages: list[dict[str, object]]
    asides: tuple[Aside, ...]
    natives: Mapping[int, SourceMetadata]
    """What is known of messages that came from a whole answer, by their place."""


def key_of(entry: JsonObject) -> str:
    """Return under which key an object holds a conversation; nothing when it holds none."""
    for key in _KEYS:
        messages = entry.get(key)
        if is_array(messages) and (
            not messages or any(is_message(message) for message in messages)
        ):
            return key
    past = sequence(entry.get(_HISTORY))
    return _HISTORY if past and all("parts" in mapping(each) for each in past) else ""


def find_conversation(entry: JsonObject) -> ConversationPlace | None:
    """Return where the conversation of an object is, or None when it holds none."""
    key = key_of(entry)
    if not key:
        return None
    if key == _HISTORY:
        reason = "an object with `history`: messages have `parts`"
        return ConversationPlace(_HISTORY, "gemini", reason, _LIKELY)
    messages, known = sequence(entry[key]), _KEYS[key]
    reason = f"an object with `{key}`"
    if known and messages:
        return ConversationPlace(key, known, reason, _LIKELY)
    # Only `messages` has a system prompt of Anthropic's kind beside it.
    prompt = key == "messages" and entry.get("system") is not None
    verdict = dialect_of(messages, has_system=prompt)
    if known:
        return ConversationPlace(key, known, reason, verdict.confidence)
    return ConversationPlace(
        key, verdict.dialect, f"{reason}: {verdict.reason}", verdict.confidence
    )


def read_object(
    entry: JsonObject, key: str, dialect: str, style: Style, *, name: str = ""
) -> Document:
    """Read an object with a conversation under a key, as the format `name` or as its dialect."""
    entries = _sort_out(sequence(entry[key]), key, dialect)
    messages, asides = entries.messages, entries.asides
    system_key = next((each for each in SYSTEM_KEYS[dialect] if each in entry), "")
    transcript = _decoded(entries, dialect, entry.get(system_key))
    rest = {**entry, key: None}
    envelope = Envelope(rest, key, system_key, asides=asides, style=style, messages=messages)
    return Document(name or dialect, dialect, transcript, envelope)


def read_list(entries: Sequence[object], dialect: str, style: Style, *, lines: bool) -> Document:
    """Read a bare list of messages, or messages that stood one a line."""
    found = _sort_out(entries, "", dialect)
    transcript, messages = _decoded(found, dialect, None), found.messages
    envelope = Envelope(None, lines=lines, asides=found.asides, style=style, messages=messages)
    return Document(dialect, dialect, transcript, envelope)


def _decoded(entries: _Sorted, dialect: str, system: object) -> Transcript:
    transcript = DIALECTS[dialect].decode(Body(entries.messages, system))
    first = len(transcript) - len(entries.messages)
    return with_answers(transcript, entries.natives, first) if entries.natives else transcript


def write_back(document: Document, envelope: Envelope, transcript: Transcript) -> str:
    """Write a transcript into the container that the document came in."""
    shown = written_labels(transcript, document.dialect)
    body = DIALECTS[document.dialect].encode(shown)
    originals = with_originals(body.messages, envelope.messages)
    messages: list[JsonObject] = [*originals]
    # What stood among messages that are gone now goes with them.
    for aside in reversed(envelope.asides):
        index = len(originals) - aside.following
        if index >= 0:
            messages.insert(index, aside.value)
    if envelope.rest is None and body.system is None:
        if not envelope.lines:
            return dump(messages, envelope.style)
        flat = Style(None, compact=envelope.style.compact)
        text = "\n".join(dump(message, flat) for message in messages)
        return f"{text}\n" if envelope.style.final_newline and text else text
    rest = {"messages": None} if envelope.rest is None else envelope.rest
    key = envelope.key or "messages"
    filled: dict[str, object] = {}
    for name, value in rest.items():
        if name == envelope.system_key:
            if body.system is not None or not value:
                filled[name] = value if body.system is None else body.system
        elif name == key:
            if body.system is not None and not envelope.system_key:
                filled[SYSTEM_KEYS[document.dialect][0]] = body.system
            filled[name] = messages
        else:
            filled[name] = value
    return dump(filled, envelope.style)


def dump(value: object, style: Style) -> str:
    """Return a value as JSON text in a style.

    Half a surrogate pair, which JSON can escape and UTF-8 cannot hold, is escaped again.
    """
    separators = (",", ":") if style.compact and style.indent is None else None
    text = json.dumps(value, ensure_ascii=False, indent=style.indent, separators=separators)
    text = _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return f"{text}\n" if style.final_newline else text


def _sort_out(entries: Sequence[object], key: str, dialect: str) -> _Sorted:
    """Separate messages from entries that only their owner understands."""
    messages: list[dict[str, object]] = []
    passed: list[tuple[int, JsonObject]] = []
    natives: dict[int, SourceMetadata] = {}
    # Only Hermes puts notes of its own among messages, and it writes OpenAI's.
    roles = _ROLES if dialect == "openai" else None
    for index, each in enumerate(entries):
        if not is_object(each):
            where = f"{key}[{index}]"
            raise DecodeError(dialect, where, f"expected an object, found {kind_of(each)}")
        if dialect == "responses" and is_answer(each):
            known = answer_metadata(each)
            for item in items_of(each):
                natives[len(messages)] = known
                messages.append(item)
                known = replace(known, usage=None)
            continue
        role = string(each.get("role"))
        if role == _LAST_WORDS or (roles is not None and role and role not in roles):
            passed.append((len(messages), each))
        else:
            messages.append(each)
    asides = tuple(Aside(len(messages) - before, entry) for before, entry in passed)
    return _Sorted(messages, asides, natives)
