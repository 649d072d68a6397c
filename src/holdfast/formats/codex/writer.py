"""Writes rollouts that Codex can resume, and checks what every rollout satisfies.

Read as a list: the first line names the session; every line has a time and a payload of its kind;
items have the shape that Codex parses; a result follows its call, once; the screen repeats what
items say; turns open and close one after the other; a compaction holds whole items.

A file holds one conversation: its branches and sub-agents are files of their own in Codex and are
left out. What Codex has no word for stands beside the payload of a line under `holdfast`, where
Codex does not look: names of messages that Codex would take for its own, tools that failed,
answers in pieces, thoughts of other providers, what a compaction shows.

Not written: the items of another provider that say nothing readable, pictures in an answer, the
fields of texts that only another provider knows, times that were unknown (they are derived), the
model of an answer where it is unknown and another was named before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.formats.codex.items import CONVERSATION, message_of
from holdfast.formats.codex.rollout import ReaderEcho, RolloutWriter, TurnWriter
from holdfast.formats.content import words
from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.json_access import (
    JsonObject,
    is_array,
    mapping,
    mappings,
    milliseconds,
    string,
)
from holdfast.formats.reader import folds, with_lone_summaries
from holdfast.transcript import (
    NO_EXTRAS,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire import DIALECTS
from holdfast.wire.responses import is_content

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord
    from holdfast.transcript import Part

__all__ = ["RolloutItem", "violations", "write"]

_KINDS = frozenset(["compacted", "event_msg", "response_item", "session_meta", "turn_context"])
_META = ("id", "timestamp", "cwd", "originator", "cli_version")
_CONTEXT = ("cwd", "model", "approval_policy", "summary")
_TEXTS = {
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id",),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id",),
}
_OUTPUTS = frozenset(["custom_tool_call_output", "function_call_output"])
_CONTENT = {
    "assistant": frozenset(["output_text"]),
    "developer": frozenset(["input_text", "input_image"]),
    "system": frozenset(["input_text"]),
    "user": frozenset(["input_text", "input_image"]),
}
_UUID_LENGTH = 36
_NEAR = 4
"""How many items back the screen may repeat what one of them said."""


def violations(records: Iterable[SourceRecord]) -> Iterator[Problem]:
    """Return what in a rollout Codex would not have written so."""
    inspector = _Checker()
    for record in records:
        for reason in inspector.take(mapping(record.value)):
            yield Problem(record.line, reason, record.file)


class _Checker:
    """Looks at a file line by line."""

    def __init__(self) -> None:
        self._has_begun = False
        self._calls: dict[str, str] = {}
        """The calls that wait for a result, with the kind of item that answers them."""
        self._turn = ""
        self._said: list[str] = []
        """What the newest items said."""
        self._announced: list[str] = []
        """What the screen said that the next item of the model would say."""

    def take(self, entry: JsonObject) -> Iterator[str]:
        """Return what is wrong with a line."""
        kind, payload = string(entry.get("type")), mapping(entry.get("payload"))
        if milliseconds(entry.get("timestamp")) is None:
            yield "the line has no time"
        if kind not in _KINDS or not payload:
            yield f"a line of type {kind!r} without a payload of that kind"
        if not self._has_begun and kind != "session_meta":
            yield "the file does not begin with session_meta"
        self._has_begun = True
        match kind:
            case "session_meta":
                yield from _missing(payload, _META)
                if len(string(payload.get("id"))) != _UUID_LENGTH:
                    yield "the id of the session is no UUID"
            case "turn_context":
                yield from _missing(payload, _CONTEXT)
                if not mapping(payload.get("sandbox_policy")):
                    yield "a turn without a sandbox policy"
            case "response_item":
                yield from self._item(payload)
            case "compacted":
                yield from _missing(payload, ("message",), blank=True)
                items = payload.get("replacement_history")
                if items is None:
                    return
                if not is_array(items) or len(mappings(items)) != len(items):
                    yield "replacement_history is no list of items"
                for item in mappings(items):
                    yield from _shape(item)
            case _:
                yield from self._event(payload)

    def _item(self, item: JsonObject) -> Iterator[str]:
        yield from _shape(item)
        kind, call = string(item.get("type")), string(item.get("call_id"))
        if kind == "message":
            texts = [string(part.get("text")) for part in mappings(item.get("content"))]
            if self._announced and item.get("role") == "assistant":
                if self._announced != list(filter(None, texts)):
                    yield "the screen said something else than the item after it"
                self._announced = []
            self._said = [*self._said, "".join(texts)][-_NEAR:]
        elif kind in ("function_call", "custom_tool_call"):
            if call in self._calls:
                yield f"the call {call!r} is made twice"
            self._calls[call] = f"{kind}_output"
        elif kind in _OUTPUTS and self._calls.pop(call, "") != kind:
            yield f"no call waits for the result of {call!r}"

    def _event(self, event: JsonObject) -> Iterator[str]:
        match event.get("type"):
            case "task_started":
                if self._turn:
                    yield "a turn begins before the last one ended"
                self._turn = string(event.get("turn_id"))
            case "task_complete" | "turn_aborted":
                if event.get("turn_id") != self._turn:
                    yield "a turn ends that is not open"
                self._turn = ""
            case "user_message":
                if string(event.get("message")) not in self._said:
                    yield "the screen shows a prompt that no item holds"
            case "agent_message":
                self._announced.append(string(event.get("message")))
            case "token_count" if event.get("info") is not None:
                counts = mapping(event.get("info"))
                for name in ("total_token_usage", "last_token_usage"):
                    if "total_tokens" not in mapping(counts.get(name)):
                        yield f"the costs have no {name}"
            case _:
                return


def _missing(payload: JsonObject, names: Iterable[str], *, blank: bool = False) -> Iterator[str]:
    for name in names:
        value = payload.get(name)
        if not isinstance(value, str) or not (value or blank):
            yield f"{name} is missing"


def _shape(item: JsonObject) -> Iterator[str]:
    """Return what Codex could not parse in an item."""
    kind = string(item.get("type"))
    if kind not in CONVERSATION:
        yield f"{kind!r} is no kind of item"
    yield from _missing(item, _TEXTS.get(kind, ()), blank=True)
    if kind in _OUTPUTS and not isinstance(item.get("output"), str | list):
        yield "a result is neither text nor a list"
    elif kind == "message":
        allowed = _CONTENT.get(string(item.get("role")), frozenset())
        if not is_array(item.get("content")):
            yield "the content of a message is no list"
        for part in mappings(item.get("content")):
            if string(part.get("type")) not in allowed:
                yield f"{part.get('type')!r} in a message of {item.get('role')!r}"


_DIALECT = "responses"
_SPELLING = f"{_DIALECT}:message"


@dataclass(frozen=True, slots=True)
class RolloutItem:
    """One item, and what a reader makes of it."""

    item: JsonObject | None
    """None for a thought of another provider, which Codex would not send."""
    message: Message
    note: JsonObject = field(default_factory=dict[str, object])
    """What the item cannot say."""
    id: str = ""
    """The native id of the message that begins with it."""


def rollout_items(message: Message) -> Iterator[RolloutItem]:
    """Return the items of a message in order."""
    run: list[Part] = []
    carrier = replace(message, form="parts")
    for part in message.parts:
        if isinstance(part, Opaque):
            is_item = part.dialect == _DIALECT and not is_content(part.value.get("type"))
        else:
            is_item = isinstance(part, Thinking | ToolCall | ToolResult)
        if not is_item:
            run.append(part)
            continue
        if run:
            yield from _spoken(carrier, run)
            carrier, run = replace(carrier, extras=NO_EXTRAS), []
        role = message.role
        match part:
            case Thinking(extras=extras):
                own = mapping(extras.get(_DIALECT))
                if own:
                    yield RolloutItem(own, Message(Role.ASSISTANT, (part,)))
                else:
                    note: dict[str, object] = {"thought": part.signature, "extras": dict(extras)}
                    yield RolloutItem(None, Message(Role.ASSISTANT, (part,)), note)
            case Opaque(value=value):
                yield from _read(value)
            case ToolResult(is_error=is_error):
                for item in DIALECTS[_DIALECT].encode((Message(role, (part,)),)).messages:
                    for piece in _read(item):
                        (read,) = piece.message.results
                        note = {} if read.is_error == is_error else {"error": is_error}
                        yield replace(piece, message=Message(Role.TOOL, (part,)), note=note)
            case _:
                for item in DIALECTS[_DIALECT].encode((Message(role, (part,)),)).messages:
                    yield from _read(item)
    if run or not message.parts:
        yield from _spoken(carrier, run)


def _spoken(carrier: Message, parts: Sequence[Part]) -> Iterator[RolloutItem]:
    """Return words; those of the system are a developer's, where they were not told apart."""
    said = replace(carrier, parts=tuple(parts))
    is_system = carrier.role is Role.SYSTEM and _SPELLING not in carrier.extras
    written = replace(said, role=Role.USER) if is_system else said
    for item in DIALECTS[_DIALECT].encode((written,)).messages:
        # The API takes words without a type; in a rollout every item has one.
        typed = {"type": "message", **item}
        yield from _read({**typed, "role": "developer"} if is_system else typed)


def _read(item: JsonObject) -> Iterator[RolloutItem]:
    message = message_of(item)
    if message is not None:
        yield RolloutItem(item, message)


def write(events: Iterable[Event]) -> Iterator[str]:
    """Return the lines of a rollout."""
    writer = _Writer()
    strand: str | None = None
    for event in with_lone_summaries(events):
        match event:
            case StrandStarted(strand=name) if strand is None:
                strand = name
                writer.begin(event.about)
            case StrandStarted():
                continue
            case MetadataUpdated(about=about) if event.strand == strand:
                yield from writer.note(about)
            case MessageEvent() | CompactionEvent() | RewindEvent() if event.strand == strand:
                yield from writer.take(event)
            case _:
                continue
    yield from writer.end()


class _Writer:
    """Writes a conversation line by line."""

    def __init__(self) -> None:
        self._page = RolloutWriter()
        self._echo = ReaderEcho()
        self._turns = TurnWriter(self._page, self._echo)
        self._free_calls: set[str] = set()
        """The ids of calls that carry free text; their results are items of another kind."""
        self._summary: MessageEvent | None = None
        """A summary whose compaction may come next."""

    def begin(self, about: About) -> None:
        """Learn whose session it is."""
        self._page.about = about

    def note(self, about: About) -> Iterator[str]:
        """Write what became known of the session."""
        yield from self._head(None)
        yield from self._turns.note(about)

    def take(self, event: MessageEvent | CompactionEvent | RewindEvent) -> Iterator[str]:
        """Write one event."""
        if (
            isinstance(event, MessageEvent)
            and not self._page.count
            and _is_instructions(event.message)
        ):
            yield from self._head(event)
            return
        yield from self._head(None)
        held, self._summary = self._summary, None
        if held is not None and not folds(event, held):
            yield from self._told(held)
            held = None
        match event:
            case MessageEvent():
                if _summary_item(event.message) is None:
                    yield from self._told(event)
                else:
                    self._summary = event
            case CompactionEvent():
                note = {
                    "id": "" if event.id.startswith("#") else event.id,
                    "trigger": event.trigger,
                    "before": event.tokens_before,
                    "after": event.tokens_after,
                }
                yield from self._turns.pay()
                self._page.tick(event.at)
                known = {name: value for name, value in note.items() if value}
                yield self._compacted(event.shows, held, known)
                yield self._page.line("event_msg", {"type": "context_compacted"})
            case RewindEvent():
                yield from self._turns.end()
                self._page.tick(event.at)
                shown = tuple(key for told in event.shows for key, _ in self._echo.written(told))
                count = self._echo.turns_after(shown)
                if count:
                    payload = {"type": "thread_rolled_back", "num_turns": count}
                    yield self._page.line("event_msg", payload)
                    self._echo.show(shown)
                else:
                    yield self._compacted(event.shows, None, {"rewound": True})

    def end(self) -> Iterator[str]:
        """Write what is still open."""
        yield from self._head(None)
        if self._summary is not None:
            yield from self._told(self._summary)
        yield from self._turns.end()

    def _head(self, prompt: MessageEvent | None) -> Iterator[str]:
        """Write the first lines, with the prompt that stands beside every request."""
        if self._page.count:
            return
        if prompt is None:
            yield self._page.meta("", None, {})
        else:
            native = prompt.native
            self._echo.hear(prompt.key, native.id, 1, prompt.message)
            note = {"id": native.id} if native.id else {}
            yield self._page.meta(prompt.message.text, native.at, note)
        yield from self._turns.note(self._page.about)

    def _told(self, told: MessageEvent) -> Iterator[str]:
        """Write a message, each of its items on a line of its own."""
        native = told.native
        self._page.tick(native.at)
        found = list(rollout_items(told.message))
        answer = native.reply or (told.key if len(found) > 1 else "")
        for place, piece in enumerate(found):
            yield from self._turns.before(piece.message, native.model, answer)
            named = replace(piece, id="" if place else native.id, item=self._paired(piece.item))
            note = self._echo.take(told.key, named, self._page.count + 1, answer)
            if named.item is not None:
                line = self._page.line("response_item", named.item, note)
            else:
                thoughts = (part.text for part in named.message.parts if isinstance(part, Thinking))
                payload = {"type": "agent_reasoning", "text": "".join(thoughts)}
                line = self._page.line("event_msg", payload, note)
            yield line
            yield from self._turns.after(piece.message)
        if native.usage is not None:
            self._turns.owe(native.usage, answer)

    def _paired(self, item: JsonObject | None) -> JsonObject | None:
        """Return an item; a result as the kind that belongs to its call."""
        kind = None if item is None else item.get("type")
        if item is None or kind not in ("custom_tool_call", "function_call_output"):
            return item
        call = str(item.get("call_id"))
        if kind == "custom_tool_call":
            self._free_calls.add(call)
        elif call in self._free_calls:
            return {**item, "type": "custom_tool_call_output"}
        return item

    def _compacted(
        self, shows: Iterable[str], summary: MessageEvent | None, note: JsonObject
    ) -> str:
        """Return the line that says all that the model sees from here on."""
        beside: dict[str, object] = {}
        said = ""
        if summary is not None:
            native = summary.native
            item = _summary_item(summary.message)
            piece = RolloutItem(item, summary.message, id=native.id)
            beside |= self._echo.take(summary.key, piece, self._page.count + 1, "")
            beside |= self._page.time_note(native.at)
            said = "" if item is None else words(item.get("content"))
        shown = [(told, each) for told in shows for each in self._echo.written(told)]
        items = [(told, item) for told, (_, item) in shown if item is not None]
        new = None if summary is None else summary.key
        fold: dict[str, object] = {**note}
        fold["shows"] = [None if told == new else key for told, (key, _) in shown]
        if new is not None:
            fold["summary"] = [told for told, _ in items].index(new)
        self._echo.show(key for _, (key, _) in shown)
        payload = {"message": said, "replacement_history": [item for _, item in items]}
        return self._page.line("compacted", payload, {**beside, "fold": fold})


def _is_instructions(message: Message) -> bool:
    """Say whether a message is a plain system prompt, which Codex keeps beside the items."""
    match message:
        case Message(role=Role.SYSTEM, parts=(Text(text=text, extras=extras),)):
            return bool(text) and not extras and not message.extras
        case _:
            return False


def _summary_item(message: Message) -> JsonObject | None:
    """Return the item of a message that may stand for what was compacted."""
    if message.summary is None or message.role is not Role.USER:
        return None
    match list(rollout_items(message)):
        case [RolloutItem(item=item)]:
            return item
        case _:
            return None
