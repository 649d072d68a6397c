"""Reads the sessions of Kimi Code, and of the Kimi CLI that came before it.

Kimi Code writes a journal `wire.jsonl` for each agent of a session: messages, the parts of each
step of the model, results, compactions. That is shown by files; what `context.clear` and
`context.undo` do, and what a compaction leaves, by its source. Kimi CLI kept `context.jsonl` with a
message a line and marks between them, which only its source shows. What a step cost is written when
it ends, after its words, so costs are noted of the whole session as they add up. A session has no
id but the name of its folder. `state.json` beside the journals, and the journal that Kimi CLI kept
for its screen, hold no conversation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Noted, Rewound, Told
from holdfast.formats.document import Format
from holdfast.formats.loose import is_object, mapping, string
from holdfast.formats.moments import moment
from holdfast.formats.replay import merged
from holdfast.formats.sessions.figures import count, usage_in
from holdfast.formats.sessions.keys import Keys
from holdfast.formats.sessions.kimi_content import call_of, content_of, result_of, spoken
from holdfast.formats.sessions.kimi_window import Kept, Window
from holdfast.formats.sessions.reader import LIKELY, SURE, SessionReader, Sign, summarized
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["KIMI"]

_MARKS = frozenset(["_system_prompt", "_checkpoint", "_usage"])
_USAGE = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
_PROMPTS = frozenset(["user", "skill_activation", "plugin_command", ""])
"""Where the messages come from that Kimi takes for the user's own."""


def _recognize(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        if entry.get("type") == "metadata" and isinstance(entry.get("protocol_version"), str):
            reason = "a journal with a protocol_version"
            return Sign(reason, SURE if "created_at" in entry else LIKELY)
        if string(entry.get("type")).startswith("context.append_"):
            return Sign(f"a line of type {entry['type']}")
        if string(entry.get("role")) in _MARKS:
            return Sign(f"a line of role {entry['role']}")
        if is_object(entry.get("agents")) and {"createdAt", "workDir"} <= entry.keys():
            return Sign("what Kimi knows about a session, beside its journals", LIKELY)
    return None


def _read(records: Iterable[Record]) -> Iterator[Event]:
    desk = _Desk()
    for record in records:
        yield from desk.take(record)


def _about(file: str) -> About:
    """Return what the path of a journal says about it, where it is known."""
    match file.replace("\\", "/").split("/"):
        case [*_, session, "agents", "main", "wire.jsonl"]:
            return About(id=session)
        case [*_, session, "agents", agent, "wire.jsonl"]:
            return About(id=f"{session}/{agent}", parent=session, fork=Fork.DELEGATION)
        case [*_, session, "subagents", agent, "context.jsonl"]:
            return About(id=f"{session}/{agent}", parent=session, fork=Fork.DELEGATION)
        case [*_, session, "context.jsonl"]:
            return About(id=session)
        case _:
            return About()


class _Desk:
    """Reads one journal line by line."""

    def __init__(self) -> None:
        self._begun = False
        self._about = About()
        """What is known of the session so far."""
        self._trigger = ""
        self._spent = {"step.end": Usage(), "usage.record": Usage()}
        """What was written as a cost so far; the same cost may be written as either or as both."""
        self._window = Window()
        self._keys = Keys()
        self._key = ""
        """The name of what the line says, should it say anything."""

    def take(self, record: Record) -> Iterator[Event]:
        """Tell what one line says."""
        entry = mapping(record.value)
        self._key = self._keys.take("", record.line)
        match string(entry.get("type")):
            case "metadata":
                self._about = replace(self._about, started=moment(entry.get("created_at")))
            case "config.update" | "profile.bind" | "llm.request":
                yield from self._configure(record, entry)
            case "context.append_message":
                yield from self._message(record, mapping(entry.get("message")))
            case "context.append_loop_event":
                yield from self._step(record, mapping(entry.get("event")))
            case "usage.record" as kind:
                yield from self._pay(kind, entry)
            case "full_compaction.begin":
                self._trigger = string(entry.get("source"))
            case "context.apply_compaction":
                yield from self._fold(record, entry)
            case "context.clear" | "context.undo" as kind:
                yield from self._rewind(record, kind, count(entry.get("count")))
            case "" if "role" in entry:
                yield from self._line(record, entry)
            case _:
                return

    def _told(self, record: Record, message: Message, native: Native) -> Iterator[Event]:
        """Tell a message, and the session before the first."""
        if not self._begun:
            self._begun = True
            about = merged(self._about, _about(record.file))
            yield Begun(strand=MAIN, line=record.line, about=about)
        at = moment(mapping(record.value).get("time"))
        yield Told(
            strand=MAIN,
            line=record.line,
            key=self._key,
            message=message,
            native=Native(
                id=native.id,
                reply=native.reply,
                model=self._about.model if message.role is Role.ASSISTANT else "",
                at=at,
                more=native.more,
            ),
        )

    def _configure(self, record: Record, entry: Mapping[str, object]) -> Iterator[Event]:
        alias = string(entry.get("modelAlias")).rpartition("/")[2]
        model = string(entry.get("model")) or alias
        disclosed = mapping(entry.get("environmentDisclosure"))
        found = About(model=model, cwd=string(entry.get("cwd")) or string(disclosed.get("cwd")))
        known, self._about = self._about, merged(self._about, found)
        if self._begun and self._about != known:
            yield Noted(strand=MAIN, about=found)
        yield from self._instruct(record, string(entry.get("systemPrompt")))

    def _instruct(self, record: Record, prompt: str) -> Iterator[Event]:
        """Tell the first system prompt; it is written again after each compaction."""
        if prompt and not self._window.is_instructed:
            self._window.instruct(self._key)
            yield from self._told(record, Message(Role.SYSTEM, (Text(prompt),)), Native())

    def _message(self, record: Record, fields: Mapping[str, object]) -> Iterator[Event]:
        message = spoken(fields)
        if not message.parts:
            return
        origin = string(mapping(fields.get("origin")).get("kind"))
        is_prompt = message.role is Role.USER and origin in _PROMPTS
        self._window.add(self._key, is_prompt=is_prompt)
        native = Native(id=string(fields.get("id")), more={"origin": origin} if origin else {})
        yield from self._told(record, message, native)

    def _step(self, record: Record, event: Mapping[str, object]) -> Iterator[Event]:
        step = string(event.get("stepUuid"))
        native = Native(id=string(event.get("uuid")), reply=step)
        match string(event.get("type")):
            case "step.begin":
                self._window.begin_step(string(event.get("uuid")))
            case "step.end" as kind:
                yield from self._pay(kind, event)
            case "content.part":
                if parts := tuple(content_of([event.get("part")])):
                    self._window.add_to_step(step, self._key)
                    yield from self._told(record, Message(Role.ASSISTANT, parts), native)
            case "tool.call":
                self._window.add_to_step(step, self._key)
                yield from self._told(record, Message(Role.ASSISTANT, (call_of(event),)), native)
            case "tool.result":
                self._window.add(self._key)
                yield from self._told(record, Message(Role.TOOL, (result_of(event),)), Native())
            case _:
                return

    def _pay(self, kind: str, fields: Mapping[str, object]) -> Iterator[Event]:
        """Note what the session cost so far."""
        self._spent[kind] += usage_in(mapping(fields.get("usage")), _USAGE) or Usage()
        found = About(usage=max(self._spent.values(), key=lambda spent: spent.calls))
        known, self._about = self._about, merged(self._about, found)
        if self._begun and self._about != known:
            yield Noted(strand=MAIN, about=found)

    def _fold(self, record: Record, entry: Mapping[str, object]) -> Iterator[Event]:
        summary = summarized(string(entry.get("summary")), "kimi")
        key = self._key
        users = entry.get("keptUserMessageCount")
        kept = Kept(
            compacted=count(entry.get("compactedCount")),
            users=None if users is None else count(users),
            first=count(entry.get("keptHeadUserMessageCount")),
        )
        self._window.fold(key, kept)
        yield from self._told(record, summary, Native())
        yield Folded(
            strand=MAIN,
            line=record.line,
            id=f"{key}/fold",
            shows=self._window.shows,
            at=moment(entry.get("time")),
            trigger=self._trigger,
            tokens_before=count(entry.get("tokensBefore")) or None,
            tokens_after=count(entry.get("tokensAfter")) or None,
        )

    def _rewind(self, record: Record, kind: str, prompts: int) -> Iterator[Event]:
        if kind == "context.clear":
            self._window.clear()
        elif not self._window.undo(prompts):
            return
        if self._begun:
            at = moment(mapping(record.value).get("time"))
            yield Rewound(strand=MAIN, line=record.line, shows=self._window.shows, at=at)

    def _line(self, record: Record, entry: Mapping[str, object]) -> Iterator[Event]:
        """Tell a line of Kimi CLI."""
        if entry.get("role") == "_system_prompt":
            yield from self._instruct(record, string(entry.get("content")))
        elif string(entry.get("role")) not in _MARKS:
            yield from self._message(record, entry)


KIMI = SessionReader(
    format=Format("kimi", "Kimi Code or Kimi CLI session, JSONL", "openai", writable=False),
    recognize=_recognize,
    read=_read,
)
