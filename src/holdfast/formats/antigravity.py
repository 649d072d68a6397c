"""Reads the transcripts of Antigravity's command line: one step of the agent a line.

Files show what the user asked (the request inside tags, what the harness added after it), what the
model planned, thought and called, and steps with what came of them. Calls have no id, and a step
does not say which call it answers: of those that wait, the oldest is meant whose tool makes such
steps. A step that no call asked for is a call and its result in one. A checkpoint is the agent's
summary of what went before; what stays beside it is not shown, so nothing is said to.

A conversation is a folder. It mostly has two transcripts: in one, the agent has cut long fields,
and says so, and has written arguments as JSON in JSON. The other one is whole, and is told alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.formats.content import summarized
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    mapping,
    mappings,
    milliseconds,
    parsed,
    sequence,
    string,
)
from holdfast.formats.reader import Format, KeyAllocator, SessionReader, Sign
from holdfast.transcript import Message, Part, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_REQUEST = re.compile(r"\A\s*<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>\s*", re.DOTALL)
_MODEL = re.compile(r"`Model Selection` from .{1,200}? to (.{1,200}?)\.?\s*(?:\n|</|\Z)")
_SILENT = frozenset(["CONVERSATION_HISTORY"])
_SPOKEN = frozenset(["USER_INPUT", "PLANNER_RESPONSE"])
_TOOLS = {
    "CODE_ACTION": ("replace_file_content", "write_to_file", "multi_replace_file_content"),
    "FIND": ("find_by_name",),
    "GREP_SEARCH": ("grep_search",),
    "INVOKE_SUBAGENT": ("invoke_subagent",),
    "LIST_DIRECTORY": ("list_dir",),
    "RUN_COMMAND": ("run_command",),
    "SEARCH_WEB": ("search_web",),
    "VIEW_FILE": ("view_file",),
}
"""The tools that make steps of a kind; any other tool makes steps of no kind of its own."""
_OWN = frozenset(tool for tools in _TOOLS.values() for tool in tools)


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Antigravity's command line; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        kind = string(entry.get("type"))
        if "step_index" in entry and kind and ("source" in entry or kind in _SPOKEN):
            return Sign(f"a step of type {kind}")
    return None


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Antigravity's command line."""
    conversation, copies = "", dict[str, _TranscriptCopy]()
    desks: dict[str, _TranscriptReader] = {}
    strands: list[str] = []
    for record in records:
        # The folder of a conversation from the path of its transcript, where it is known.
        match record.file.replace("\\", "/").split("/"):
            case [*_, name, ".system_generated", "logs", _]:
                own = name
            case _:
                own = ""
        if own != conversation:
            yield from _whole(copies.values())
            conversation, copies = own, {}
            strands.append(_strand(record.file, own, strands))
        if own:
            # Which of its files is whole is known when all were read.
            if record.file not in copies:
                copies[record.file] = _TranscriptCopy(strands[-1], own)
            copies[record.file].take(record)
            continue
        if record.file not in desks:
            desks[record.file] = _TranscriptReader(record.file or MAIN)
        yield from desks[record.file].take(record)
    yield from _whole(copies.values())


def _strand(file: str, own: str, taken: Sequence[str]) -> str:
    """Return a name for a conversation: its own, unless one that lies elsewhere has it."""
    names = (own, file.rpartition("/")[0], *(f"{file}#{n}" for n in range(len(taken) + 1)))
    return next(name for name in names if name not in taken)


class _TranscriptCopy:
    """What one transcript of a conversation tells, and how often the agent cut it."""

    def __init__(self, strand: str, own: str) -> None:
        self.events: list[Event] = []
        self.cuts = 0
        self._desk = _TranscriptReader(strand, own)

    def take(self, record: SourceRecord) -> None:
        self.cuts += "truncated_fields" in mapping(record.value)
        self.events += self._desk.take(record)


def _whole(copies: Iterable[_TranscriptCopy]) -> Iterator[Event]:
    """Return what the transcript tells of which the agent cut the least."""
    found = min(copies, key=lambda copy: (copy.cuts, -len(copy.events)), default=None)
    return iter(() if found is None else found.events)


def _folder(file: str) -> str:
    """Return the folder of a conversation, or the file where it lies in none."""
    folder, inside, _ = file.replace("\\", "/").partition("/.system_generated/")
    return folder if inside else file


class _TranscriptReader:
    """Reads one step after the other, and knows which calls wait for a result."""

    def __init__(self, strand: str, own: str = "") -> None:
        self._strand = strand
        self._own = own
        self._keys = KeyAllocator()
        self._is_new = True
        self._waiting: list[ToolCall] = []
        self._model = ""

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one step."""
        step = mapping(record.value)
        if self._is_new:
            self._is_new = False
            about = About(id=self._own, started=milliseconds(step.get("created_at")))
            yield StrandStarted(strand=self._strand, line=record.line, about=about)
        kind, content = string(step.get("type")), string(step.get("content"))
        match kind:
            case "USER_INPUT":
                yield from self._asked(record, content)
            case "PLANNER_RESPONSE":
                yield from self._told(record, Role.ASSISTANT, self._planned(record.line, step))
            case "CHECKPOINT":
                if not content:
                    return
                self._waiting.clear()
                native = self._native(record, Role.USER)
                key = self._key(record)
                message = summarized(content, "antigravity")
                yield MessageEvent(
                    strand=self._strand, line=record.line, key=key, message=message, native=native
                )
                fold = f"{key}/fold"
                yield CompactionEvent(
                    strand=self._strand, line=record.line, id=fold, shows=(key,), at=native.at
                )
            case _ if not content or kind in _SILENT:
                return
            case _ if step.get("source") == "SYSTEM":
                yield from self._told(record, Role.USER, [Text(content)])
            case _:
                # The call that a step answers, which waits no more.
                tools = _TOOLS.get(kind, ())
                named = [call for call in self._waiting if call.name in tools]
                others = [call for call in self._waiting if call.name not in _OWN]
                found = next(iter(named or others), None)
                if found is not None:
                    self._waiting.remove(found)
                call = found
                if call is None:
                    call = ToolCall(f"#{record.line}", kind.lower())
                    yield from self._told(record, Role.ASSISTANT, [call])
                failed = mapping(record.value).get("status") == "ERROR"
                result = ToolResult(call.id, (Text(content),), is_error=failed, name=call.name)
                yield from self._told(record, Role.TOOL, [result])

    def _asked(self, record: SourceRecord, content: str) -> Iterator[Event]:
        # A call that got no result until the user speaks again never gets one.
        self._waiting.clear()
        if chosen := _MODEL.search(content):
            self._model = chosen[1]
            yield MetadataUpdated(strand=self._strand, about=About(model=self._model))
        found = _REQUEST.match(content)
        texts = [content] if found is None else [found[1], content[found.end() :]]
        yield from self._told(record, Role.USER, [Text(text) for text in texts if text.strip()])

    def _planned(self, line: int, step: JsonObject) -> Sequence[Part]:
        parts: list[Part] = []
        if thoughts := string(step.get("thinking")):
            parts.append(Thinking(thoughts))
        if content := string(step.get("content")):
            parts.append(Text(content))
        calls = [
            ToolCall(f"#{line}.{place}", string(call.get("name")), _arguments(call.get("args")))
            for place, call in enumerate(mappings(step.get("tool_calls")))
        ]
        self._waiting += calls
        return [*parts, *calls]

    def _told(
        self, record: SourceRecord, role: Role, parts: Sequence[Part]
    ) -> Iterator[MessageEvent]:
        if parts:
            yield MessageEvent(
                strand=self._strand,
                line=record.line,
                key=self._key(record),
                message=Message(role, tuple(parts)),
                native=self._native(record, role),
            )

    def _key(self, record: SourceRecord) -> str:
        key = self._keys.take("", record.line)
        return key if self._strand == MAIN else f"{self._strand}/{key}"

    def _native(self, record: SourceRecord, role: Role) -> SourceMetadata:
        step = mapping(record.value)
        index = step.get("step_index")
        cut = [string(name) for name in sequence(step.get("truncated_fields"))]
        return SourceMetadata(
            id=str(index) if isinstance(index, int) else "",
            model=self._model if role is Role.ASSISTANT else "",
            at=milliseconds(step.get("created_at")),
            more={"truncated_fields": cut} if cut else {},
        )


def _arguments(args: object) -> str:
    """Return arguments as JSON; where each is JSON in a text, as that."""
    texts = [value for value in mapping(args).values() if isinstance(value, str)]
    values = {name: parsed(value) for name, value in mapping(args).items()}
    if not texts or len(texts) < len(values) or None in values.values():
        return as_json(args)
    return as_json(values)


ANTIGRAVITY = SessionReader(
    format=Format("antigravity", "Antigravity CLI transcript, JSONL", "gemini", writable=False),
    recognize=recognize,
    read=read,
    spread=_folder,
)
