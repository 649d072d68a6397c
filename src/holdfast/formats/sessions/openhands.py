"""Reads OpenHands outputs: the events of one task a line, as actions and observations.

Newer files name the call that an event belongs to; older ones name the action that caused an
observation; the oldest pair them by order alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.document import Format
from holdfast.formats.loose import as_json, is_array, mapping, mappings, sequence, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, contents, summarized
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["OPENHANDS"]

_QUIET = frozenset(["recall", "condensation_request", "change_agent_state", "null"])
_ABOUT = frozenset(
    ["id", "timestamp", "source", "message", "action", "thought", "cause", "llm_metrics"]
)


def _recognize(records: Sequence[Record]) -> str:
    for record in records:
        past = _events(mapping(record.value))
        if past and all("action" in each or "observation" in each for each in past):
            return "an object with a `history` of actions and observations"
    return ""


def _read(records: Sequence[Record]) -> Reading:
    desk = _Desk()
    for record in records:
        for event in _events(mapping(record.value)):
            desk.take(event, record.line)
    return arrange(desk.said)


def _events(entry: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the events of a task; the oldest files hold pairs of an action and its result."""
    found: list[Mapping[str, object]] = []
    for each in sequence(entry.get("history")):
        found.extend(mappings(each) if is_array(each) else [mapping(each)])
    return [event for event in found if event]


class _Desk:
    """Turns events into messages, one assistant message for each answer of the model."""

    def __init__(self) -> None:
        self.said: list[Said] = []
        self._calls: dict[int, str] = {}
        """The call that each event's action became."""
        self._unanswered: list[str] = []
        self._answers: dict[str, int] = {}
        """Where the message of each answer of the model stands."""
        self._number = 0

    def take(self, event: Mapping[str, object], line: int) -> None:
        """Add one event."""
        self._number += 1
        if "observation" in event:
            self._observe(event, line)
        elif string(event.get("action")) not in _QUIET:
            self._act(event, line)

    def _act(self, event: Mapping[str, object], line: int) -> None:
        arguments = _arguments(event)
        match event.get("action"):
            case "system":
                self._say(line, Role.SYSTEM, contents(arguments.get("content")))
            case "message":
                speaker = Role.USER if self._is_users(event) else Role.ASSISTANT
                self._say(line, speaker, contents(arguments.get("content")))
            case "condensation":
                if summary := string(arguments.get("summary")):
                    self.said.append(Said(line, summarized(summary, "openhands")))
            case _:
                self._call(event, arguments, line)

    def _is_users(self, event: Mapping[str, object]) -> bool:
        source = event.get("source")
        return source == "user" or (source is None and not self.said)

    def _say(self, line: int, role: Role, parts: Sequence[Part]) -> None:
        self.said.append(Said(line, Message(role, tuple(parts))))

    def _call(
        self, event: Mapping[str, object], arguments: Mapping[str, object], line: int
    ) -> None:
        about = mapping(event.get("tool_call_metadata"))
        response = mapping(about.get("model_response"))
        answer = mapping(
            mapping(next(iter(mappings(response.get("choices"))), None)).get("message")
        )
        call_id = string(about.get("tool_call_id")) or f"event-{event.get('id', self._number)}"
        name = string(about.get("function_name")) or string(event.get("action"))
        call = ToolCall(call_id, name, _written(answer, call_id) or as_json(dict(arguments)))
        thought = string(event.get("thought")) or string(mapping(event.get("args")).get("thought"))
        number = event.get("id")
        if isinstance(number, int):
            self._calls[number] = call_id
        self._unanswered.append(call_id)
        response_id = string(response.get("id"))
        if response_id in self._answers:
            # Parallel calls run one after the other, each with its own action.
            place = self._answers[response_id]
            first = self.said[place]
            parts = (*first.message.parts, call)
            self.said[place] = Said(first.line, Message(Role.ASSISTANT, parts))
            return
        if response_id:
            self._answers[response_id] = len(self.said)
        told = string(answer.get("content")) or thought
        self._say(line, Role.ASSISTANT, (Text(told), call))

    def _observe(self, event: Mapping[str, object], line: int) -> None:
        if string(event.get("observation")) in _QUIET:
            return
        about = mapping(event.get("tool_call_metadata"))
        call_id, cause = string(about.get("tool_call_id")), event.get("cause")
        if not call_id and isinstance(cause, int):
            call_id = self._calls.get(cause, "")
        if not call_id and "cause" not in event and self._unanswered:
            call_id = self._unanswered[-1]
        if not call_id:
            return
        failed = event.get("observation") == "error"
        result = ToolResult(call_id, contents(event.get("content")), is_error=failed)
        self.said.append(Said(line, Message(Role.TOOL, (result,))))
        self._unanswered = [each for each in self._unanswered if each != call_id]


def _arguments(event: Mapping[str, object]) -> Mapping[str, object]:
    """Return what an action was called with; the oldest files keep it beside the action's name."""
    nested = event.get("args")
    given = mapping(nested) if nested is not None else event
    return {key: value for key, value in given.items() if key not in _ABOUT}


def _written(answer: Mapping[str, object], call_id: str) -> str:
    for call in mappings(answer.get("tool_calls")):
        if call.get("id") == call_id:
            return string(mapping(call.get("function")).get("arguments"))
    return ""


OPENHANDS = SessionReader(
    Format("openhands", "OpenHands task output, JSONL", "openai", writable=False),
    _recognize,
    _read,
    apart=True,
)
