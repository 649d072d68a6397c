"""One journal of Kimi Code, or one `context.jsonl` of Kimi CLI, told line by line.

Kimi Code writes messages, the parts of each step of the model, results and compactions; what
`context.clear` and `context.undo` do, what a compaction leaves, and that a message which comes
between a call and its result waits for it, is what its source shows. Kimi CLI wrote a message a
line and marks between them. What a step cost is written when it ends, after its words, so costs are
noted of the whole session as they add up. A picture that Kimi keeps in a file of its own is named,
and reported, for its file is not read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Noted, Rewound, Told
from holdfast.formats.document import Problem
from holdfast.formats.figures import count, usage_in
from holdfast.formats.keys import Keys
from holdfast.formats.kimi.content import BLOB, call_of, content_of, result_of, spoken
from holdfast.formats.kimi.window import Exchange, Kept, Window
from holdfast.formats.loose import mapping, string
from holdfast.formats.moments import moment
from holdfast.formats.replay import merged
from holdfast.formats.session_reader import summarized, words
from holdfast.session import Usage
from holdfast.transcript import Media, Message, Role, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["MARKS", "Journal"]

MARKS = frozenset(["_system_prompt", "_checkpoint", "_usage"])
"""What stands for a role where a line of Kimi CLI is no message."""
_USAGE = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
_PROMPTS = frozenset(["user", "skill_activation", "plugin_command", ""])
"""Where the messages come from that Kimi takes for the user's own."""
_TYPED = frozenset(["user-slash", ""])
"""How a skill or a command began that the user asked for."""
_APART = "a picture is kept in a file of its own, which is not read"


class Journal:
    """Reads one journal line by line."""

    def __init__(self) -> None:
        """Know nothing of the session yet."""
        self._begun = False
        self._about = About()
        """What is known of the session so far."""
        self._spent = {"step.end": Usage(), "usage.record": Usage()}
        """What was written as a cost so far; the same cost may be written as either or as both."""
        self._window = Window()
        self._exchange = Exchange()
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
                yield from self._append(record, entry)
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
                yield from self._rewind(record, kind, count(entry.get("count")))
            case "" if "role" in entry:
                yield from self._line(record, entry)
            case _:
                return

    def close(self) -> Iterator[Event]:
        """Tell what still waits for results when the journal ends."""
        yield from self._release(at_once=True)

    def _append(self, record: Record, entry: Mapping[str, object]) -> Iterator[Event]:
        if self._exchange.is_open:
            self._exchange.hold(record, self._key)
        else:
            yield from self._message(record, mapping(entry.get("message")))

    def _release(self, *, at_once: bool = False) -> Iterator[Event]:
        own = self._key
        for record, key in self._exchange.release(at_once=at_once):
            self._key = key
            yield from self._message(record, mapping(mapping(record.value).get("message")))
        self._key = own

    def _told(self, record: Record, message: Message, native: Native) -> Iterator[Event]:
        """Tell a message, and the session before the first."""
        if not self._begun:
            self._begun = True
            yield Begun(strand=MAIN, line=record.line, about=self._about)
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
        if _is_apart(message.parts):
            yield Problem(record.line, _APART, record.file)

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
        source = mapping(fields.get("origin"))
        origin, own = string(source.get("kind")), string(fields.get("id"))
        is_own = origin in _PROMPTS and string(source.get("trigger")) in _TYPED
        self._window.add(
            self._key,
            is_prompt=message.role is Role.USER and is_own,
            name=own,
            owner=string(source.get("ownerPromptId")),
        )
        native = Native(id=own, more={"origin": origin} if origin else {})
        yield from self._told(record, message, native)

    def _step(self, record: Record, event: Mapping[str, object]) -> Iterator[Event]:
        step = string(event.get("stepUuid"))
        native = Native(id=string(event.get("uuid")), reply=step)
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
                yield from self._told(record, Message(Role.TOOL, (result_of(event),)), Native())
                self._exchange.answer(string(event.get("toolCallId")))
                yield from self._release()
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
        summary = summarized(_summary(entry), "kimi")
        key = self._key
        users = None if entry.get("legacyTail") is True else entry.get("keptUserMessageCount")
        kept = Kept(
            compacted=count(entry.get("compactedCount")) or count(entry.get("count")),
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
            trigger=self._window.trigger,
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
        elif string(entry.get("role")) not in MARKS:
            yield from self._message(record, entry)


def _is_apart(parts: Iterable[Part]) -> bool:
    """Say whether one of the pictures lies in a file of its own."""
    for part in parts:
        if isinstance(part, ToolResult) and _is_apart(part.content):
            return True
        if isinstance(part, Media) and part.url.startswith(BLOB):
            return True
    return False


def _summary(entry: Mapping[str, object]) -> str:
    """Return the summary: its words, those with what Kimi says around them, or a message."""
    found = entry.get("summary")
    plain = string(found) or string(entry.get("contextSummary"))
    return plain or words(mapping(found).get("content"))
