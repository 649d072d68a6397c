"""Reads what `codex exec --json` prints: one event a line, about the items of a conversation.

An item is told once, however often it is printed. The newer events do not hold the prompt and no
event has a time. What a turn cost is printed as the total of the thread so far; where it is less
than before, the count began anew. Errors are shown to the user alone: they are reported, and no
part of the conversation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.codex.exec_steps import (
    EVENTS,
    MessageStep,
    PendingItem,
    PlanUpdated,
    ScreenError,
    ToolFinished,
    ToolStarted,
    event_steps,
    item_steps,
    spoken_by_model,
)
from holdfast.formats.codex.items import AnswerTracker, spent_in
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    MetadataUpdated,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    JsonObject,
    is_object,
    mapping,
    mappings,
    milliseconds,
    string,
)
from holdfast.formats.reader import LIKELY, KeyAllocator, Sign
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.codex.exec_steps import ExecStep
    from holdfast.formats.events import Event

_STARTS = {"thread.started": "thread_id", "session.created": "session_id"}
"""The first event, with where it names the conversation; the second is of the first releases."""
_PHASES = {"item.started": "started", "item.updated": "updated", "item.completed": "completed"}
_TURNS = frozenset(["turn.started", "turn.completed", "turn.failed"])
_OTHERS = frozenset(["error", "item.plan.delta"])
_SETTINGS = frozenset(["workdir", "provider", "model"])
_PLAN = "update_plan"
_PLANNED = "Plan updated"
"""What Codex answers to a plan, which is not printed."""


def is_printed(value: object) -> bool:
    """Say whether a line is an event of such a stream rather than a line of a rollout."""
    if not is_object(value) or "payload" in value:
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        return kind in _STARTS or kind in _PHASES or kind in _TURNS or kind in _OTHERS
    is_prompt = len(value) == 1 and isinstance(value.get("prompt"), str)
    return is_prompt or is_object(value.get("msg")) or value.keys() >= _SETTINGS


def sign_of(entry: JsonObject) -> Sign | None:
    """Return why a line is taken for an event of such a stream."""
    kind = string(entry.get("type"))
    if kind in _STARTS and isinstance(entry.get(_STARTS[kind]), str):
        return Sign(f"an event of type {kind}")
    item = mapping(entry.get("item"))
    if kind in _PHASES and (string(item.get("type")) or string(item.get("item_type"))):
        return Sign(f"an event of type {kind} with an item", LIKELY)
    inner = string(mapping(entry.get("msg")).get("type"))
    if not kind and inner in EVENTS and isinstance(entry.get("id"), str):
        return Sign(f"an event of type {inner} in an envelope", LIKELY)
    return None


class _Run:
    """The state of one run of the program; the next run counts its items from the start."""

    def __init__(self, model: str = "") -> None:
        self.model = model
        self.open: dict[str, ToolCall] = {}
        """The calls that wait for their result, by the ids of their items."""
        self.expected: dict[str, str] = {}
        """What began and was not told yet, by the ids of the items."""
        self.plan = ""
        self.last = ""
        """What was said last, in words or as an error, since both may be repeated."""


class ExecReader:
    """Reads a stream event by event."""

    def __init__(self) -> None:
        """Start with no thread."""
        self._keys = KeyAllocator()
        self._replies = AnswerTracker()
        self._run = _Run()
        self._main: str | None = None
        """The thread that the file begins with, empty where it is not named."""
        self._strand = MAIN
        self._spent: dict[str, Usage] = {}
        """What the threads that were told of cost so far."""
        self._record = SourceRecord(0, None)

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one event."""
        self._record = record
        entry = mapping(record.value)
        kind = string(entry.get("type"))
        if kind in _STARTS:
            started = milliseconds(entry.get("timestamp"))
            about = About(id=string(entry.get(_STARTS[kind])), started=started)
            yield from self._start(record.line, about)
        elif kind in _PHASES:
            for step in item_steps(_PHASES[kind], mapping(entry.get("item"))):
                yield from self._step(record, step)
        elif kind:
            self._replies.close()
            if kind == "turn.completed":
                yield from self.end()
                yield from self._cost(spent_in(mapping(entry.get("usage")), {}))
            elif kind in ("error", "turn.failed"):
                failure = mapping(entry.get("error")) if kind == "turn.failed" else entry
                yield from self._step(record, ScreenError(string(failure.get("message"))))
        elif "msg" in entry:
            yield from self._event(record, mapping(entry.get("msg")))
        elif "prompt" in entry:
            yield from self._said(record, Message(Role.USER, (Text(string(entry["prompt"])),)))
        else:
            self._run.model = string(entry.get("model"))
            about = About(model=self._run.model, cwd=string(entry.get("workdir")))
            yield from self._start(record.line, about)

    def end(self) -> Iterator[Event]:
        """Report what began and never ended."""
        for id, kind in self._run.expected.items():  # noqa: A001
            reason = f"the {kind} {id!r} has no end and is left out"
            yield Problem(self._record.line, reason, self._record.file)
        self._run.expected.clear()

    def _start(self, line: int, about: About) -> Iterator[Event]:
        """Begin a thread, or go on with one that was begun."""
        yield from self.end()
        self._run = _Run(self._run.model)
        self._replies.close()
        if self._main is None:
            yield from self._begin(line, about)
        elif not self._main or not about.id:
            self._main = self._main or about.id
            yield MetadataUpdated(strand=self._strand, about=about)
        else:
            self._strand = MAIN if about.id == self._main else about.id
            if self._strand not in self._spent:
                self._spent[self._strand] = Usage()
                yield StrandStarted(strand=self._strand, line=line, about=about)

    def _begin(self, line: int, about: About) -> Iterator[Event]:
        if self._main is None:
            self._main, self._spent[MAIN] = about.id, Usage()
            yield StrandStarted(strand=MAIN, line=line, about=about)

    def _cost(self, total: Usage) -> Iterator[Event]:
        if total.prompt_tokens or total.output_tokens:
            yield from self._begin(self._record.line, About())
            before = self._spent[self._strand]
            grows = (
                total.prompt_tokens >= before.prompt_tokens
                and total.cache_read_tokens >= before.cache_read_tokens
                and total.output_tokens >= before.output_tokens
            )
            spent = replace(total, calls=before.calls + 1) if grows else before + total
            self._spent[self._strand] = spent
            yield MetadataUpdated(strand=self._strand, about=About(usage=spent))

    def _event(self, record: SourceRecord, event: JsonObject) -> Iterator[Event]:
        """Yield an event of the older kind."""
        match event.get("type"):
            case "session_configured":
                self._run.model = string(event.get("model"))
                about = About(id=string(event.get("session_id")), model=self._run.model)
                is_first = self._main is None
                yield from self._start(record.line, about)
                for earlier in mappings(event.get("initial_messages")) if is_first else ():
                    yield from self._event(record, earlier)
            case "token_count":
                counts = mapping(mapping(event.get("info")).get("total_token_usage"))
                if counts:
                    yield from self._cost(spent_in(counts, {}))
                elif "input_tokens" in event:
                    before = self._spent.get(self._strand, Usage())
                    yield from self._cost(before + spent_in(event, {}))
            case "task_complete":
                # The last words again, or, where their event was lost, for the first time.
                words = spoken_by_model(event.get("last_agent_message")).message
                if words.text != self._run.last:
                    yield from self._said(record, words)
            case _:
                for step in event_steps(event):
                    yield from self._step(record, step)

    def _step(self, record: SourceRecord, step: ExecStep) -> Iterator[Event]:
        match step:
            case MessageStep(message):
                yield from self._said(record, message)
            case ToolStarted():
                # What has no id is told when it is done, because nothing would join the two.
                if step.id and step.id not in self._run.open:
                    key = self._keys.take(step.id, record.line)
                    call = ToolCall(key, step.name, step.arguments)
                    self._run.open[step.id] = call
                    yield from self._tell(record, Message(Role.ASSISTANT, (call,)), step.id, key)
            case ToolFinished():
                yield from self._answered(record, step)
            case PendingItem(id, kind) if id:
                self._run.expected[id] = kind
            case PlanUpdated(arguments) if arguments != self._run.plan:
                self._run.plan = arguments
                asked = ToolStarted("", _PLAN, arguments)
                yield from self._answered(
                    record, ToolFinished(asked, (Text(_PLANNED),), failed=False)
                )
            case ScreenError(reason) if reason and reason != self._run.last:
                self._run.last = reason
                yield Problem(record.line, reason, record.file)
            case _:
                return

    def _said(self, record: SourceRecord, message: Message) -> Iterator[Event]:
        item = string(mapping(mapping(record.value).get("item")).get("id"))
        self._run.expected.pop(item, None)
        # The prompt stands above the events, and some releases print it among them too.
        is_echo = message.role is Role.USER and message.text == self._run.last
        if message.parts and not is_echo:
            self._run.last = message.text or self._run.last
            yield from self._tell(record, message, item)

    def _answered(self, record: SourceRecord, answered: ToolFinished) -> Iterator[Event]:
        asked = answered.asked
        self._run.expected.pop(asked.id, None)
        call = self._run.open.pop(asked.id, None) if asked.id else None
        if call is None:
            key = self._keys.take(asked.id, record.line)
            call = ToolCall(key, asked.name, asked.arguments)
            yield from self._tell(record, Message(Role.ASSISTANT, (call,)), asked.id, key)
        result = ToolResult(call.id, answered.content, is_error=answered.failed, name=call.name)
        yield from self._tell(record, Message(Role.TOOL, (result,)))

    def _tell(
        self,
        record: SourceRecord,
        message: Message,
        id: str = "",  # noqa: A002
        key: str = "",
    ) -> Iterator[Event]:
        yield from self._begin(record.line, About())
        reply = self._replies.take(message)
        native = SourceMetadata(
            id=id,
            reply=reply,
            model=self._run.model if reply else "",
            at=milliseconds(mapping(record.value).get("timestamp")),
        )
        key = key or self._keys.take(id, record.line)
        yield MessageEvent(
            strand=self._strand, line=record.line, key=key, message=message, native=native
        )
