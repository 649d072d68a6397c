"""The messages of a Pi session, taken apart.

Thinking is kept the way the codec of its provider keeps it, so that it may go back there: Pi
writes Anthropic's seal, a reasoning item of Responses as text, Gemini's signature, or the name of
the field that another provider used, all under `thinkingSignature`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.formats.content import contents, summarized, thought, words
from holdfast.formats.json_access import (
    as_json,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
    usage_in,
)
from holdfast.transcript import NO_EXTRAS, Message, Role, Text, Thinking, ToolCall, ToolResult
from holdfast.wire.json_text import object_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.json_access import JsonObject
    from holdfast.session import Usage
    from holdfast.transcript import Media, Part

ORIGIN = "pi"
"""Which system wrote the summaries; also where a part keeps fields of Pi's own."""
_MIRRORS = frozenset(["delivery-mirror", "gateway-injected"])
"""The models of OpenClaw's copies of what it sent to a chat channel."""
SYSTEM = "holdfast.system"
"""The type of a custom entry with a system prompt: Pi goes on with its own, whatever we write."""
SUMMARY = "holdfast.summary"
"""The type of a custom message with a summary that no compaction of the file wrote."""
WINDOW = "holdfast.window"
"""The type of a custom entry that says what is seen from there on."""
SIDE = "side"
"""How OpenClaw marks what it wrote beside the conversation."""
_FIELDS = ("reasoning", "reasoning_content", "reasoning_text")
_SAVED = ("api", "provider", "stopReason", "errorMessage")
_ROLES = frozenset(
    [
        "assistant",
        "bashExecution",
        "branchSummary",
        "compactionSummary",
        "custom",
        "developer",
        "hookMessage",
        "system",
        "toolResult",
        "user",
    ]
)
_RAN = ("exitCode", "cancelled", "truncated", "fullOutputPath")


@dataclass(frozen=True, slots=True)
class EntryMessage:
    """The message of one entry, with what else the entry says about it."""

    message: Message
    model: str = ""
    reply: str = ""
    usage: Usage | None = None
    more: JsonObject = field(default_factory=dict[str, object])
    """What the writer needs to write the entry back as it was."""


def time_of(entry: JsonObject) -> int | None:
    """Return when an entry was written."""
    return milliseconds(entry.get("timestamp")) or milliseconds(
        mapping(entry.get("message")).get("timestamp")
    )


def spoken(entry: JsonObject) -> EntryMessage | None:
    """Return what an entry says to the model; None for what no model ever sees.

    That is a command that the user ran for himself, what OpenClaw marks as kept from the model,
    and its copy of an answer.
    """
    match entry.get("type"):
        case "branch_summary" if summary := string(entry.get("summary")):
            more = {"entry": "branch_summary", "fromId": string(entry.get("fromId"))}
            message = Message(Role.USER, (Text(summary),))
            return EntryMessage(message, usage=usage_of(entry), more=more)
        case "custom" if entry.get("customType") == SYSTEM:
            content = mapping(entry.get("data")).get("content")
            return EntryMessage(Message(Role.SYSTEM, tuple(read_blocks(content))))
        case "custom_message" if entry.get("customType") == SUMMARY:
            return EntryMessage(summarized(words(entry.get("content")), ORIGIN))
        case "custom_message":
            return _custom(entry, {"entry": "custom_message"})
        case "message":
            return _said(mapping(entry.get("message")))
        case _:
            return None


def is_heard(message: object) -> bool:
    """Say whether a message that a compaction repeats was told."""
    found = spoken({"type": "message", "message": message})
    return found is not None and bool(found.message.parts)


def is_known(entry: JsonObject) -> bool:
    """Say whether an entry is no message, or one of a role that is known."""
    return (
        entry.get("type") != "message"
        or string(mapping(entry.get("message")).get("role")) in _ROLES
    )


def _said(message: JsonObject) -> EntryMessage | None:
    if message.get("excludeFromContext") is True:
        return None
    content = message.get("content")
    match message.get("role"):
        case "user":
            return EntryMessage(Message(Role.USER, tuple(read_blocks(content))))
        case "custom" | "hookMessage":
            return _custom(message, {"role": "custom"})
        case "system" | "developer":
            # Read a system prompt, which newer versions write in sections that have names.
            instructions: list[Text | Media] = []
            content = message.get("content")
            instructions.extend(read_blocks(content) if content else ())
            for section in mapping(message.get("sections")).values():
                instructions.extend(read_blocks(section))
            return EntryMessage(Message(Role.SYSTEM, tuple(instructions)))
        case "assistant":
            model = string(message.get("model"))
            if model in _MIRRORS:
                return None
            api = string(message.get("api"))
            parts = tuple(_parts(message.get("content"), api))
            return EntryMessage(
                Message(Role.ASSISTANT, parts),
                model,
                string(message.get("responseId")),
                usage_of(message),
                {key: found for key in _SAVED if (found := string(message.get(key)))},
            )
        case "toolResult":
            return EntryMessage(Message(Role.TOOL, (_result(message),)), usage=usage_of(message))
        case "bashExecution":
            # A command that the user ran in the chat; the model reads it as the
            # user's words.
            more = {key: message[key] for key in _RAN if message.get(key) not in (None, False)}
            more["role"] = "bashExecution"
            asked = Text(f"I ran `{string(message.get('command'))}`:")
            output = Text(words(message.get("output")))
            note = ran_note(more)
            parts = (asked, output, Text(note)) if note else (asked, output)
            return EntryMessage(Message(Role.USER, parts), more=more)
        case "branchSummary":
            return EntryMessage(Message(Role.USER, (Text(string(message.get("summary"))),)))
        case "compactionSummary":
            return EntryMessage(summarized(string(message.get("summary")), ORIGIN))
        case _:
            return None


def _custom(fields: JsonObject, more: dict[str, object]) -> EntryMessage:
    """Return what an extension told the model, which reads it as the user's words."""
    more |= {key: fields[key] for key in ("customType", "display") if key in fields}
    return EntryMessage(Message(Role.USER, tuple(read_blocks(fields.get("content")))), more=more)


def usage_of(fields: JsonObject) -> Usage | None:
    """Return what an answer cost, or a summary, or a tool that asked a model."""
    if "usage" not in fields:
        return None
    found = mapping(fields.get("usage"))
    names = ("input", "output", "cacheRead", "cacheWrite")
    return usage_in(found, names, mapping(found.get("cost")).get("total"))


def _parts(content: object, api: str) -> Iterator[Part]:
    if not sequence(content):
        yield from read_blocks(content)
    for block in mappings(content):
        match block.get("type"):
            case "thinking":
                text, seal = string(block.get("thinking")), string(block.get("thinkingSignature"))
                item = object_in(seal) if seal.startswith("{") else None
                if block.get("redacted") is True and seal:
                    yield Thinking("", seal, {"anthropic": {"type": "redacted_thinking"}})
                elif item is not None and item.get("type") == "reasoning":
                    yield Thinking(
                        text, string(item.get("encrypted_content")) or None, {"responses": item}
                    )
                elif api == "anthropic-messages" and (text or seal):
                    yield thought(text, seal)
                elif api.startswith("google") and seal:
                    part = {"text": text, "thought": True, "thoughtSignature": seal}
                    yield Thinking(text, seal, {"gemini": part})
                elif seal in _FIELDS:
                    yield Thinking(text, extras={"openai": {"field": seal}})
                elif text or seal:
                    yield Thinking(text, extras=_own(block, "thinkingSignature"))
            case "toolCall":
                call_id, name = string(block.get("id")), string(block.get("name"))
                arguments = as_json(block.get("arguments"))
                yield ToolCall(call_id, name, arguments, _own(block, "thoughtSignature"))
            case _:
                yield from read_blocks([block])


def read_blocks(content: object) -> Iterator[Text | Media]:
    """Read words and pictures; a text keeps the signature that a provider gave it."""
    if isinstance(content, str):
        yield Text(content)
    for block in sequence(content):
        fields = mapping(block)
        if fields.get("type") == "text" and isinstance(text := fields.get("text"), str):
            yield Text(text, _own(fields, "textSignature"))
        else:
            yield from contents([block])


def _own(block: JsonObject, name: str) -> JsonObject:
    found = string(block.get(name))
    return {ORIGIN: {name: found}} if found else NO_EXTRAS


def _result(message: JsonObject) -> ToolResult:
    return ToolResult(
        string(message.get("toolCallId")),
        tuple(read_blocks(message.get("content"))),
        is_error=message.get("isError") is True,
        name=string(message.get("toolName")),
    )


def ran_note(more: JsonObject) -> str:
    """Return how a command ended, where that needs a word."""
    if more.get("cancelled") is True:
        return "(it was cancelled)"
    code = more.get("exitCode")
    return f"(exit code {code})" if isinstance(code, int) and code != 0 else ""
