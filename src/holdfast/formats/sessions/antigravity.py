"""Reads the transcripts of Antigravity's command line: one step of the agent a line.

Files show what the user asked (the request inside tags, what the harness added after it), what the
model planned, thought and called, and steps with what came of them. Calls have no id, and a step
does not say which call it answers, so the oldest call that waits is meant. A step that no call
asked for is a call and its result in one. A checkpoint is the agent's summary of what went before;
what stays beside it is not shown, so nothing is said to. That a failed step has the status `ERROR`
is not shown by a file either. Long fields are cut by the agent itself, which says so.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Noted, Told
from holdfast.formats.document import Format
from holdfast.formats.loose import as_json, mapping, mappings, sequence, string
from holdfast.formats.moments import moment
from holdfast.formats.sessions.keys import Keys
from holdfast.formats.sessions.reader import SessionReader, Sign, summarized
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["ANTIGRAVITY"]

_REQUEST = re.compile(r"\A\s*<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>\s*", re.DOTALL)
_MODEL = re.compile(r"`Model Selection` from .{1,200}? to (.{1,200}?)\.?\s*(?:\n|</|\Z)")
_SILENT = frozenset(["CONVERSATION_HISTORY"])


def _recognize(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        if "step_index" in entry and "source" in entry and isinstance(entry.get("type"), str):
            return Sign(f"a step of type {entry['type']}")
    return None


def _read(records: Iterable[Record]) -> Iterator[Event]:
    desk = _Desk()
    for record in records:
        if desk.is_new:
            started = moment(mapping(record.value).get("created_at"))
            about = About(id=_id_in(record.file), started=started)
            yield Begun(strand=MAIN, line=record.line, about=about)
        yield from desk.take(record)


def _id_in(file: str) -> str:
    """Return the folder of a conversation from the path of its transcript, where it is known."""
    match file.replace("\\", "/").split("/"):
        case [*_, own, ".system_generated", "logs", _]:
            return own
        case _:
            return ""


class _Desk:
    """Reads one step after the other, and knows which calls wait for a result."""

    def __init__(self) -> None:
        self.is_new = True
        self._keys = Keys()
        self._waiting: deque[ToolCall] = deque()
        self._model = ""

    def take(self, record: Record) -> Iterator[Event]:
        """Tell what one step says."""
        self.is_new = False
        step = mapping(record.value)
        kind, content = string(step.get("type")), string(step.get("content"))
        match kind:
            case "USER_INPUT":
                yield from self._asked(record, content)
            case "PLANNER_RESPONSE":
                yield from self._told(record, Role.ASSISTANT, self._planned(record.line, step))
            case "CHECKPOINT":
                yield from self._folded(record, content)
            case _ if not content or kind in _SILENT:
                return
            case _ if step.get("source") == "SYSTEM":
                yield from self._told(record, Role.USER, [Text(content)])
            case _:
                yield from self._done(record, kind, content)

    def _asked(self, record: Record, content: str) -> Iterator[Event]:
        # A call that got no result until the user speaks again never gets one.
        self._waiting.clear()
        if chosen := _MODEL.search(content):
            self._model = chosen[1]
            yield Noted(strand=MAIN, about=About(model=self._model))
        found = _REQUEST.match(content)
        texts = [content] if found is None else [found[1], content[found.end() :]]
        yield from self._told(record, Role.USER, [Text(text) for text in texts if text.strip()])

    def _planned(self, line: int, step: Mapping[str, object]) -> Sequence[Part]:
        parts: list[Part] = []
        if thoughts := string(step.get("thinking")):
            parts.append(Thinking(thoughts))
        if content := string(step.get("content")):
            parts.append(Text(content))
        calls = [
            ToolCall(f"#{line}.{place}", string(call.get("name")), as_json(call.get("args")))
            for place, call in enumerate(mappings(step.get("tool_calls")))
        ]
        self._waiting += calls
        return [*parts, *calls]

    def _done(self, record: Record, kind: str, content: str) -> Iterator[Event]:
        if self._waiting:
            call = self._waiting.popleft()
        else:
            call = ToolCall(f"#{record.line}", kind.lower())
            yield from self._told(record, Role.ASSISTANT, [call])
        failed = mapping(record.value).get("status") == "ERROR"
        result = ToolResult(call.id, (Text(content),), is_error=failed, name=call.name)
        yield from self._told(record, Role.TOOL, [result])

    def _folded(self, record: Record, content: str) -> Iterator[Event]:
        if not content:
            return
        self._waiting.clear()
        native = self._native(record, Role.USER)
        key = self._keys.take("", record.line)
        message = summarized(content, "antigravity")
        yield Told(strand=MAIN, line=record.line, key=key, message=message, native=native)
        fold = f"{key}/fold"
        yield Folded(strand=MAIN, line=record.line, id=fold, shows=(key,), at=native.at)

    def _told(self, record: Record, role: Role, parts: Sequence[Part]) -> Iterator[Told]:
        if parts:
            yield Told(
                strand=MAIN,
                line=record.line,
                key=self._keys.take("", record.line),
                message=Message(role, tuple(parts)),
                native=self._native(record, role),
            )

    def _native(self, record: Record, role: Role) -> Native:
        step = mapping(record.value)
        index = step.get("step_index")
        cut = [string(name) for name in sequence(step.get("truncated_fields"))]
        return Native(
            id=str(index) if isinstance(index, int) else "",
            model=self._model if role is Role.ASSISTANT else "",
            at=moment(step.get("created_at")),
            more={"truncated_fields": cut} if cut else {},
        )


ANTIGRAVITY = SessionReader(
    format=Format("antigravity", "Antigravity CLI transcript, JSONL", "gemini", writable=False),
    recognize=_recognize,
    read=_read,
)
