"""Reads the sessions of Droid, Factory's agent, and the event streams that it prints.

A session file begins with `session_start` and holds messages as Anthropic writes them. Both it and
the stream are shown by files. What other readers of these files say: a header
names the session that a sub-agent works for (`callingSessionId`) or that this one forked from
(`parent`); `compaction_state` holds a summary and the message up to which it speaks; thoughts of
models that are not Anthropic's stand beside the content of a message; and a message that only the
user sees is a notice on the screen. What a session cost stands in a file of settings beside it, as
a total, and so does the model of versions that do not name it with each answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.formats.content import decoded, summarized, words
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    SourceMetadata,
    StrandStarted,
    prefixed,
)
from holdfast.formats.json_access import (
    as_json,
    count,
    is_object,
    mapping,
    mappings,
    milliseconds,
    string,
    usage_in,
    whole,
)
from holdfast.formats.reader import Format, KeyAllocator, SessionReader, Sign
from holdfast.formats.replay import merged
from holdfast.formats.window_tracking import WindowTracker
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_STREAM_USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_SIGNS = {"message": "text", "tool_call": "toolName", "completion": "finalText"}
"""The lines that nobody else writes, each with the field that makes sure."""
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def is_stream_line(entry: JsonObject) -> bool:
    """Say whether a line stands in such a stream and nowhere else."""
    sign = _SIGNS.get(string(entry.get("type")))
    return sign is not None and isinstance(entry.get(sign), str) and bool(session_of(entry))


def session_of(entry: JsonObject) -> str:
    """Return the session that a line of a stream names."""
    return string(entry.get("session_id")) or string(entry.get("sessionId"))


class DroidStreamReader:
    """Reads a stream line by line."""

    def __init__(self) -> None:
        """Start with nothing known of the session."""
        self.has_begun = False
        self._keys = KeyAllocator()
        self._model = ""
        self._words = ""
        """What the model said last since the user spoke."""
        self._spent = Usage()

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one line."""
        entry = mapping(record.value)
        yield from self._begin(record.line, entry)
        match entry.get("type"):
            case "message":
                yield from self._message(record, entry)
            case "tool_call":
                name = string(entry.get("toolName")) or string(entry.get("toolId"))
                call = ToolCall(_call_id(entry), name, as_json(entry.get("parameters")))
                yield self._told(record, Message(Role.ASSISTANT, (call,)))
            case "tool_result":
                value = entry.get("value")
                failed = entry.get("isError") is True or count(mapping(value).get("exitCode")) > 0
                name = string(entry.get("toolName")) or string(entry.get("toolId"))
                # What a tool printed; anything else that it returned as JSON.
                if is_object(value) and "stdout" in value:
                    printed = (string(value.get(name)) for name in ("stdout", "stderr"))
                    output = "\n".join(text for text in printed if text)
                else:
                    output = "" if value is None else as_json(value)
                result = ToolResult(_call_id(entry), (Text(output),), is_error=failed, name=name)
                yield self._told(record, Message(Role.TOOL, (result,)))
            case "completion":
                text = string(entry.get("finalText"))
                if text not in {"", self._words}:
                    yield self._told(record, Message(Role.ASSISTANT, (Text(text),)))
                if (usage := usage_in(mapping(entry.get("usage")), _STREAM_USAGE)) is not None:
                    self._spent += usage
                    yield MetadataUpdated(strand=MAIN, about=About(usage=self._spent))
            case "system" | "error":
                return
            case kind if string(entry.get("text")):
                yield Problem(record.line, f"a line of type {kind!r} is not known", record.file)
            case _:
                return

    def _begin(self, line: int, entry: JsonObject) -> Iterator[StrandStarted]:
        if self.has_begun:
            return
        self.has_begun = True
        self._model = string(entry.get("model"))
        about = About(
            id=session_of(entry),
            model=self._model,
            cwd=string(entry.get("cwd")),
            started=milliseconds(entry.get("timestamp")),
        )
        yield StrandStarted(strand=MAIN, line=line, about=about)

    def _message(self, record: SourceRecord, entry: JsonObject) -> Iterator[Event]:
        role, text = _ROLES.get(string(entry.get("role"))), string(entry.get("text"))
        if role is None:
            reason = f"a message of the role {entry.get('role')!r} is not known"
            yield Problem(record.line, reason, record.file)
        elif text:
            self._words = text if role is Role.ASSISTANT else ""
            yield self._told(record, Message(role, (Text(text),)))

    def _told(self, record: SourceRecord, message: Message) -> MessageEvent:
        entry = mapping(record.value)
        own = string(entry.get("id"))
        is_answer = message.role is Role.ASSISTANT
        return MessageEvent(
            strand=MAIN,
            line=record.line,
            key=self._keys.take(own, record.line),
            message=message,
            native=SourceMetadata(
                id=own,
                model=self._model if is_answer else "",
                at=milliseconds(entry.get("timestamp")),
            ),
        )


def _call_id(entry: JsonObject) -> str:
    return string(entry.get("toolCallId")) or string(entry.get("id"))


_HEADER = frozenset(["title", "cwd", "owner", "session"])
"""What a header has, and no other event of its type."""
_TOOLS = frozenset(["tool_use", "tool_result"])
_WEAK = 0.6
_NOTICE = "user_only"
_SETTINGS = frozenset(["providerLock", "apiProviderLock", "assistantActiveTimeMs", "autonomyMode"])
"""What settings have beside the tokens of a session."""
_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
_KNOWN = ("owner", "sessionTitle", "callingToolUseId", "forkedAtMessageId")
"""What else a header says that its own agent may want back."""


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Droid; None when they are not."""
    weak: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        if entry.get("type") == "session_start" and not _HEADER.isdisjoint(entry):
            return Sign("a header of type session_start")
        if is_stream_line(entry):
            return Sign(f"a line of type {entry['type']} of Droid's event stream")
        if _is_settings(entry):
            return Sign("Droid's settings of a session, which stand beside it")
        blocks = mappings(mapping(entry.get("message")).get("content"))
        if entry.get("type") == "message" and any(
            string(each.get("type")) in _TOOLS for each in blocks
        ):
            weak = weak or Sign("a line of type message with tools as Anthropic has them", _WEAK)
    return weak


def _is_settings(entry: JsonObject) -> bool:
    return "tokenUsage" in entry and not _SETTINGS.isdisjoint(entry)


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Droid."""
    shelf = _FolderReader()
    for record in records:
        yield from shelf.take(record)


class _FolderReader:
    """Reads one file after the other, each into a strand of its own."""

    def __init__(self) -> None:
        self._file: str | None = None
        self._desk = _FileReader()
        self._stream = DroidStreamReader()
        self._strand = ""
        self._begun: dict[str, str] = {}
        """The strands of files that have begun."""
        self._settings: dict[str, About] = {}
        self._taken: set[str] = set()

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one line."""
        entry = mapping(record.value)
        if _is_settings(entry):
            usage = usage_in(mapping(entry.get("tokenUsage")), _USAGE)
            name = _stem(record.file)
            about = About(model=string(entry.get("model")), usage=usage)
            self._settings[name] = about
            if name in self._begun and about != About():
                yield MetadataUpdated(strand=self._begun[name], about=about)
            return
        if record.file != self._file:
            self._desk, self._stream = _FileReader(), DroidStreamReader()
            self._file, self._strand = record.file, ""
        # Only the lines of a stream name their session, each of them.
        is_stream = bool(session_of(entry)) and not self._desk.has_begun
        desk = self._stream if self._stream.has_begun or is_stream else self._desk
        for event in desk.take(record):
            if isinstance(event, StrandStarted):
                # A beginning with what is known beside it, in a strand that has
                # no other.
                file = record.file
                if file:
                    own = event.about.id
                    self._strand = file if not own or own in self._taken else own
                    self._taken.add(self._strand)
                name = _stem(file)
                self._begun[name] = self._strand
                about = merged(event.about, self._settings.get(name, About()))
                yield prefixed(replace(event, about=about), self._strand)
            else:
                yield prefixed(event, self._strand)


def _stem(file: str) -> str:
    """Return what a session file and its settings are called, but for their endings."""
    return file.removesuffix(".settings.json").removesuffix(".jsonl")


class _FileReader:
    """Reads a session file line by line."""

    def __init__(self) -> None:
        self._keys = KeyAllocator()
        self._session: str | None = None
        self._last = ""
        """The id of the entry that was told last."""
        self._window = WindowTracker[str]()
        """What the model sees: ids of entries, and what they are called here."""

    @property
    def has_begun(self) -> bool:
        """Say whether anything was told."""
        return self._session is not None

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one line; of lines that come before the header, nothing is known."""
        entry = mapping(record.value)
        match entry.get("type"):
            case "session_start" if self._session is None:
                header = {**mapping(entry.get("session")), **entry}
                caller, origin = (
                    string(header.get("callingSessionId")),
                    string(header.get("parent")),
                )
                fork = Fork.BRANCH if origin else None
                about = About(
                    id=string(header.get("id")),
                    title=string(header.get("sessionTitle")) or string(header.get("title")),
                    cwd=string(header.get("cwd")),
                    version=string(header.get("version")),
                    started=milliseconds(header.get("timestamp")),
                    parent=caller or origin,
                    fork=Fork.DELEGATION if caller else fork,
                    more={key: found for key in _KNOWN if (found := string(header.get(key)))},
                )
                yield from self._begin(record.line, about)
            case "message":
                yield from self._begin(record.line, About())
                yield from self._message(record, entry)
            case "compaction_state":
                yield from self._begin(record.line, About())
                yield from self._compaction(record.line, entry)
            case _:
                return

    def _begin(self, line: int, about: About) -> Iterator[StrandStarted]:
        if self._session is None:
            self._session = about.id
            yield StrandStarted(strand=MAIN, line=line, about=about)

    def _compaction(self, line: int, entry: JsonObject) -> Iterator[Event]:
        summary = entry.get("summary")
        text = string(entry.get("summaryText")) or words(mapping(summary).get("body") or summary)
        if not text:
            return
        own, at = string(entry.get("id")), milliseconds(entry.get("timestamp"))
        key = self._keys.take(own, line)
        message = summarized(text, "droid")
        yield MessageEvent(
            strand=MAIN, line=line, key=key, message=message, native=SourceMetadata(id=own, at=at)
        )
        # What stays beside a summary: what came after the message that it speaks up to.
        anchor, seen = mapping(entry.get("anchorMessage")), self._window.entries
        name, index = string(anchor.get("id")), whole(anchor.get("index"))
        places = [place for place, (label, _) in enumerate(seen) if name and label == name]
        # Where as many were taken away as stand before it, the message itself stays.
        stays = index is not None and whole(entry.get("removedCount")) == index
        kept = seen[places[0] if stays else places[-1] + 1 :] if places else []
        shows = self._window.show([(own, key), *kept])
        yield CompactionEvent(strand=MAIN, line=line, id=f"{key}/fold", shows=shows, at=at)

    def _message(self, record: SourceRecord, entry: JsonObject) -> Iterator[Event]:
        said = mapping(entry.get("message"))
        if said.get("visibility") == _NOTICE:
            return
        content = said.get("content")
        thoughts: list[Thinking] = []
        text, sealed = (
            string(said.get("openaiReasoningSummary")),
            string(said.get("openaiEncryptedContent")),
        )
        if sealed:
            item = {"type": "reasoning", "id": string(said.get("openaiReasoningId"))}
            summary = [{"type": "summary_text", "text": text}] if text else []
            found = decoded("responses", {**item, "summary": summary, "encrypted_content": sealed})
            for message in () if isinstance(found, str) else found:
                thoughts.extend(part for part in message.parts if isinstance(part, Thinking))
        elif text := text or string(said.get("chatCompletionReasoningContent")):
            thoughts.append(Thinking(text))
        if content is None and thoughts:
            content = list[object]()
        found = decoded("anthropic", {"role": said.get("role"), "content": content})
        if not isinstance(found, str) and thoughts and said.get("role") == "assistant":
            first = found[0] if found else Message(Role.ASSISTANT)
            known = {each.text for each in thoughts}
            rest = (p for p in first.parts if not (isinstance(p, Thinking) and p.text in known))
            found = (structs.replace(first, parts=(*thoughts, *rest)), *found[1:])
        if isinstance(found, str):
            yield Problem(record.line, found, record.file)
            return
        own, parent = string(entry.get("id")), string(entry.get("parentId"))
        model = string(said.get("modelId")) or string(said.get("model"))
        for message in found:
            key = self._keys.take(own, record.line)
            self._window.add(own, key)
            yield MessageEvent(
                strand=MAIN,
                line=record.line,
                key=key,
                message=message,
                native=SourceMetadata(
                    id=own,
                    parent="" if parent in {self._last, self._session} else parent,
                    model=model if message.role is Role.ASSISTANT else "",
                    at=milliseconds(entry.get("timestamp")),
                ),
            )
            self._last = parent = own


DROID = SessionReader(
    format=Format("droid", "Droid (Factory) session or event stream", "anthropic", writable=False),
    recognize=recognize,
    read=read,
    spread=_stem,
)
