"""What Kimi CLI showed on its screen, and kept in a `wire.jsonl` with the time of each event.

The conversation itself is in `context.jsonl` beside it, so this is told only where that is missing;
what the steps cost is written nowhere else. What a sub-agent did comes wrapped in an event of its
own. A compaction is only said to have happened, not what it left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.events import MAIN, About, MessageEvent, SourceMetadata, StrandStarted
from holdfast.formats.json_access import JsonObject, is_object, mapping, moment, string, usage_in
from holdfast.formats.kimi.journal import call_made, content_of, shown_of
from holdfast.formats.reader import KeyAllocator
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord

__all__ = ["ScreenReader", "is_shown"]

_USAGE = ("input_other", "output", "input_cache_read", "input_cache_creation")


def is_shown(entry: JsonObject) -> bool:
    """Say whether a line tells of something on the screen."""
    if "timestamp" not in entry:
        return False
    event = mapping(entry.get("message"))
    return isinstance(event.get("type"), str) and is_object(event.get("payload"))


class ScreenReader:
    """Reads one such file line by line."""

    def __init__(self) -> None:
        """Have seen nothing."""
        self.usage: Usage | None = None
        """What the steps of its own agent cost so far."""
        self._keys = KeyAllocator()
        self._lanes: dict[str, _Lane] = {}

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Tell what one line says."""
        event = mapping(mapping(record.value).get("message"))
        yield from self._event(record, event, MAIN)

    def close(self) -> Iterator[Event]:
        """Tell a call of which more might have come."""
        for lane in self._lanes.values():
            yield from lane.flush()

    def _event(self, record: SourceRecord, event: JsonObject, lane: str) -> Iterator[Event]:
        payload = mapping(event.get("payload"))
        kind = string(event.get("type"))
        if kind == "StatusUpdate" and lane == MAIN:
            spent = usage_in(mapping(payload.get("token_usage")), _USAGE)
            self.usage = spent if self.usage is None else self.usage + (spent or Usage())
        if kind == "SubagentEvent":
            inner = mapping(payload.get("event"))
            names = ("agent_id", "parent_tool_call_id", "task_tool_call_id")
            child = next((name for key in names if (name := string(payload.get(key)))), "")
            yield from self._event(record, inner, f"{lane}/{child}" if child else lane)
            return
        if lane not in self._lanes:
            self._lanes[lane] = _Lane(lane, self._keys)
        of = MAIN if lane and MAIN in self._lanes and self._lanes[MAIN].has_begun else None
        yield from self._lanes[lane].take(record, kind, payload, of)


class _Lane:
    """The events of one agent."""

    def __init__(self, name: str, keys: KeyAllocator) -> None:
        self.has_begun = False
        self._name = name
        self._keys = keys
        self._reply = ""
        self._call: tuple[SourceRecord, ToolCall] | None = None
        """A call whose arguments may still go on."""

    def take(
        self, record: SourceRecord, kind: str, payload: JsonObject, of: str | None
    ) -> Iterator[Event]:
        """Tell an event, and the session before the first that says something."""
        if kind == "ToolCallPart" and self._call is not None:
            made, call = self._call
            more = call.arguments + string(payload.get("arguments_part"))
            self._call = (made, ToolCall(call.id, call.name, more))
            return
        yield from self.flush()
        if kind == "StepBegin":
            self._reply = f"{self._name}step{record.line}"
            return
        message = _message(kind, payload)
        if message is None or not message.parts:
            return
        if not self.has_begun:
            self.has_begun = True
            started = moment(mapping(record.value).get("timestamp"))
            fork = Fork.DELEGATION if of is not None else None
            about = About(started=started)
            yield StrandStarted(strand=self._name, line=record.line, about=about, of=of, fork=fork)
        if kind == "ToolCall":
            self._call = (record, message.calls[0])
        else:
            yield self._told(record, message)

    def flush(self) -> Iterator[Event]:
        """Tell the call that was waiting."""
        if self._call is not None:
            record, call = self._call
            self._call = None
            yield self._told(record, Message(Role.ASSISTANT, (call,)))

    def _told(self, record: SourceRecord, message: Message) -> MessageEvent:
        native = SourceMetadata(
            reply=self._reply if message.role is Role.ASSISTANT else "",
            at=moment(mapping(record.value).get("timestamp")),
        )
        key = self._keys.take("", record.line)
        return MessageEvent(
            strand=self._name, line=record.line, key=key, message=message, native=native
        )


def _message(kind: str, payload: JsonObject) -> Message | None:
    match kind:
        case "TurnBegin" | "SteerInput":
            return Message(Role.USER, shown_of(payload.get("user_input")))
        case "ContentPart" | "TextPart" | "ThinkPart":
            return Message(Role.ASSISTANT, tuple(content_of([payload])))
        case "ToolCall":
            return Message(Role.ASSISTANT, (call_made(payload),))
        case "ToolResult":
            value = mapping(payload.get("return_value")) or mapping(payload.get("result"))
            note = string(value.get("message"))
            said = shown_of(value.get("output"))
            failed = value.get("is_error") is True
            content = (*said, *([Text(note)] if note else []))
            result = ToolResult(string(payload.get("tool_call_id")), content, is_error=failed)
            return Message(Role.TOOL, (result,))
        case _:
            return None
