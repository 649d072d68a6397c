"""Reads the sessions of Kimi Code, and of the Kimi CLI that came before it, each a folder of files.

Kimi Code writes a journal `wire.jsonl` for each agent of a session. Kimi CLI kept `context.jsonl`
for each, laid it aside under a number when it compacted or went back, and kept beside it a
`wire.jsonl` of what was on the screen. What else is known of a session stands in files beside these
and may come last, so it is noted then. The files of a session come together, and its conversation
before what was on the screen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import md5
from re import fullmatch
from typing import TYPE_CHECKING

from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    MetadataUpdated,
    Problem,
    SourceMetadata,
    StrandStarted,
    prefixed,
)
from holdfast.formats.json_access import (
    JsonObject,
    is_array,
    is_object,
    mapping,
    mappings,
    milliseconds,
    string,
    usage_in,
)
from holdfast.formats.kimi.journal import MARKS, JournalReader, call_made, content_of, shown_of
from holdfast.formats.reader import LIKELY, SURE, Format, KeyAllocator, SessionReader, Sign
from holdfast.formats.replay import merged
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord

_USAGE = ("input_other", "output", "input_cache_read", "input_cache_creation")


def is_shown(entry: JsonObject) -> bool:
    """Say whether a line tells of something on the screen."""
    if "timestamp" not in entry:
        return False
    event = mapping(entry.get("message"))
    return isinstance(event.get("type"), str) and is_object(event.get("payload"))


class ScreenReader:
    """Reads a file of screen events line by line."""

    def __init__(self) -> None:
        """Start empty."""
        self.usage: Usage | None = None
        """What the steps of its own agent cost so far."""
        self._keys = KeyAllocator()
        self._lanes: dict[str, _Lane] = {}

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one line."""
        event = mapping(mapping(record.value).get("message"))
        yield from self._event(record, event, MAIN)

    def close(self) -> Iterator[Event]:
        """Yield a call of which more might have come."""
        for lane in self._lanes.values():
            yield from lane.flush()

    def _event(self, record: SourceRecord, event: JsonObject, lane: str) -> Iterator[Event]:
        payload = mapping(event.get("payload"))
        kind = string(event.get("type"))
        if kind == "StatusUpdate" and lane == MAIN:
            spent = usage_in(mapping(payload.get("token_usage")), _USAGE)
            self.usage = spent if self.usage is None else self.usage + (spent or Usage())
        if kind == "SubagentEvent":
            inner = mapping(payload.get("event"))
            names = ("agent_id", "parent_tool_call_id", "task_tool_call_id")
            child = next((name for key in names if (name := string(payload.get(key)))), "")
            yield from self._event(record, inner, f"{lane}/{child}" if child else lane)
            return
        if lane not in self._lanes:
            self._lanes[lane] = _Lane(lane, self._keys)
        of = MAIN if lane and MAIN in self._lanes and self._lanes[MAIN].has_begun else None
        yield from self._lanes[lane].take(record, kind, payload, of)


class _Lane:
    """The events of one agent."""

    def __init__(self, name: str, keys: KeyAllocator) -> None:
        self.has_begun = False
        self._name = name
        self._keys = keys
        self._reply = ""
        self._call: tuple[SourceRecord, ToolCall] | None = None
        """A call whose arguments may still go on."""

    def take(
        self, record: SourceRecord, kind: str, payload: JsonObject, of: str | None
    ) -> Iterator[Event]:
        """Yield an event, and the session before the first that says something."""
        if kind == "ToolCallPart" and self._call is not None:
            made, call = self._call
            more = call.arguments + string(payload.get("arguments_part"))
            self._call = (made, ToolCall(call.id, call.name, more))
            return
        yield from self.flush()
        if kind == "StepBegin":
            self._reply = f"{self._name}step{record.line}"
            return
        match kind:
            case "TurnBegin" | "SteerInput":
                message = Message(Role.USER, shown_of(payload.get("user_input")))
            case "ContentPart" | "TextPart" | "ThinkPart":
                message = Message(Role.ASSISTANT, tuple(content_of([payload])))
            case "ToolCall":
                message = Message(Role.ASSISTANT, (call_made(payload),))
            case "ToolResult":
                value = mapping(payload.get("return_value")) or mapping(payload.get("result"))
                note = string(value.get("message"))
                said = shown_of(value.get("output"))
                failed = value.get("is_error") is True
                content = (*said, *([Text(note)] if note else []))
                result = ToolResult(string(payload.get("tool_call_id")), content, is_error=failed)
                message = Message(Role.TOOL, (result,))
            case _:
                message = None
        if message is None or not message.parts:
            return
        if not self.has_begun:
            self.has_begun = True
            started = milliseconds(mapping(record.value).get("timestamp"))
            fork = Fork.DELEGATION if of is not None else None
            about = About(started=started)
            yield StrandStarted(strand=self._name, line=record.line, about=about, of=of, fork=fork)
        if kind == "ToolCall":
            self._call = (record, message.calls[0])
        else:
            yield self._told(record, message)

    def flush(self) -> Iterator[Event]:
        """Yield the call that was waiting."""
        if self._call is not None:
            record, call = self._call
            self._call = None
            yield self._told(record, Message(Role.ASSISTANT, (call,)))

    def _told(self, record: SourceRecord, message: Message) -> MessageEvent:
        native = SourceMetadata(
            reply=self._reply if message.role is Role.ASSISTANT else "",
            at=milliseconds(mapping(record.value).get("timestamp")),
        )
        key = self._keys.take("", record.line)
        return MessageEvent(
            strand=self._name, line=record.line, key=key, message=message, native=native
        )


MAIN_AGENT = "main"
_UNTITLED = frozenset(["New Session", "Untitled"])
_CLI_STATE = frozenset(["custom_title", "title_generated"])


@dataclass(frozen=True, slots=True)
class JournalPlace:
    """The session and the agent that a file belongs to, by its path."""

    folder: str
    """The folder of its session."""
    agent: str
    """Whose it is in the session: its own agent's, a sub-agent's, or a part that was laid aside."""
    about: About
    """What the path says."""


def place_of(file: str) -> JournalPlace:
    """Return what the path of a file says about it, where it is known."""
    match file.replace("\\", "/").split("/"):
        case [*above, session, "agents" | "subagents", agent, _]:
            folder = "/".join([*above, session])
            if agent == MAIN_AGENT:
                return JournalPlace(folder, agent, About(id=session))
            about = About(id=f"{session}/{agent}", parent=session, fork=Fork.DELEGATION)
            return JournalPlace(folder, agent, about)
        case [*above, session, "context.jsonl" | "wire.jsonl" | "state.json" | "metadata.json"]:
            return JournalPlace("/".join([*above, session]), MAIN_AGENT, About(id=session))
        case [*above, session, name] if aside := fullmatch(
            r"(context(_sub)?(?:_\d+)?)\.jsonl", name
        ):
            fork = Fork.DELEGATION if aside[2] else Fork.BRANCH
            about = About(id=f"{session}/{aside[1]}", parent=session, fork=fork)
            return JournalPlace("/".join([*above, session]), aside[1], about)
        case [*_, "sessions", _, name] if name.endswith(".jsonl"):
            return JournalPlace(file, MAIN_AGENT, About(id=name.removesuffix(".jsonl")))
        case _:
            return JournalPlace(file, MAIN_AGENT, About())


def unit_of(file: str) -> str:
    """Return the folder of a session; "" for Kimi CLI, which lists folders beside them all."""
    folder = place_of(file).folder
    above = folder.rpartition("/")[0].rpartition("/")[2]
    is_old = fullmatch(r"[0-9a-f]{32}", above) or file.endswith("/kimi.json")
    return "" if is_old else folder


def is_state(entry: JsonObject) -> bool:
    """Say whether a file says what is known of a session."""
    is_own = is_object(entry.get("agents")) and not {"workDir", "cwd"}.isdisjoint(entry)
    return (is_own and "createdAt" in entry) or not _CLI_STATE.isdisjoint(entry)


def is_homes(entry: JsonObject) -> bool:
    """Say whether a file lists working directories."""
    return is_array(entry.get("work_dirs"))


def homes_in(entry: JsonObject) -> dict[str, str]:
    """Return working directories by the names of the folders that hold their sessions."""
    paths = (string(each.get("path")) for each in mappings(entry.get("work_dirs")))
    return {md5(path.encode(), usedforsecurity=False).hexdigest(): path for path in paths if path}


def stated(state: JsonObject, place: JournalPlace) -> About:
    """Return what a state says about one agent of its session."""
    custom = string(mapping(state.get("custom")).get("cwd"))
    cwd = string(state.get("workDir")) or string(state.get("cwd")) or custom
    if place.agent != MAIN_AGENT:
        session = place.about.id.removesuffix(f"/{place.agent}")
        known = mapping(mapping(state.get("agents")).get(place.agent))
        above = string(known.get("parentAgentId"))
        parent = "" if above in {"", MAIN_AGENT} else f"{session}/{above}"
        return About(cwd=cwd, parent=parent, fork=Fork.DELEGATION if parent else None)
    title = string(state.get("custom_title")) or string(state.get("title"))
    origin = string(state.get("forkedFrom"))
    return About(
        title="" if title in _UNTITLED else title,
        cwd=cwd,
        parent=origin,
        fork=Fork.BRANCH if origin else None,
    )


_SHOWN = frozenset(["TurnBegin", "StepBegin", "StatusUpdate", "ContentPart", "ToolResult"])


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Kimi; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if entry.get("type") == "metadata" and isinstance(entry.get("protocol_version"), str):
            reason = "a journal with a protocol_version"
            return Sign(reason, SURE if "created_at" in entry else LIKELY)
        if string(entry.get("type")).startswith("context.append_"):
            return Sign(f"a line of type {entry['type']}")
        if string(entry.get("role")) in MARKS:
            return Sign(f"a line of role {entry['role']}")
        if is_state(entry):
            return Sign("what Kimi knows about a session, beside its journals", LIKELY)
        if is_homes(entry):
            return Sign("where Kimi's sessions took place", LIKELY)
        if is_shown(entry) and mapping(entry["message"]).get("type") in _SHOWN:
            return Sign("what Kimi showed on its screen", LIKELY)
    return None


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Kimi."""
    shelf = _FolderReader()
    for record in records:
        yield from shelf.take(record)
    yield from shelf.close()


class _FolderReader:
    """Reads one file after the other, each into a strand of its own."""

    def __init__(self) -> None:
        self._file: str | None = None
        self._desk = _FileReader(place_of(""), MAIN, is_shown=True)
        self._known: dict[str, JsonObject] = {}
        """What is known of sessions, by their folders."""
        self._homes: dict[str, str] = {}
        self._begun: dict[str, list[tuple[JournalPlace, str]]] = {}
        """What has begun in each folder, and in which strand."""
        self._taken: set[str] = set()
        """The strands that have begun."""
        self._silent: set[str] = set()
        """Those that the file at hand tells once more."""

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one line."""
        entry = mapping(record.value)
        # A line of a journal has a type, and most lines are of journals.
        is_beside = "type" not in entry
        if is_beside and is_homes(entry):
            self._homes |= homes_in(entry)
        elif is_beside and is_state(entry):
            folder = place_of(record.file).folder
            self._known[folder] = entry
            for place, strand in self._begun.get(folder, ()):
                if (about := stated(entry, place)) != About():
                    yield MetadataUpdated(strand=strand, about=about)
        else:
            if record.file != self._file:
                yield from self.close()
                file = record.file
                place = place_of(file)
                begun = self._begun.get(place.folder, ())
                is_new = all(known.agent != place.agent for known, _ in begun)
                strand = place.about.id or file
                own = strand if is_new and strand not in self._taken else file
                self._desk = _FileReader(place, own, is_shown=is_new)
                self._file = file
                self._silent = set()
            yield from self._heard(self._desk.take(record))

    def close(self) -> Iterator[Event]:
        """Yield what was waiting for the end of a file."""
        yield from self._heard(self._desk.close())
        usage, place = self._desk.usage, self._desk.place
        for known, strand in self._begun.get(place.folder, ()) if usage is not None else ():
            if known.agent == place.agent:
                yield MetadataUpdated(strand=strand, about=About(usage=usage))

    def _heard(self, events: Iterable[Event]) -> Iterator[Event]:
        for event in events:
            strand = "" if isinstance(event, Problem) else event.strand
            if isinstance(event, MessageEvent) and not self._silent:
                yield event
            elif isinstance(event, StrandStarted) and strand in self._taken:
                self._silent.add(strand)
            elif strand in self._silent:
                continue
            elif isinstance(event, StrandStarted):
                self._taken.add(strand)
                place = self._desk.place
                if event.strand == self._desk.strand:
                    self._begun.setdefault(place.folder, []).append((place, event.strand))
                    known = stated(self._known.get(place.folder, {}), place)
                    home = self._homes.get(place.folder.rpartition("/")[0].rpartition("/")[2], "")
                    event = replace(
                        event, about=merged(merged(About(cwd=home), event.about), known)
                    )
                yield event
            else:
                yield event


class _FileReader:
    """Reads one file, whichever it is."""

    def __init__(self, place: JournalPlace, strand: str, *, is_shown: bool) -> None:
        self.place = place
        self.strand = strand
        self._is_shown = is_shown
        """Whether what was on the screen is told."""
        self._journal = JournalReader()
        self._screen = ScreenReader()

    @property
    def usage(self) -> Usage | None:
        """Return what the screen says that the session cost."""
        return self._screen.usage

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one line."""
        if not is_shown(mapping(record.value)):
            for event in self._journal.take(record):
                yield self._named(event)
            return
        events = self._screen.take(record)
        yield from (self._named(event) for event in events if self._is_shown)

    def close(self) -> Iterator[Event]:
        """Yield what was waiting for the end of the file."""
        yield from map(self._named, self._journal.close())
        events = self._screen.close()
        yield from (self._named(event) for event in events if self._is_shown)

    def _named(self, event: Event) -> Event:
        """Give an event the names that it has among those of other files."""
        if isinstance(event, StrandStarted):
            known = About(id=self.strand + event.strand) if event.strand else self.place.about
            if event.strand and event.of is None:
                known = replace(known, parent=self.place.about.id, fork=Fork.DELEGATION)
            event = replace(event, about=merged(event.about, known))
        return prefixed(event, self.strand)


KIMI = SessionReader(
    format=Format("kimi", "Kimi Code or Kimi CLI session, a folder", "openai", writable=False),
    recognize=recognize,
    read=read,
    spread=unit_of,
)
