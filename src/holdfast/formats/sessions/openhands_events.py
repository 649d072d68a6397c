"""Reads the event log of the OpenHands SDK, where every event names its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.document import Format
from holdfast.formats.loose import as_json, mapping, mappings, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, contents, summarized, thought
from holdfast.transcript import Message, Role, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["OPENHANDS_EVENTS"]

_SIGNS = frozenset(
    [
        "ActionEvent",
        "AgentErrorEvent",
        "Condensation",
        "ConversationStateUpdateEvent",
        "MessageEvent",
        "ObservationEvent",
        "SystemPromptEvent",
    ]
)
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def _recognize(records: Sequence[Record]) -> str:
    for record in records:
        entry = mapping(record.value)
        if string(entry.get("kind")) in _SIGNS and "source" in entry:
            return f"an event of kind {entry['kind']}"
    return ""


def _read(records: Sequence[Record]) -> Reading:
    said: list[Said] = []
    answers: dict[str, int] = {}
    for record in records:
        event = mapping(record.value)
        message = _message(event)
        if message is None:
            continue
        response = string(event.get("llm_response_id")) if message.calls else ""
        if response in answers:
            # Parallel calls are events of their own and share the model's answer.
            place = answers[response]
            first = said[place].message
            merged = Message(Role.ASSISTANT, (*first.parts, *message.calls))
            said[place] = Said(said[place].line, merged)
            continue
        if response:
            answers[response] = len(said)
        said.append(Said(record.line, message))
    return arrange(said)


def _message(event: Mapping[str, object]) -> Message | None:
    match event.get("kind"):
        case "SystemPromptEvent":
            prompt = event.get("system_prompt")
            return Message(Role.SYSTEM, contents([prompt]))
        case "MessageEvent":
            told = mapping(event.get("llm_message"))
            role = _ROLES.get(string(told.get("role")), Role.USER)
            return Message(role, (*_thoughts(told), *contents(told.get("content"))))
        case "ActionEvent":
            return Message(Role.ASSISTANT, tuple(_action(event)))
        case "Condensation" | "CondensationSummaryEvent" if event.get("summary"):
            return summarized(string(event.get("summary")), "openhands")
        case _:
            return _answer(event)


def _action(event: Mapping[str, object]) -> Iterator[Part]:
    yield from _thoughts(event)
    yield from contents(event.get("thought"))
    call = mapping(event.get("tool_call"))
    arguments = string(call.get("arguments")) or as_json(_plain(event.get("action")))
    yield ToolCall(string(event.get("tool_call_id")), string(event.get("tool_name")), arguments)


def _thoughts(event: Mapping[str, object]) -> Iterator[Thinking]:
    blocks = mappings(event.get("thinking_blocks"))
    for block in blocks:
        yield thought(string(block.get("thinking")), string(block.get("signature")))
    text = string(event.get("reasoning_content"))
    if text and not blocks:
        yield Thinking(text)


def _answer(event: Mapping[str, object]) -> Message | None:
    observation = mapping(event.get("observation"))
    match event.get("kind"):
        case "ObservationEvent":
            told, failed = observation.get("content"), observation.get("is_error") is True
        case "AgentErrorEvent":
            told, failed = event.get("error"), True
        case "UserRejectObservation":
            told, failed = event.get("rejection_reason"), True
        case _:
            return None
    call_id, name = string(event.get("tool_call_id")), string(event.get("tool_name"))
    result = ToolResult(call_id, contents(told), is_error=failed, name=name)
    return Message(Role.TOOL, (result,))


def _plain(action: object) -> dict[str, object]:
    return {key: value for key, value in mapping(action).items() if key != "kind"}


OPENHANDS_EVENTS = SessionReader(
    Format("openhands-events", "OpenHands SDK event log, JSONL", "openai", writable=False),
    _recognize,
    _read,
)
