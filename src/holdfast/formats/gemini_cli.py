"""Reads Gemini CLI chats: one JSON object, or in later releases a message a line.

A message is written again when it grows: what was added is told as another message of the same
answer. Calls hold their results, which are told after the message. A record may replace all
messages, after a compression, change or remove some, or take the newest back. Notices for the
screen are passed over. A sub-agent's file stands in a folder that has the name of its session.
The oldest files hold a `history` in which the model's role is `gemini`, which no provider takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.content import contents, decoded, summarized, words
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    count,
    is_array,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
)
from holdfast.formats.reader import LIKELY, SURE, Format, KeyAllocator, SessionReader, Sign
from holdfast.session import Fork, Usage
from holdfast.transcript import Content, Message, Part, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_FAILED = frozenset(["error", "cancelled"])
_SNAPSHOT = "<state_snapshot>"
_NEAR = 200
"""A snapshot may stand below a sentence that introduces it."""


class MessageGrowth:
    """Tracks which parts of a message were yielded, since it is written again as it grows."""

    def __init__(self, answered: set[str]) -> None:
        """Nothing was told yet.

        Args:
            answered: The calls of the file whose results were told: each is written several times.
        """
        self.is_paid = False
        self.is_summary = False
        """Whether it stands for what was compressed."""
        self.speaker = ""
        """Who said it, as Gemini CLI calls them."""
        self._thoughts = 0
        self._words: set[int] = set()
        self._calls: set[str] = set()
        self._answered = answered

    def added(self, entry: JsonObject) -> list[Message]:
        """Return what is new in a version of the message: what was said, the calls, the results.

        Words are written first and the calls of the same answer when they are done, so each is a
        message of its own: what was told of a file stays told when it grows.
        """
        self.speaker = string(entry.get("type"))
        role = Role.USER if self.speaker == "user" else Role.ASSISTANT
        content = entry.get("content") or entry.get("parts")
        if isinstance(content, str):
            told = (Text(content),) if content else ()
        elif not content:
            told = ()
        else:
            listed = content if is_array(content) else [content]
            speaker = "user" if role is Role.USER else "model"
            parts = [{"text": part} if isinstance(part, str) else part for part in listed]
            found = decoded("gemini", {"role": speaker, "parts": parts})
            if isinstance(found, str):
                told = contents(listed)
            else:
                told = tuple(part for message in found for part in message.parts)
        listed = mappings(entry.get("thoughts"))
        titles = [(string(e.get("subject")), string(e.get("description"))) for e in listed]
        thoughts = tuple(
            Thinking("\n".join(filter(None, each))) for each in titles[self._thoughts :]
        )
        self._thoughts = max(self._thoughts, len(listed))
        said = tuple(self._said(told))
        calls = [
            ToolCall(string(each.get("id")), string(each.get("name")), as_json(each.get("args")))
            for each in mappings(entry.get("toolCalls"))
        ]
        made: tuple[Part, ...] = tuple(call for call in calls if not self._is_known(call))
        if role is Role.USER:
            # Only a model thinks and calls, whoever a damaged line says has spoken.
            made, thoughts = (*thoughts, *made), ()
        pieces: tuple[tuple[Role, tuple[Part, ...]], ...] = (
            (role, (*thoughts, *said)),
            (Role.ASSISTANT, made),
            (Role.TOOL, tuple(self._results(entry, told))),
        )
        return [Message(speaker, parts) for speaker, parts in pieces if parts]

    def _said(self, told: Sequence[Part]) -> Iterator[Part]:
        """Return what no version of the message said; a chat that goes on repeats all of it."""
        before = frozenset(self._words)
        for part in told:
            if isinstance(part, ToolResult):
                continue
            if isinstance(part, ToolCall):
                if not self._is_known(part):
                    yield part
                continue
            words = hash(part.text if isinstance(part, Text) else repr(part))
            self._words.add(words)
            if words not in before:
                yield part

    def _is_known(self, call: ToolCall) -> bool:
        """Say whether a call was told before; from here on it was."""
        known = call.id in self._calls
        self._calls.add(call.id)
        return known

    def _results(self, entry: JsonObject, told: Sequence[Part]) -> Iterator[ToolResult]:
        for part in told:
            # It stands with its call as well, in most files.
            if isinstance(part, ToolResult) and part.call_id and part.call_id not in self._answered:
                self._answered.add(part.call_id)
                yield part
        for call in mappings(entry.get("toolCalls")):
            call_id, name = string(call.get("id")), string(call.get("name"))
            answer: list[Content] = []
            for part in sequence(call.get("result")):
                response = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
                output = response.get("output", response.get("error"))
                if response:
                    text = output if isinstance(output, str) else as_json(dict(response))
                    answer.append(Text(text))
                else:
                    answer.extend(contents([part]))
            content = tuple(answer)
            if content and call_id not in self._answered:
                self._answered.add(call_id)
                failed = string(call.get("status")) in _FAILED
                yield ToolResult(call_id, content, is_error=failed, name=name)


class MessageGrowths:
    """The growth of each message of a file, by its id."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._growths: dict[str, MessageGrowth] = {}
        self._answered: set[str] = set()

    def known(self, id: str) -> MessageGrowth | None:  # noqa: A002
        """Return what was told of a message, if anything was."""
        return self._growths.get(id)

    def of(self, id: str) -> MessageGrowth:  # noqa: A002
        """Return what was told of a message; one without an id is never written again."""
        growth = self._growths.get(id) or MessageGrowth(self._answered)
        if id:
            self._growths[id] = growth
        return growth


def is_snapshot(entry: JsonObject) -> bool:
    """Say whether a message is what Gemini CLI puts in the place of what it compressed."""
    said = entry.get("content")
    text = said if isinstance(said, str) else words(said)
    return entry.get("type") == "user" and _SNAPSHOT in text[:_NEAR]


def usage_of(entry: JsonObject) -> Usage | None:
    """Return what an answer cost: what was sent counts what came from the cache as well."""
    tokens = mapping(entry.get("tokens"))
    if not tokens:
        return None
    read = count(tokens.get("cached"))
    sent = count(tokens.get("input")) + count(tokens.get("tool"))
    wrote = count(tokens.get("output")) + count(tokens.get("thoughts"))
    return Usage(1, max(0, sent - read), wrote, read)


_SPEAKERS = frozenset(["user", "gemini", "model"])
_MORE = ("projectHash", "kind")


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Gemini CLI; None when they are not."""
    likely: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        if any(
            (each.get("role") == "gemini" and "parts" in each)
            for each in mappings(entry.get("history"))
        ):
            return Sign("a history with messages of role gemini", LIKELY)
        if entry.get("type") == "gemini" and "content" in entry:
            likely = likely or Sign("a message of type gemini", LIKELY)
        if "sessionId" not in entry:
            continue
        if "projectHash" in entry:
            is_whole = "startTime" in entry or "messages" in entry
            return Sign("a session with a project hash", SURE if is_whole else LIKELY)
        if any(each.get("type") == "gemini" for each in mappings(entry.get("messages"))):
            return Sign("a session with messages of type gemini", LIKELY)
    return likely


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Gemini CLI."""
    reader = _Reader()
    for record in records:
        reader.file = record.file
        yield from reader.take(record.line, mapping(record.value))


class _Reader:
    """Yields the events of a chat record by record."""

    def __init__(self) -> None:
        self._keys = KeyAllocator()
        self._about: About | None = None
        """What was told of the session; None before it has begun."""
        self._grown = MessageGrowths()
        """How much of each message was told."""
        self._window: dict[str, list[str]] = {}
        """The ids of the messages that the model sees, each with the names it was told under."""
        self._names: dict[str, list[str]] = {}
        """The same of every message."""
        self._due: Usage | None = None
        """What an answer cost that grew by nothing else, for the next one to tell."""
        self.file = ""
        """Where the record stands."""

    def take(self, line: int, entry: JsonObject) -> Iterator[Event]:
        """Yield the events of one record."""
        if "$rewindTo" in entry:
            # A message and all after it were taken back; all, when there is no such one.
            yield from self._begin(line, About())
            target, before, kept = string(entry["$rewindTo"]), self._shown(), list(self._window)
            for known in kept[kept.index(target) if target in self._window else 0 :]:
                del self._window[known]
            if self._shown() != before:
                yield RewindEvent(strand=MAIN, line=line, shows=self._shown())
        elif string(entry.get("type")) in _SPEAKERS:
            yield from self._begin(line, About())
            yield from self._message(line, entry)
        elif patch := mapping(entry.get("$patch")):
            yield from self._begin(line, About())
            yield from self._patch(line, patch)
        elif changed := mapping(entry.get("$set")):
            yield from self._head(line, changed)
            # That the model sees these messages and no others.
            messages = mappings(changed.get("messages"))
            if not messages:
                return
            before = self._shown()
            self._window = {}
            is_folded = False
            for entry in messages:
                if string(entry.get("id")) not in self._names and is_snapshot(entry):
                    is_folded = True
                    yield self._summary(line, entry)
                elif string(entry.get("type")) in _SPEAKERS:
                    yield from self._message(line, entry)
            shows = self._shown()
            if is_folded:
                yield CompactionEvent(strand=MAIN, line=line, id=f"#{line}", shows=shows)
            elif shows != before:
                yield RewindEvent(strand=MAIN, line=line, shows=shows)
        elif "sessionId" in entry:
            yield from self._head(line, entry)
            for message in mappings(entry.get("messages")):
                yield from self.take(line, message)
        elif "history" in entry:
            yield from self._head(line, entry)
            for message in mappings(entry["history"]):
                dated = {"timestamp": message.get("ts"), **message}
                yield from self.take(line, {**dated, "type": message.get("role")})

    def _begin(self, line: int, about: About) -> Iterator[Event]:
        if self._about is None:
            self._about = about
            yield StrandStarted(strand=MAIN, line=line, about=about)

    def _head(self, line: int, fields: JsonObject) -> Iterator[Event]:
        # A sub-agent's file stands in a folder with the name of the session it works for.
        folders = self.file.replace("\\", "/").split("/")[-3:-1]
        is_child = fields.get("kind") == "subagent" and folders[:1] == ["chats"]
        parent = folders[-1] if is_child else ""
        about = About(
            parent=parent,
            fork=Fork.DELEGATION if parent else None,
            id=string(fields.get("sessionId")),
            title=string(fields.get("summary")),
            model=string(mapping(fields.get("meta")).get("model")),
            started=milliseconds(fields.get("startTime")) or milliseconds(fields.get("start_time")),
            more={name: fields[name] for name in _MORE if isinstance(fields.get(name), str)},
        )
        if self._about is None:
            yield from self._begin(line, about)
        elif about.title and about.title != self._about.title:
            self._about = replace(self._about, title=about.title)
            yield MetadataUpdated(strand=MAIN, about=About(title=about.title))

    def _message(self, line: int, entry: JsonObject) -> Iterator[Event]:
        if self._grown.known(string(entry.get("id"))) is None and is_snapshot(entry):
            yield self._summary(line, entry)
            return
        id, model = string(entry.get("id")), string(entry.get("model"))  # noqa: A001
        growth = self._grown.of(id)
        if id and id not in self._window:
            self._window[id] = self._names.setdefault(id, [])
        names = self._names[id] if id else self._window.setdefault(f"#{line}", [])
        if not growth.is_paid and (cost := usage_of(entry)) is not None:
            growth.is_paid = True
            self._due = cost if self._due is None else self._due + cost
        for message in growth.added(entry):
            is_answer = message.role is Role.ASSISTANT
            key = self._keys.take(id, line)
            names.append(key)
            native = SourceMetadata(
                id=id,
                reply=(id or key) if is_answer else "",
                model=model if is_answer else "",
                usage=self._due if is_answer else None,
                at=milliseconds(entry.get("timestamp")),
            )
            self._due = None if is_answer else self._due
            yield MessageEvent(strand=MAIN, line=line, key=key, message=message, native=native)
        # Which model speaks, when it is another than before.
        if self._about is not None and model and model != self._about.model:
            self._about = replace(self._about, model=model)
            yield MetadataUpdated(strand=MAIN, about=About(model=model))

    def _shown(self) -> tuple[str, ...]:
        return tuple(key for names in self._window.values() for key in names)

    def _patch(self, line: int, patch: JsonObject) -> Iterator[Event]:
        """Yield what changed in messages, and which of them the model sees from here on."""
        for entry in (patch, *mappings(patch.get("updates"))):
            if (growth := self._grown.known(string(entry.get("id")))) is not None:
                yield from self._message(line, {"type": growth.speaker, **entry})
        removed = [string(each) for each in sequence(patch.get("removeIds"))]
        order = [string(each) for each in sequence(patch.get("orderIds"))]
        if not removed and not order:
            return  # as most are, and the window may be long
        before = self._shown()
        for name in removed:
            self._window.pop(name, None)
        first = {name: self._window[name] for name in order if name in self._window}
        self._window = {**first, **self._window}
        shows = self._shown()
        if shows == before:
            return
        folded = map(self._grown.known, self._window)
        if any(growth is not None and growth.is_summary for growth in folded):
            yield CompactionEvent(strand=MAIN, line=line, id=f"#{line}", shows=shows)
        else:
            yield RewindEvent(strand=MAIN, line=line, shows=shows)

    def _summary(self, line: int, entry: JsonObject) -> MessageEvent:
        id = string(entry.get("id"))  # noqa: A001
        key = self._keys.take(id, line)
        self._window[id or key] = self._names[id or key] = [key]
        growth = self._grown.of(id or key)
        growth.is_summary = True
        said = growth.added(entry)[0]
        native = SourceMetadata(id=id, at=milliseconds(entry.get("timestamp")))
        message = summarized(said.text, "gemini-cli")
        return MessageEvent(strand=MAIN, line=line, key=key, message=message, native=native)


GEMINI_CLI = SessionReader(
    format=Format("gemini-cli", "Gemini CLI chat, JSON or JSONL", "gemini", writable=False),
    recognize=recognize,
    read=read,
)
