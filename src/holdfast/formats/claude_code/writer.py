"""Writes sessions as Claude Code does, so that it can resume them.

One block of an answer a line, parents that stand before their children, a boundary and a summary
for each compaction, sub-agents as side chains. To resume, the program walks from the newest line
up to a boundary; so the walk meets what the model sees, and nothing else: messages that a
compaction left are written again below its boundary, as copies that our reader does not tell.

What the format has no word for stands under a key that its program skips, and our reader honors
it: what a compaction shows, and which lines are copies; a branch that no user's words begin; a
system prompt.

What it cannot say: that a user took something back in the same strand (it reads as a branch), an
answer told whole (it reads in pieces), reasoning signed by another provider, several
conversations in one file, blank text beside a picture. A message has a time, an answer a model
and a compaction a trigger, whether the session knows them or not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.formats.claude_code.chains import LineChain, LineChains, LineStamps, WrittenLine
from holdfast.formats.claude_code.lines import ABOUT, KEPT, MARK, PROMPT, QUEUED
from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.json_access import JsonObject, mapping
from holdfast.formats.reader import folds, is_uuid, with_lone_summaries
from holdfast.formats.replay import merged
from holdfast.session import Usage
from holdfast.transcript import Message, Role, ToolCall, ToolResult
from holdfast.wire.anthropic.codec import NAME, write_block, write_media, write_result
from holdfast.wire.common import Identities
from holdfast.wire.markers import write as marked
from holdfast.wire.message_text import as_string, marked_texts, portable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.events import Event

_CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary:\n\n"
)
"""How Claude Code begins a summary, and how its summaries are known."""
_LEFT_OUT = "Earlier messages were left out here."
"""What the program reads below a boundary that no summary belongs to."""

_Fields: TypeAlias = "dict[str, object]"


@dataclass(frozen=True, slots=True)
class LineContent:
    """The content of one line."""

    content: object
    call: str = ""
    """The id of the call in it, as the session has it."""
    answers: str = ""
    """The id of the call that it answers."""


class ContentWriter:
    """Writes content; call ids become what the API accepts, the same for a call and its result."""

    def __init__(self) -> None:
        """Start with no call."""
        self._identities = Identities()

    def of(self, message: Message) -> list[LineContent]:
        """Return the lines of a message; empty when none of it can be said.

        Reasoning that another provider signed is left out, as everywhere on this wire.
        """
        parts = portable(message, NAME)
        if message.role is Role.ASSISTANT:
            return [
                LineContent(
                    [write_block(part, self._identities)],
                    call=part.id if isinstance(part, ToolCall) else "",
                )
                for part in marked_texts(message, parts)
            ]
        pieces: list[LineContent] = []
        for result in parts:
            if isinstance(result, ToolResult):
                said = portable(Message(Role.TOOL, result.content), NAME)
                block = write_result(result, said, self._identities)
                pieces.append(LineContent([block], answers=result.call_id))
        rest = tuple(part for part in parts if not isinstance(part, ToolResult))
        if rest:
            string = as_string(message, rest, NAME)
            media = [write_media(part) for part in marked_texts(message, rest)]
            pieces.append(LineContent(media if string is None else string))
        return pieces


def compaction(event: CompactionEvent | RewindEvent) -> _Fields:
    """Return what a boundary says about a compaction."""
    # Where nobody says, a person asked for it: that is how a file comes to be compacted here.
    about: _Fields = {"trigger": "manual", "preTokens": 0}
    if isinstance(event, CompactionEvent):
        known = {
            "trigger": event.trigger,
            "preTokens": event.tokens_before,
            "postTokens": event.tokens_after,
        }
        about |= {key: value for key, value in known.items() if value}
    return {"compactMetadata": about}


def summed(held: MessageEvent | None) -> _Fields:
    """Return what the line of a summary says; without one, that something is missing."""
    summary = None if held is None else held.message.summary
    if summary is None:
        text = _LEFT_OUT
    elif summary.origin == "claude-code":
        text = f"{_CONTINUED}{summary.text}"
    else:
        text = marked(summary, closed=True)
    line: _Fields = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "isVisibleInTranscriptOnly": True,
        "isCompactSummary": True,
    }
    return line | {MARK: {"told": False}} if summary is None else line


def counts(usage: Usage) -> _Fields:
    """Return what an answer cost, as the API writes it."""
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
    }


def kept(more: JsonObject) -> _Fields:
    """Return the small fields of a line; a session id only where it is one."""
    fields = {key: more[key] for key in KEPT if key in more}
    if not is_uuid(str(fields.get("sessionId"))):
        fields.pop("sessionId", None)
    return fields


def said(told: MessageEvent, content: object, reply: _Fields) -> _Fields:
    """Return what a line says, in the shape of its kind."""
    if told.message.role is Role.ASSISTANT:
        return {"type": "assistant", "message": {**reply, "content": content}}
    if told.message.role is Role.SYSTEM:
        text = told.message.text
        return {"type": "system", "subtype": PROMPT, "content": text, "level": "info"}
    mode = told.native.more.get(QUEUED)
    if mode is not None:
        queued = {"type": "queued_command", "prompt": content, "commandMode": mode}
        return {"type": "attachment", "attachment": queued}
    return {"type": "user", "message": {"role": "user", "content": content}}


def write(events: Iterable[Event]) -> Iterator[str]:
    """Return the lines of a session file; the same events give the same lines."""
    desk = _Writer()
    for event in with_lone_summaries(events):
        yield from map(_dumped, desk.take(event))
    yield from map(_dumped, desk.end())


def _dumped(line: JsonObject) -> str:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair is no text in UTF-8.
        return json.dumps(line, separators=(",", ":"))
    return text


class _Writer:
    """Writes one session."""

    def __init__(self) -> None:
        self._about = About()
        self._stamps = LineStamps()
        self._threads = LineChains()
        self._contents = ContentWriter()
        self._title = ""
        """The title that was written last."""
        self._models: dict[str, str] = {}
        """The model of each answer."""
        self._held: MessageEvent | None = None
        """A summary, until it is known whether it is a compaction's: the boundary goes first."""

    def take(self, event: Event) -> Iterator[_Fields]:
        """Return the lines that an event adds."""
        held, self._held = self._held, None
        if held is not None:
            if folds(event, held):
                yield from self._show(event, held)
                return
            yield from self._tell(held)
        match event:
            case StrandStarted():
                if self._threads.begin(event):
                    self._about = event.about
                    self._stamps = LineStamps(event.about)
            case MetadataUpdated(about=about) if self._threads.is_main(event.strand):
                self._about = merged(self._about, about)
            case MessageEvent(message=message):
                if message.summary is None:
                    yield from self._tell(event)
                else:
                    self._held = event
            case CompactionEvent() | RewindEvent():
                yield from self._show(event, None)
            case _:
                # What is damaged, or noted of a strand that has no words for it.
                pass
        if self._about.title != self._title:
            self._title = self._about.title
            session = self._stamps.session
            yield {"type": "custom-title", "customTitle": self._title, "sessionId": session}

    def end(self) -> Iterator[_Fields]:
        """Return the lines that are still to be written."""
        if self._held is not None:
            yield from self._tell(self._held)

    def _tell(self, told: MessageEvent) -> Iterator[_Fields]:
        thread = self._threads.of(told.strand)
        if thread is None:
            return
        native = told.native
        shared: _Fields = {}
        if told.message.role is Role.ASSISTANT:
            reply = native.reply or self._stamps.reply(told.key)
            model = native.model or self._models.get(reply) or self._about.model or "unknown"
            if self._models.setdefault(reply, model) != model:
                # Agents that call two answers the same are told apart by who gave them.
                reply = self._stamps.reply(f"{reply} by {model}")
            shared = {
                "id": reply,
                "type": "message",
                "role": "assistant",
                "model": model,
                "stop_reason": native.more.get("stop_reason"),
                "stop_sequence": None,
                "usage": counts(thread.spend(reply, native.usage)),
            }
        for count, piece in enumerate(self._contents.of(told.message)):
            parent = thread.parent_for(told)
            wanted, key = ("", f"{told.key}.{count}") if count else (native.id, told.key)
            fields = kept(native.more) | said(told, piece.content, shared)
            written = WrittenLine(self._stamps.uuid(wanted, key), piece, fields)
            line = self._line(thread, written, parent, native.at)
            if marks := thread.marks(told, parent):
                line[MARK] = marks
            thread.wrote(told.key, written, parent)
            yield line
        thread.told(told.key)

    def _line(
        self, thread: LineChain, written: WrittenLine, parent: str, at: int | None
    ) -> _Fields:
        """Return a line of a message in its place; a result names the line of its call."""
        line = self._envelope(thread, parent, written.uuid, at)
        if caller := thread.caller(written.piece):
            line["sourceToolAssistantUUID"] = caller
        return line | dict(written.fields)

    def _envelope(self, thread: LineChain, parent: str, uuid: str, at: int | None) -> _Fields:
        about = self._about
        line: _Fields = {
            "parentUuid": parent or None,
            "isSidechain": thread.is_side or self._stamps.agent != "",
            "userType": "external",
            "cwd": about.cwd,
            "sessionId": self._stamps.session,
            "version": about.version,
            "gitBranch": about.git_branch,
        }
        line |= {key: about.more[key] for key in ABOUT if key in about.more}
        if self._stamps.agent:
            line["agentId"] = self._stamps.agent
        return line | {"uuid": uuid, "timestamp": self._stamps.time(at)}

    def _show(
        self, event: CompactionEvent | RewindEvent, held: MessageEvent | None
    ) -> Iterator[_Fields]:
        """Write that the model sees other messages from here on; `held` is the summary of them.

        A window that goes on as it was, or that goes back on its own way, needs no boundary.
        """
        thread = self._threads.of(event.strand)
        if thread is None:
            return
        shown = thread.shown
        thread.show(event.shows)
        if held is not None and shown is not None and event.shows == (*shown, held.key):
            uuid = self._stamps.uuid(held.native.id, held.key)
            line = self._summary(thread, held, uuid)
            about = compaction(event) | self._marks(event, held, uuid)
            about["timestamp"] = self._stamps.time(event.at)
            yield line | {MARK: {"boundary": about}}
        elif isinstance(event, CompactionEvent) or not thread.goes_back(event.shows):
            yield from self._bounded(thread, event, held)

    def _bounded(
        self, thread: LineChain, event: CompactionEvent | RewindEvent, held: MessageEvent | None
    ) -> Iterator[_Fields]:
        """Write a boundary, which is a new root, and below it everything that the model sees."""
        name = event.id if isinstance(event, CompactionEvent) else f"back from {thread.last}"
        root = self._stamps.uuid(name, name)
        summary = self._stamps.uuid("" if held is None else held.native.id, f"{name}/summary")
        yield self._envelope(thread, "", root, event.at) | {
            "logicalParentUuid": thread.last or None,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "level": "info",
            **compaction(event),
            **self._marks(event, held, summary),
        }
        thread.begin_chain(root)
        if held is None:
            yield self._envelope(thread, root, summary, event.at) | summed(None)
            thread.begin_chain(summary)
        for key in event.shows:
            if held is not None and key == held.key:
                yield self._summary(thread, held, summary)
            else:
                # Write copies of the lines of a message, at the time of the
                # compaction.
                for line in self._threads.book.clear(key):
                    uuid = self._stamps.uuid("", f"{line.uuid} again")
                    fields = dict(line.fields)
                    if fields["type"] == "assistant":
                        message = mapping(fields["message"])
                        reply = self._stamps.reply(f"{message['id']} below {thread.root}")
                        fields["message"] = {**message, "id": reply, "usage": counts(Usage())}
                    written = WrittenLine(uuid, line.piece, fields)
                    yield self._line(thread, written, thread.last, event.at) | {
                        MARK: {"copy": line.uuid}
                    }
                    thread.wrote(key, written, thread.last)

    def _summary(self, thread: LineChain, held: MessageEvent, uuid: str) -> _Fields:
        written = WrittenLine(uuid, LineContent(""), summed(held))
        line = self._line(thread, written, thread.last, held.native.at)
        thread.wrote(held.key, written, thread.last)
        return line

    def _marks(
        self, event: CompactionEvent | RewindEvent, held: MessageEvent | None, summary: str
    ) -> _Fields:
        """Return what a boundary says to our reader: what is shown, where that is not plain."""
        own = "" if held is None else held.key
        marks: _Fields = {}
        if event.shows != (own,):
            lines = self._threads.book.lines
            marks["shows"] = [
                uuid
                for key in event.shows
                for uuid in ((summary,) if key == own else (line.uuid for line in lines(key)))
            ]
        if isinstance(event, RewindEvent):
            marks["rewound"] = True
        return {MARK: marks} if marks else {}
