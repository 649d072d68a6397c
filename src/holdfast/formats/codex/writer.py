"""Writes rollouts that Codex can resume.

A file holds one conversation: its branches and sub-agents are files of their own in Codex and are
left out. What Codex has no word for stands beside the payload of a line under `holdfast`, where
Codex does not look: names of messages that Codex would take for its own, tools that failed,
answers in pieces, thoughts of other providers, what a compaction shows.

Not written: the items of another provider that say nothing readable, pictures in an answer, the
fields of texts that only another provider knows, times that were unknown (they are derived), the
model of an answer where it is unknown and another was named before.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.codex.items import message_of
from holdfast.formats.codex.rollout import ReaderEcho, RolloutWriter, TurnWriter
from holdfast.formats.content import words
from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.json_access import JsonObject, mapping
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
    from holdfast.transcript import Part

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
                        yield dataclasses.replace(
                            piece, message=Message(Role.TOOL, (part,)), note=note
                        )
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
            named = dataclasses.replace(
                piece, id="" if place else native.id, item=self._paired(piece.item)
            )
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
