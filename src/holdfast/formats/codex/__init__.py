"""Reads the rollouts of Codex: the items of the Responses API, in an envelope or, long ago, bare.

What `codex exec --json` prints is read by `codex.exec`, under the same name.

Only items are what the model saw; the events beside them repeat it for the screen and are not
told, but for a prompt that stands nowhere else, what an answer cost, rollbacks and names. Errors
and aborted turns are shown to the user alone and are passed over.

What an answer cost is written after it, and is told with the last message of the answer: what
came before is told long before an answer is over. A file that is read in the very moment between
the two tells that answer without its cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.errors import DecodeError
from holdfast.formats.codex.exec import ExecReader, is_printed, sign_of
from holdfast.formats.codex.items import (
    CONVERSATION,
    AnswerTracker,
    CompactionLine,
    RolloutWindow,
    about_of,
    agent_item,
    message_of,
    replacement,
    spent_in,
    spoken,
)
from holdfast.formats.codex.writer import write
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import JsonObject, mapping, milliseconds, string
from holdfast.formats.reader import LIKELY, Format, KeyAllocator, SessionReader, Sign
from holdfast.transcript import Message, Role, Text, Thinking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord
    from holdfast.session import Usage

BARE = frozenset(["id", "timestamp", "instructions"])
"""What the first line of the oldest rollouts has, whose items stand without an envelope."""
_SURE_LINES = frozenset(["session_meta", "turn_context", "compacted"])
_LINES = _SURE_LINES | {"response_item", "event_msg"}


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Codex; None when they are not."""
    likely: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        kind = string(entry.get("type"))
        found: Sign | None = None
        if kind in _LINES and isinstance(entry.get("payload"), dict):
            reason = f"a line of type {kind} with a payload"
            found = Sign(reason) if kind in _SURE_LINES else Sign(reason, LIKELY)
        else:
            found = sign_of(entry)
        if found is not None and found.confidence > LIKELY:
            return found
        likely = likely or found
    first = mapping(records[0].value if records else None)
    if "type" not in first and first.keys() >= BARE:
        return Sign("a line with id, timestamp and instructions before bare items")
    return likely


@dataclass(frozen=True, slots=True)
class AnswerCost:
    """What one request to the model cost."""

    usage: Usage


def with_costs(events: Iterable[Event | AnswerCost]) -> Iterator[Event]:
    """Return the events in order, each cost on the message of the model right before it.

    A cost that does not follow an answer goes to the next one, as the oldest files have it. So
    does the second cost of one answer: each is counted once.
    """
    held: MessageEvent | None = None
    early: Usage | None = None
    paid = ""
    for event in events:
        if isinstance(event, AnswerCost):
            if held is None or held.native.reply == paid:
                early = event.usage if early is None else early + event.usage
                continue
            held = _charged(held, event.usage)
            paid = held.native.reply
            continue
        if held is not None:
            yield held
            held = None
        if not isinstance(event, MessageEvent) or event.message.role is not Role.ASSISTANT:
            yield event
            continue
        held = event
        if early is not None and event.native.reply != paid:
            held, early, paid = _charged(event, early), None, event.native.reply
    if held is not None:
        yield held


def _charged(told: MessageEvent, usage: Usage) -> MessageEvent:
    return replace(told, native=replace(told.native, usage=usage))


_UNKNOWN = About()
_RECORDED = object()
"""Stands for the total of a file that has a record of what each answer cost."""


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Codex."""

    def events() -> Iterator[Event | AnswerCost]:
        rollout, printout = _Reader(), ExecReader()
        for record in records:
            try:
                yield from (printout if is_printed(record.value) else rollout).take(record)
            except DecodeError as error:
                yield Problem(record.line, f"{error.path}: {error.problem}", record.file)
        yield from rollout.end()
        yield from printout.end()

    return with_costs(events())


class _Reader:
    """Yields the events of a rollout line by line."""

    def __init__(self) -> None:
        self._keys = KeyAllocator()
        self._window = RolloutWindow()
        self._replies = AnswerTracker()
        self._about: About | None = None
        """What the file's own first line says; None before the file has begun."""
        self._heard: dict[int, list[str]] = {}
        """The names of the messages of users and of the system, by what they say."""
        self._prompt: MessageEvent | None = None
        """A prompt that so far only the screen has shown."""
        self._total: object = None

    def take(self, record: SourceRecord) -> Iterator[Event | AnswerCost]:
        """Yield the events of one line."""
        entry = mapping(record.value)
        payload = mapping(entry.get("payload"))
        match entry.get("type"):
            case "response_item":
                yield from self._item(record, payload)
            case "event_msg":
                yield from self._event(record, payload)
            case "turn_context":
                yield from self._note(record, About(model=string(payload.get("model"))))
            case "compacted":
                yield from self._compacted(record, payload)
            case "session_meta":
                yield from self._meta(record, payload)
            case "token_usage_record":
                # Count an answer by its own record, which newer releases write
                # beside the counts.
                thread, known = string(payload.get("thread_id")), self._about or _UNKNOWN
                if thread and known.id and thread != known.id:
                    return
                self._total = _RECORDED
                self._replies.close()
                usage = spent_in(mapping(payload.get("usage")), {})
                if usage.prompt_tokens or usage.output_tokens:
                    yield AnswerCost(usage)
            case "inter_agent_communication":
                yield from self._item(record, agent_item(payload))
            case _ if "payload" not in entry:
                if "type" in entry:
                    yield from self._item(record, entry)
                elif self._about is None and entry.keys() >= BARE:
                    yield from self._begin(record, about_of(entry, {}, None))
                    if instructions := string(entry.get("instructions")):
                        yield self._tell(record, Message(Role.SYSTEM, (Text(instructions),)))
            case _:
                return

    def end(self) -> Iterator[Event]:
        """Yield a prompt that nothing followed."""
        if self._prompt is not None:
            prompt, self._prompt = self._prompt, None
            self._hear(prompt.message, prompt.key)
            yield prompt

    def _begin(self, record: SourceRecord, about: About) -> Iterator[Event]:
        if self._about is None:
            self._about = about
            yield StrandStarted(strand=MAIN, line=record.line, about=about)

    def _meta(self, record: SourceRecord, payload: JsonObject) -> Iterator[Event]:
        entry = mapping(record.value)
        about = about_of(payload, mapping(entry.get("holdfast")), entry.get("timestamp"))
        if self._about is not None:
            # A fork copies the first line of its parent; a resumed session repeats its own.
            if about.id == self._about.id:
                known = About(cwd=about.cwd, git_branch=about.git_branch, version=about.version)
                yield from self._note(record, known)
            return
        yield from self._begin(record, about)
        prompt = string(mapping(payload.get("base_instructions")).get("text"))
        if prompt:
            told = self._tell(record, Message(Role.SYSTEM, (Text(prompt),)))
            # It stands beside what a compaction repeats, so nothing is found again in it.
            self._heard.clear()
            self._window.instructions = (told.key,)
            yield told

    def _note(self, record: SourceRecord, about: About) -> Iterator[Event]:
        yield from self._begin(record, _UNKNOWN)
        if self._about is not None and about != _UNKNOWN:
            if about.model and about.model == self._about.model:
                return
            yield MetadataUpdated(strand=MAIN, about=about)
            if about.model:
                self._about = About(id=self._about.id, model=about.model)

    def _item(self, record: SourceRecord, item: JsonObject) -> Iterator[Event]:
        if string(item.get("type")) not in CONVERSATION:
            return
        failed = mapping(mapping(record.value).get("holdfast")).get("error")
        message = message_of(item, failed=failed)
        if message is None or not message.parts:
            return
        if self._about is None:
            yield from self._begin(record, _UNKNOWN)
        if message.role is Role.USER and self._prompt is not None:
            if not spoken(self._prompt.message).isdisjoint(spoken(message)):
                self._prompt = None
        elif message.role is Role.ASSISTANT and self._prompt is not None:
            yield from self.end()
        yield self._tell(record, message, string(item.get("id")))

    def _tell(self, record: SourceRecord, message: Message, id: str = "") -> MessageEvent:  # noqa: A002
        entry = mapping(record.value)
        note = mapping(entry.get("holdfast"))
        name = string(note.get("id")) or id
        key = self._keys.take(name, record.line)
        reply = self._replies.take(message, note.get("reply"))
        self._hear(message, key)
        native = SourceMetadata(
            id=name,
            reply=reply,
            model=self._about.model if reply and self._about is not None else "",
            at=milliseconds(note.get("at") or entry.get("timestamp")),
        )
        return MessageEvent(strand=MAIN, line=record.line, key=key, message=message, native=native)

    def _hear(self, message: Message, key: str) -> None:
        self._window.add(key, message)
        if message.role in (Role.USER, Role.SYSTEM):
            for words in spoken(message):
                self._heard.setdefault(words, [])
            self._heard[hash(message.text.strip())].append(key)

    def _event(self, record: SourceRecord, event: JsonObject) -> Iterator[Event | AnswerCost]:
        match event.get("type"):
            case "token_count":
                yield from self._spent(record, mapping(event.get("info")))
            case "user_message":
                yield from self._begin(record, _UNKNOWN)
                # Keep what the user wrote, unless it was told before; what was
                # kept is told now.
                text = string(event.get("message"))
                if not text.strip() or hash(text.strip()) in self._heard:
                    return
                yield from self.end()
                key = self._keys.take("", record.line)
                native = SourceMetadata(at=milliseconds(mapping(record.value).get("timestamp")))
                message = Message(Role.USER, (Text(text),))
                self._prompt = MessageEvent(
                    strand=MAIN, line=record.line, key=key, message=message, native=native
                )
            case "agent_reasoning" if "holdfast" in mapping(record.value):
                text = string(event.get("text"))
                note = mapping(mapping(record.value).get("holdfast"))
                if "thought" in note:
                    yield from self._begin(record, _UNKNOWN)
                    seal, extras = note["thought"], dict(mapping(note.get("extras")))
                    thinking = Thinking(text, seal if isinstance(seal, str) else None, extras)
                    yield self._tell(record, Message(Role.ASSISTANT, (thinking,)))
            case "thread_rolled_back":
                count = event.get("num_turns")
                yield from self._begin(record, _UNKNOWN)
                yield from self.end()
                shows = self._window.without_turns(count if isinstance(count, int) else 0)
                if shows != self._window.keys:
                    self._replies.close()
                    self._window.show(shows)
                    at = milliseconds(mapping(record.value).get("timestamp"))
                    yield RewindEvent(strand=MAIN, line=record.line, shows=shows, at=at)
            case "thread_name_updated":
                title = string(event.get("thread_name")) or string(event.get("name"))
                yield from self._note(record, About(title=title))
            case "task_complete" | "turn_aborted":
                yield from self.end()
            case _:
                return

    def _spent(self, record: SourceRecord, counts: JsonObject) -> Iterator[AnswerCost]:
        # The counts are repeated whenever limits change; only a new total tells of an answer.
        total = mapping(counts.get("total_token_usage")).get("total_tokens")
        note = mapping(mapping(record.value).get("holdfast"))
        is_news = self._total is not _RECORDED and total != self._total
        if counts and (note or is_news):
            self._total = total
            self._replies.close()
            usage = spent_in(mapping(counts.get("last_token_usage")), note)
            if note or usage.prompt_tokens or usage.output_tokens:
                yield AnswerCost(usage)

    def _compacted(self, record: SourceRecord, payload: JsonObject) -> Iterator[Event]:
        yield from self._begin(record, _UNKNOWN)
        yield from self.end()
        self._replies.close()
        fold = CompactionLine.of(record)
        shows: list[str] = []
        for found in replacement(payload, fold, self._heard, self._window):
            match found:
                case Problem():
                    yield found
                case str():
                    shows.append(found)
                case _:
                    told = self._tell(record, found.message, found.id)
                    shows.append(told.key)
                    yield told
        self._replies.close()
        if shows:
            yield fold.event(self._window.show(shows))


CODEX = SessionReader(
    format=Format("codex", "Codex rollout, JSONL", "responses", writable=True),
    recognize=recognize,
    read=read,
    write=write,
)
