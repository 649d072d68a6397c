"""One journal of Kimi Code, or one `context.jsonl` of Kimi CLI, told line by line.

Kimi Code writes messages, the parts of each step of the model, results and compactions; what
`context.clear` and `context.undo` do, what a compaction leaves, and that a message which comes
between a call and its result waits for it, is what its source shows. Kimi CLI wrote a message a
line and marks between them. Fields of calls are spelled in two ways. What a step cost is written
when it ends, after its words, so costs are noted of the whole session as they add up. A picture
that Kimi keeps in a file of its own is named, and reported, for its file is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from holdfast.formats.content import contents, speaker_of, summarized, words
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    count,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
    usage_in,
)
from holdfast.formats.reader import KeyAllocator
from holdfast.formats.replay import merged
from holdfast.session import Usage
from holdfast.transcript import Media, Message, Part, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord


BLOB = "blobref:"
"""How the address begins of what Kimi keeps in a file of its own: its media type, then its name."""
_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


_MEDIA: Mapping[str, Literal["image", "audio", "video"]] = {
    "image_url": "image",
    "audio_url": "audio",
    "video_url": "video",
}


_CAMEL = {"image_url": "imageUrl", "audio_url": "audioUrl", "video_url": "videoUrl"}


def spoken(message: JsonObject) -> Message:
    """Return a message; one of an unknown role says nothing."""
    role = _ROLES.get(string(message.get("role")))
    if role is None:
        return Message(Role.USER)
    if role is Role.TOOL:
        answered = _either(message, "toolCallId", "tool_call_id")
        failed = message.get("isError") is True
        found = (*shown_of(message.get("content")), *_noted(message))
        return Message(role, (ToolResult(string(answered), found, is_error=failed),))
    calls = mappings(_either(message, "toolCalls", "tool_calls"))
    parts = (*content_of(message.get("content")), *map(call_made, calls))
    return Message(speaker_of(parts, role), parts)


def content_of(value: object) -> Iterator[Part]:
    """Return the parts of a content field."""
    if isinstance(value, str):
        yield from contents(value)
    for each in sequence(value):
        part = mapping(each)
        kind = string(part.get("type"))
        if kind == "think":
            yield Thinking(string(part.get("think")), string(part.get("encrypted")) or None)
        elif kind in _MEDIA:
            url = string(mapping(_either(part, kind, _CAMEL[kind])).get("url"))
            known = url.removeprefix(BLOB).partition(";")[0] if url.startswith(BLOB) else ""
            found = contents([{"url": url, "mimeType": known}])
            yield from (
                structs.replace(each, kind=_MEDIA[kind])
                for each in found
                if isinstance(each, Media)
            )
        else:
            yield from contents([each])


def call_of(event: JsonObject) -> ToolCall:
    """Return the call that a step made."""
    name = string(event.get("name"))
    return ToolCall(string(event.get("toolCallId")), name, as_json(event.get("args")))


def result_of(event: JsonObject) -> ToolResult:
    """Return what came of a call."""
    result = mapping(event.get("result"))
    failed = result.get("isError") is True
    found = (*shown_of(result.get("output")), *_noted(result))
    return ToolResult(string(event.get("toolCallId")), found, failed)


def call_made(call: JsonObject) -> ToolCall:
    """Return a call as a message of the model holds it."""
    fields = {**call, **mapping(call.get("function"))}
    name = string(fields.get("name"))
    return ToolCall(string(call.get("id")), name, as_json(fields.get("arguments")))


def shown_of(value: object) -> tuple[Text | Media, ...]:
    """Return the words and pictures of a content field."""
    return tuple(part for part in content_of(value) if isinstance(part, Text | Media))


def _noted(result: JsonObject) -> Iterator[Text]:
    """Return what a tool says to the model alone, apart from its output."""
    if note := string(result.get("note")):
        yield Text(note)


def _either(fields: JsonObject, first: str, second: str) -> object:
    found = fields.get(first)
    return fields.get(second) if found is None else found


@dataclass(frozen=True, slots=True)
class KeptMessages:
    """What a compaction says that it left."""

    compacted: int
    """How many messages were summed up, counted from the first."""
    users: int | None = None
    """How many of the user's messages stay; None where everything after the others does."""
    first: int = 0
    """How many of them are the oldest; the rest are the newest."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """One message of the history, and the lines that it was told in."""

    is_prompt: bool
    keys: list[str] = field(default_factory=list[str])
    name: str = ""
    """The id of the message, where it has one."""
    owner: str = ""
    """The id of the prompt that it was put before."""


class PendingCalls:
    """Calls that wait for their results: what is said meanwhile comes after them.

    Kimi writes a message down when it is said and gives it to the model when every result is in, so
    that no message stands between a call and its result.
    """

    def __init__(self) -> None:
        """Start with no open call."""
        self._open: set[str] = set()
        self._held: list[tuple[SourceRecord, str]] = []

    @property
    def is_open(self) -> bool:
        """Say whether a result is still to come."""
        return bool(self._open)

    def call(self, call: str) -> None:
        """Wait for the result of a call."""
        self._open.add(call)

    def answer(self, call: str) -> None:
        """Have the result of a call."""
        self._open.discard(call)

    def hold(self, record: SourceRecord, key: str) -> None:
        """Let a message wait."""
        self._held.append((record, key))

    def release(self, *, at_once: bool = False) -> list[tuple[SourceRecord, str]]:
        """Return what waited long enough; all of it, where no result will come any more."""
        if at_once:
            self._open.clear()
        if self._open:
            return []
        held, self._held = self._held, []
        return held


class HistoryWindow:
    """Tracks the history that Kimi sends its model, counted in messages as Kimi does."""

    def __init__(self) -> None:
        """Start empty."""
        self._system: list[str] = []
        self._slots: list[_Slot] = []
        self._steps: dict[str, _Slot] = {}
        self._floor = 0
        """No undo goes back behind this slot."""
        self.trigger = ""
        """What set off the compaction that is under way."""

    @property
    def shows(self) -> tuple[str, ...]:
        """Return the names of what the model sees, in its order."""
        return (*self._system, *(key for slot in self._slots for key in slot.keys))

    @property
    def is_instructed(self) -> bool:
        """Say whether there is a system prompt."""
        return bool(self._system)

    def instruct(self, key: str) -> None:
        """Put the system prompt before everything else."""
        self._system = [key]

    def add(self, key: str, *, is_prompt: bool = False, name: str = "", owner: str = "") -> None:
        """Add a message of one line.

        Args:
            key: What it is called here.
            is_prompt: Whether Kimi takes it for the user's own.
            name: What Kimi calls it.
            owner: What Kimi calls the prompt that it goes with, when it is a note before one.
        """
        self._slots.append(_Slot(is_prompt, [key], name, owner))

    def begin_step(self, step: str) -> None:
        """Add an answer of the model that its lines are still to come of."""
        self._steps = {step: _Slot(is_prompt=False)}
        self._slots.append(self._steps[step])

    def add_to_step(self, step: str, key: str) -> None:
        """Add a line to an answer."""
        if step not in self._steps:
            self.begin_step(step)
        self._steps[step].keys.append(key)

    def clear(self) -> None:
        """Forget everything but the system prompt."""
        self._slots = []
        self._steps = {}
        self._floor = 0

    def undo(self, count: int) -> bool:
        """Take the last prompts back with all that followed; say whether there were as many."""
        prompts = [
            place
            for place, slot in enumerate(self._slots)
            if slot.is_prompt and place >= self._floor
        ]
        if not 0 < count <= len(prompts):
            return False
        cut = prompts[-count]
        name = self._slots[cut].name
        # A note that was put before a prompt goes with it.
        while name and cut > self._floor and self._slots[cut - 1].owner == name:
            cut -= 1
        del self._slots[cut:]
        self._steps = {}
        return True

    def fold(self, summary: str, kept: KeptMessages) -> None:
        """Leave what a compaction left, with its summary."""
        slot = _Slot(is_prompt=False, keys=[summary])
        if kept.users is None:
            self._slots = [slot, *self._slots[kept.compacted :]]
        else:
            prompts = [each for each in self._slots if each.is_prompt]
            first = min(kept.first, len(prompts))
            newest = max(first, len(prompts) - (kept.users - first))
            self._slots = [*prompts[:first], *prompts[newest:], slot]
        self._steps = {}
        self._floor = len(self._slots)


MARKS = frozenset(["_system_prompt", "_checkpoint", "_usage"])
"""What stands for a role where a line of Kimi CLI is no message."""
_USAGE = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
_PROMPTS = frozenset(["user", "skill_activation", "plugin_command", ""])
"""Where the messages come from that Kimi takes for the user's own."""
_TYPED = frozenset(["user-slash", ""])
"""How a skill or a command began that the user asked for."""
_APART = "a picture is kept in a file of its own, which is not read"


class JournalReader:
    """Reads one journal line by line."""

    def __init__(self) -> None:
        """Start with nothing known of the session."""
        self._begun = False
        self._about = About()
        """What is known of the session so far."""
        self._spent = {"step.end": Usage(), "usage.record": Usage()}
        """What was written as a cost so far; the same cost may be written as either or as both."""
        self._window = HistoryWindow()
        self._exchange = PendingCalls()
        self._keys = KeyAllocator()
        self._key = ""
        """The name of what the line says, should it say anything."""

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one line."""
        entry = mapping(record.value)
        self._key = self._keys.take("", record.line)
        match string(entry.get("type")):
            case "metadata":
                self._about = replace(self._about, started=milliseconds(entry.get("created_at")))
            case "config.update" | "profile.bind" | "llm.request":
                alias = string(entry.get("modelAlias")).rpartition("/")[2]
                model = string(entry.get("model")) or alias
                disclosed = mapping(entry.get("environmentDisclosure"))
                found = About(
                    model=model, cwd=string(entry.get("cwd")) or string(disclosed.get("cwd"))
                )
                known, self._about = self._about, merged(self._about, found)
                if self._begun and self._about != known:
                    yield MetadataUpdated(strand=MAIN, about=found)
                yield from self._instruct(record, string(entry.get("systemPrompt")))
            case "context.append_message":
                if self._exchange.is_open:
                    self._exchange.hold(record, self._key)
                else:
                    yield from self._message(record, mapping(entry.get("message")))
            case "context.append_loop_event":
                yield from self._step(record, mapping(entry.get("event")))
            case "usage.record" as kind:
                yield from self._pay(kind, entry)
            case "full_compaction.begin":
                self._window.trigger = string(entry.get("source"))
            case "context.apply_compaction":
                yield from self._release(at_once=True)
                yield from self._fold(record, entry)
            case "context.clear" | "context.undo" as kind:
                yield from self._release(at_once=True)
                prompts = count(entry.get("count"))
                if kind == "context.clear":
                    self._window.clear()
                elif not self._window.undo(prompts):
                    return
                if self._begun:
                    at = milliseconds(mapping(record.value).get("time"))
                    yield RewindEvent(
                        strand=MAIN, line=record.line, shows=self._window.shows, at=at
                    )
            case "" if "role" in entry:
                if entry.get("role") == "_system_prompt":
                    yield from self._instruct(record, string(entry.get("content")))
                elif string(entry.get("role")) not in MARKS:
                    yield from self._message(record, entry)
            case _:
                return

    def close(self) -> Iterator[Event]:
        """Yield what still waits for results when the journal ends."""
        yield from self._release(at_once=True)

    def _release(self, *, at_once: bool = False) -> Iterator[Event]:
        own = self._key
        for record, key in self._exchange.release(at_once=at_once):
            self._key = key
            yield from self._message(record, mapping(mapping(record.value).get("message")))
        self._key = own

    def _told(
        self, record: SourceRecord, message: Message, native: SourceMetadata
    ) -> Iterator[Event]:
        """Yield a message, and the session before the first."""
        if not self._begun:
            self._begun = True
            yield StrandStarted(strand=MAIN, line=record.line, about=self._about)
        at = milliseconds(mapping(record.value).get("time"))
        yield MessageEvent(
            strand=MAIN,
            line=record.line,
            key=self._key,
            message=message,
            native=SourceMetadata(
                id=native.id,
                reply=native.reply,
                model=self._about.model if message.role is Role.ASSISTANT else "",
                at=at,
                more=native.more,
            ),
        )
        if _is_apart(message.parts):
            yield Problem(record.line, _APART, record.file)

    def _instruct(self, record: SourceRecord, prompt: str) -> Iterator[Event]:
        """Yield the first system prompt; it is written again after each compaction."""
        if prompt and not self._window.is_instructed:
            self._window.instruct(self._key)
            yield from self._told(record, Message(Role.SYSTEM, (Text(prompt),)), SourceMetadata())

    def _message(self, record: SourceRecord, fields: JsonObject) -> Iterator[Event]:
        message = spoken(fields)
        if not message.parts:
            return
        source = mapping(fields.get("origin"))
        origin, own = string(source.get("kind")), string(fields.get("id"))
        is_own = origin in _PROMPTS and string(source.get("trigger")) in _TYPED
        self._window.add(
            self._key,
            is_prompt=message.role is Role.USER and is_own,
            name=own,
            owner=string(source.get("ownerPromptId")),
        )
        native = SourceMetadata(id=own, more={"origin": origin} if origin else {})
        yield from self._told(record, message, native)

    def _step(self, record: SourceRecord, event: JsonObject) -> Iterator[Event]:
        step = string(event.get("stepUuid"))
        native = SourceMetadata(id=string(event.get("uuid")), reply=step)
        match string(event.get("type")):
            case "step.begin":
                yield from self._release(at_once=True)
                self._window.begin_step(string(event.get("uuid")))
            case "step.end" as kind:
                yield from self._pay(kind, event)
            case "content.part":
                if parts := tuple(content_of([event.get("part")])):
                    self._window.add_to_step(step, self._key)
                    yield from self._told(record, Message(Role.ASSISTANT, parts), native)
            case "tool.call":
                self._window.add_to_step(step, self._key)
                self._exchange.call(string(event.get("toolCallId")))
                yield from self._told(record, Message(Role.ASSISTANT, (call_of(event),)), native)
            case "tool.result":
                self._window.add(self._key)
                yield from self._told(
                    record, Message(Role.TOOL, (result_of(event),)), SourceMetadata()
                )
                self._exchange.answer(string(event.get("toolCallId")))
                yield from self._release()
            case _:
                return

    def _pay(self, kind: str, fields: JsonObject) -> Iterator[Event]:
        """Note what the session cost so far."""
        self._spent[kind] += usage_in(mapping(fields.get("usage")), _USAGE) or Usage()
        found = About(usage=max(self._spent.values(), key=lambda spent: spent.calls))
        known, self._about = self._about, merged(self._about, found)
        if self._begun and self._about != known:
            yield MetadataUpdated(strand=MAIN, about=found)

    def _fold(self, record: SourceRecord, entry: JsonObject) -> Iterator[Event]:
        # The summary: its words, those with what Kimi says around them, or a message.
        found = entry.get("summary")
        plain = string(found) or string(entry.get("contextSummary"))
        summary = summarized(plain or words(mapping(found).get("content")), "kimi")
        key = self._key
        users = None if entry.get("legacyTail") is True else entry.get("keptUserMessageCount")
        kept = KeptMessages(
            compacted=count(entry.get("compactedCount")) or count(entry.get("count")),
            users=None if users is None else count(users),
            first=count(entry.get("keptHeadUserMessageCount")),
        )
        self._window.fold(key, kept)
        yield from self._told(record, summary, SourceMetadata())
        yield CompactionEvent(
            strand=MAIN,
            line=record.line,
            id=f"{key}/fold",
            shows=self._window.shows,
            at=milliseconds(entry.get("time")),
            trigger=self._window.trigger,
            tokens_before=count(entry.get("tokensBefore")) or None,
            tokens_after=count(entry.get("tokensAfter")) or None,
        )


def _is_apart(parts: Iterable[Part]) -> bool:
    """Say whether one of the pictures lies in a file of its own."""
    for part in parts:
        if isinstance(part, ToolResult) and _is_apart(part.content):
            return True
        if isinstance(part, Media) and part.url.startswith(BLOB):
            return True
    return False
