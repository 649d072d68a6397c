"""Tells a session of opencode, whether its records came from files or from its database.

A message of the user is told whole, an answer part by part, as the agent writes it. A step of the
model begins at a mark among the parts, and what it cost stands at its end. While an answer is still
being written, it is told up to its first part that may still change. A compaction is a request of
the user and an answer marked as a summary; the model then sees the summary, and what the request
says is kept. A session that the user took back names the message that it was taken back to.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import dropwhile
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.content import contents, summarized
from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
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
    string,
    usage_in,
)
from holdfast.formats.reader import KeyAllocator, parents_first
from holdfast.formats.window_tracking import WindowTracker
from holdfast.session import Fork, Usage
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.transcript import Content, Part

KINDS = frozenset(
    "text reasoning tool file step-start step-finish patch snapshot agent subtask retry "
    "compaction".split()
)
"""Every kind of part that the agent writes."""
_DONE = frozenset(["completed", "success", "error"])
_NAMES = ("input", "output", "read", "write")


def said(parts: Iterable[JsonObject]) -> tuple[Part, ...]:
    """Return what a message of the user says: words, files, and tasks for a sub-agent."""
    found: list[Part] = []
    for part in parts:
        match part.get("type"):
            case "text" if text := string(part.get("text")):
                found.append(Text(text))
            case "subtask" if text := string(part.get("prompt")):
                found.append(Text(text))
            case "file":
                found += _file(part)
            case _:
                continue
    return tuple(found)


def words_of(parts: Iterable[JsonObject]) -> str:
    """Return the words of a message."""
    return "\n\n".join(part.text for part in said(parts) if isinstance(part, Text))


def is_settled(part: JsonObject) -> bool:
    """Say whether a part will not change any more, though its message is not finished."""
    if part.get("type") == "tool":
        return string(mapping(part.get("state")).get("status")) in _DONE
    return "end" in mapping(part.get("time")) or "time" not in part


def pieces(part: JsonObject) -> Iterator[tuple[str, int | None, Message]]:
    """Return the messages of one part of an answer, with an ending for their names and a time."""
    at = milliseconds(mapping(part.get("time")).get("start"))
    match part.get("type"):
        case "text" if text := string(part.get("text")):
            yield "", at, Message(Role.ASSISTANT, (Text(text),))
        case "reasoning" if text := string(part.get("text")):
            yield "", at, Message(Role.ASSISTANT, (Thinking(text),))
        case "file" if media := tuple(_file(part)):
            yield "", at, Message(Role.ASSISTANT, media)
        case "tool":
            state = mapping(part.get("state"))
            time = mapping(state.get("time"))
            call_id, name = string(part.get("callID")), string(part.get("tool"))
            call = ToolCall(call_id, name, as_json(state.get("input")))
            yield "", milliseconds(time.get("start")), Message(Role.ASSISTANT, (call,))
            status = string(state.get("status"))
            if status not in _DONE:
                return
            failed = status == "error"
            text = string(state.get("error")) if failed else string(state.get("output"))
            attached = [
                media for each in mappings(state.get("attachments")) for media in _file(each)
            ]
            content: tuple[Content, ...] = (Text(text), *attached)
            result = ToolResult(call_id, content, is_error=failed, name=name)
            yield "/result", milliseconds(time.get("end")), Message(Role.TOOL, (result,))
        case _:
            return


def usage_of(fields: JsonObject) -> Usage | None:
    """Return what a step or a message cost."""
    tokens = mapping(fields.get("tokens"))
    cached = mapping(tokens.get("cache"))
    output = count(tokens.get("output")) + count(tokens.get("reasoning"))
    counts = {"input": tokens.get("input"), "output": output, **cached}
    return usage_in(counts, _NAMES, fields.get("cost"))


def _file(part: JsonObject) -> Iterator[Media]:
    kind = string(part.get("mime"))
    found = contents([{"url": part.get("url"), "mimeType": kind}])
    media = (each for each in found if isinstance(each, Media))
    if kind.startswith("image/"):
        yield from media
    else:
        yield from (replace(each, kind="file", media_type=kind) for each in media)


_SAVED = ("projectID", "slug")
_SPEECH = frozenset(["text", "reasoning"])


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message and its parts, in their order."""

    fields: JsonObject
    """What the agent wrote about it."""
    parts: Sequence[JsonObject]

    @property
    def id(self) -> str:
        """Return what the agent calls the message."""
        return string(self.fields.get("id"))

    @property
    def is_finished(self) -> bool:
        """Say whether nothing will be added to the message.

        The agent counts tokens from the first moment on; what has no count was not written live.
        """
        ends = (mapping(self.fields.get("time")).get("completed"), self.fields.get("finish"))
        return any(ends) or bool(self.fields.get("error")) or "tokens" not in self.fields

    @property
    def is_summary(self) -> bool:
        """Say whether the message stands for what went before it."""
        is_whole = self.is_finished and not self.fields.get("error")
        return self.fields.get("summary") is True and is_whole

    @property
    def at(self) -> int | None:
        """Return when the message was begun."""
        return milliseconds(mapping(self.fields.get("time")).get("created"))

    @property
    def model(self) -> str:
        """Return the model that wrote the message, or was asked."""
        own = string(self.fields.get("modelID"))
        return own or string(mapping(self.fields.get("model")).get("modelID"))


def session_events(
    session: JsonObject, entries: Sequence[StoredMessage], keys: KeyAllocator
) -> Iterator[Event]:
    """Yield the events of one session, its messages being in their order."""
    parent = string(session.get("parentID"))
    known = About(
        id=string(session.get("id")),
        title=string(session.get("title")),
        cwd=string(session.get("directory")),
        version=string(session.get("version")),
        started=milliseconds(mapping(session.get("time")).get("created")),
        parent=parent,
        fork=Fork.DELEGATION if parent else None,
        more={key: found for key in _SAVED if (found := string(session.get(key)))},
    )
    desk = _SessionReader(known.id, keys)
    yield StrandStarted(strand=known.id, line=1, about=known)
    for place, entry in enumerate(entries):
        yield from desk.take(entry, is_newest=place + 1 == len(entries))
    yield from desk.rewind(string(mapping(session.get("revert")).get("messageID")), entries)


def callers_first(sessions: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Return sessions in their order, save that one goes before those that work for it."""
    named = {string(session.get("id")): session for session in sessions}
    parents = {own: string(session.get("parentID")) for own, session in named.items()}
    return (named[own] for own in parents_first(parents))


class _SessionReader:
    """Follows one session, and what its model sees."""

    def __init__(self, strand: str, keys: KeyAllocator) -> None:
        self._strand = strand
        self._keys = keys
        self._window = WindowTracker[str]()
        """The names of what the model sees, each with the message that it belongs to."""
        self._asked: dict[str, JsonObject] = {}
        """The compactions that were asked for, by the message that did."""

    def take(self, entry: StoredMessage, *, is_newest: bool) -> Iterator[Event]:
        """Yield a message."""
        for part in entry.parts:
            if part.get("type") == "compaction":
                self._asked[entry.id] = part
        if entry.is_summary and (text := words_of(entry.parts)):
            yield from self._fold(entry, text)
        elif entry.fields.get("role") == "assistant":
            is_open = is_newest and not entry.is_finished
            # What each step cost, by its name; what an answer without steps cost, by its own.
            by_step = {
                step: usage_of(part)
                for step, part in zip(_steps(entry), entry.parts, strict=True)
                if part.get("type") == "step-finish"
            }
            costs = by_step or {entry.id: usage_of(entry.fields)}
            for place, (reply, part) in enumerate(zip(_steps(entry), entry.parts, strict=True)):
                if is_open and not is_settled(part):
                    return
                own = string(part.get("id")) or f"{entry.id}/{place}"
                for suffix, at, message in pieces(part):
                    is_answer = message.role is Role.ASSISTANT
                    native = SourceMetadata(
                        id=own,
                        reply=reply if is_answer else "",
                        model=entry.model if is_answer else "",
                        usage=costs.pop(reply, None),
                        at=at or entry.at,
                    )
                    yield self._told(entry, f"{own}{suffix}", message, native)
        elif parts := said(entry.parts):
            message = Message(Role.USER, parts)
            yield self._told(entry, entry.id, message, SourceMetadata(id=entry.id, at=entry.at))

    def rewind(self, message: str, entries: Sequence[StoredMessage]) -> Iterator[Event]:
        """Yield the rewind of a session to before a message."""
        order = {entry.id: place for place, entry in enumerate(entries)}
        if message in order:
            end = order[message]
            shows = self._window.keep(lambda own: order[own] < end)
            yield RewindEvent(strand=self._strand, line=1, shows=shows)

    def _told(
        self, entry: StoredMessage, key: str, message: Message, native: SourceMetadata
    ) -> MessageEvent:
        key = self._keys.take(key, len(self._window.entries))
        self._window.add(entry.id, key)
        return MessageEvent(strand=self._strand, line=1, key=key, message=message, native=native)

    def _fold(self, entry: StoredMessage, text: str) -> Iterator[Event]:
        request = string(entry.fields.get("parentID"))
        asked = self._asked.get(request, {})
        tail = string(asked.get("tail_start_id"))
        kept = [*dropwhile(lambda seen: seen[0] != tail, self._window.entries)]
        self._window.show(())
        usage = usage_of(entry.fields)
        native = SourceMetadata(id=entry.id, model=entry.model, usage=usage, at=entry.at)
        told = self._told(entry, entry.id, summarized(text, "opencode"), native)
        yield told
        shows = self._window.show((*self._window.entries, *kept))
        is_automatic = asked.get("auto")
        named = "auto" if is_automatic else "manual"
        yield CompactionEvent(
            strand=self._strand,
            line=1,
            id=f"{told.key}/fold",
            shows=shows,
            at=entry.at,
            trigger=named if isinstance(is_automatic, bool) else "",
        )


def _steps(entry: StoredMessage) -> Iterator[str]:
    """Return the name of the step that each part belongs to.

    Without marks among the parts, a step ends where the model speaks after a tool answered.
    """
    is_marked = any(part.get("type") == "step-start" for part in entry.parts)
    step, has_answer = entry.id, False
    for place, part in enumerate(entry.parts):
        kind = string(part.get("type"))
        if kind == "step-start" or (has_answer and not is_marked and kind in _SPEECH):
            step, has_answer = f"{entry.id}/{place}", False
        has_answer = has_answer or kind == "tool"
        yield step
