"""Reads what `droid exec` prints as a stream of events, one a line.

The last words of a turn come once as a message and once more in `completion`, or only there; they
are told once. What the turn cost stands there too, and adds up to what is noted of the session. A
line of type `error` is a notice to the screen and no model ever saw it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Native, Noted, Told
from holdfast.formats.document import Problem
from holdfast.formats.figures import count, usage_in
from holdfast.formats.keys import Keys
from holdfast.formats.loose import as_json, is_object, mapping, string
from holdfast.formats.moments import moment
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["StreamDesk", "is_stream_line", "session_of"]

_USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_SIGNS = {"message": "text", "tool_call": "toolName", "completion": "finalText"}
"""The lines that nobody else writes, each with the field that makes sure."""
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def is_stream_line(entry: Mapping[str, object]) -> bool:
    """Say whether a line stands in such a stream and nowhere else."""
    sign = _SIGNS.get(string(entry.get("type")))
    return sign is not None and isinstance(entry.get(sign), str) and bool(session_of(entry))


def session_of(entry: Mapping[str, object]) -> str:
    """Return the session that a line of a stream names."""
    return string(entry.get("session_id")) or string(entry.get("sessionId"))


class StreamDesk:
    """Reads a stream line by line."""

    def __init__(self) -> None:
        """Know nothing of the session yet."""
        self.has_begun = False
        self._keys = Keys()
        self._model = ""
        self._words = ""
        """What the model said last since the user spoke."""
        self._spent = Usage()

    def take(self, record: Record) -> Iterator[Event]:
        """Tell what one line says."""
        entry = mapping(record.value)
        yield from self._begin(record.line, entry)
        match entry.get("type"):
            case "message":
                yield from self._message(record, entry)
            case "tool_call":
                yield self._told(record, Message(Role.ASSISTANT, (_call(entry),)))
            case "tool_result":
                yield self._told(record, Message(Role.TOOL, (_result(entry),)))
            case "completion":
                yield from self._complete(record, entry)
            case "system" | "error":
                return
            case kind if string(entry.get("text")):
                yield Problem(record.line, f"a line of type {kind!r} is not known", record.file)
            case _:
                return

    def _begin(self, line: int, entry: Mapping[str, object]) -> Iterator[Begun]:
        if self.has_begun:
            return
        self.has_begun = True
        self._model = string(entry.get("model"))
        about = About(
            id=session_of(entry),
            model=self._model,
            cwd=string(entry.get("cwd")),
            started=moment(entry.get("timestamp")),
        )
        yield Begun(strand=MAIN, line=line, about=about)

    def _message(self, record: Record, entry: Mapping[str, object]) -> Iterator[Event]:
        role, text = _ROLES.get(string(entry.get("role"))), string(entry.get("text"))
        if role is None:
            reason = f"a message of the role {entry.get('role')!r} is not known"
            yield Problem(record.line, reason, record.file)
        elif text:
            self._words = text if role is Role.ASSISTANT else ""
            yield self._told(record, Message(role, (Text(text),)))

    def _complete(self, record: Record, entry: Mapping[str, object]) -> Iterator[Event]:
        text = string(entry.get("finalText"))
        if text not in {"", self._words}:
            yield self._told(record, Message(Role.ASSISTANT, (Text(text),)))
        if (usage := usage_in(mapping(entry.get("usage")), _USAGE)) is not None:
            self._spent += usage
            yield Noted(strand=MAIN, about=About(usage=self._spent))

    def _told(self, record: Record, message: Message) -> Told:
        entry = mapping(record.value)
        own = string(entry.get("id"))
        is_answer = message.role is Role.ASSISTANT
        return Told(
            strand=MAIN,
            line=record.line,
            key=self._keys.take(own, record.line),
            message=message,
            native=Native(
                id=own,
                model=self._model if is_answer else "",
                at=moment(entry.get("timestamp")),
            ),
        )


def _call(entry: Mapping[str, object]) -> ToolCall:
    name = string(entry.get("toolName")) or string(entry.get("toolId"))
    return ToolCall(_call_id(entry), name, as_json(entry.get("parameters")))


def _result(entry: Mapping[str, object]) -> ToolResult:
    value = entry.get("value")
    failed = entry.get("isError") is True or count(mapping(value).get("exitCode")) > 0
    name = string(entry.get("toolName")) or string(entry.get("toolId"))
    return ToolResult(_call_id(entry), (Text(_output(value)),), is_error=failed, name=name)


def _call_id(entry: Mapping[str, object]) -> str:
    return string(entry.get("toolCallId")) or string(entry.get("id"))


def _output(value: object) -> str:
    """Return what a tool printed; anything else that it returned as JSON."""
    if is_object(value) and "stdout" in value:
        printed = (string(value.get(name)) for name in ("stdout", "stderr"))
        return "\n".join(text for text in printed if text)
    return "" if value is None else as_json(value)
