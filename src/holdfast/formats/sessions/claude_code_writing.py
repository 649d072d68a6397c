"""Writes sessions as Claude Code does, so that it can resume them.

One block of an answer a line, parents that stand before their children, a boundary and a summary
for each compaction, sub-agents as side chains. What the format has no word for stands under a
key that its program skips, and our reader honors it: the order of a window that is not
"summary, then what was kept"; a branch that no user's words begin; a system prompt.

What it cannot say: that a user took something back in the same strand (it reads as a branch), an
answer told whole (it reads in pieces), reasoning signed by another provider, several
conversations in one file, blank text beside a picture. A message has a time, an answer a model
and a compaction a trigger, whether the session knows them or not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from holdfast.formats.chronicle import About, Begun, Folded, Noted, Rewound, Told
from holdfast.formats.replay import merged
from holdfast.formats.sessions.claude_code_content import Contents, Piece, summary_text
from holdfast.formats.sessions.claude_code_lines import ABOUT, KEPT, MARK, PROMPT, QUEUED
from holdfast.formats.sessions.claude_code_stamps import Stamps
from holdfast.formats.sessions.claude_code_threads import Threads
from holdfast.formats.sessions.derived import is_uuid
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.sessions.claude_code_threads import Thread

__all__ = ["write"]

_Fields: TypeAlias = "dict[str, object]"


def write(events: Iterable[Event]) -> Iterator[str]:
    """Return the lines of a session file; the same events give the same lines."""
    desk = _Desk()
    for event in events:
        yield from map(_dumped, desk.take(event))
    yield from map(_dumped, desk.end())


def _dumped(line: Mapping[str, object]) -> str:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair is no text in UTF-8.
    return text if text.isascii() or _is_whole(text) else json.dumps(line, separators=(",", ":"))


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Desk:
    """Writes one session."""

    def __init__(self) -> None:
        self._about = About()
        self._stamps = Stamps()
        self._threads = Threads()
        self._contents = Contents()
        self._title = ""
        """The title that was written last."""
        self._held: Told | None = None
        """A summary, until it is known whether it is a compaction's: the boundary goes first."""

    def take(self, event: Event) -> Iterator[_Fields]:
        """Return the lines that an event adds."""
        held, self._held = self._held, None
        if held is not None:
            if isinstance(event, Folded) and held.key in event.shows:
                yield from self._fold(held, event)
                return
            yield from self._tell(held)
        match event:
            case Begun():
                self._begin(event)
            case Noted(about=about) if self._threads.is_main(event.strand):
                self._about = merged(self._about, about)
            case Told(message=message):
                if message.summary is None or len(message.parts) > 1:
                    yield from self._tell(event)
                else:
                    self._held = event
            case Folded() | Rewound():
                self._show(event)
            case _:
                # What is damaged, or noted of a strand that has no words for it.
                pass
        yield from self._titled()

    def end(self) -> Iterator[_Fields]:
        """Return the lines that are still to be written."""
        if self._held is not None:
            yield from self._tell(self._held)

    def _begin(self, begun: Begun) -> None:
        if self._threads.begin(begun):
            self._about = begun.about
            self._stamps = Stamps(begun.about)

    def _show(self, event: Folded | Rewound) -> None:
        """Go on from the last message that is shown: only a summary has a line of its own."""
        thread = self._threads.of(event.strand)
        if thread is not None:
            thread.show(event.shows)
            shown = [line for key in event.shows for line in self._threads.book.lines(key)]
            thread.last = shown[-1] if shown else ""

    def _titled(self) -> Iterator[_Fields]:
        if self._about.title != self._title:
            self._title = self._about.title
            session = self._stamps.session
            yield {"type": "custom-title", "customTitle": self._title, "sessionId": session}

    def _tell(self, told: Told) -> Iterator[_Fields]:
        thread = self._threads.of(told.strand)
        if thread is None:
            return
        reply = self._reply(thread, told) if told.message.role is Role.ASSISTANT else {}
        for count, piece in enumerate(self._contents.of(told.message)):
            parent = thread.parent_for(told, piece)
            wanted, key = ("", f"{told.key}.{count}") if count else (told.native.id, told.key)
            uuid = self._stamps.uuid(wanted, key)
            line = self._envelope(thread, parent, uuid, told.native.at)
            line |= _kept(told.native.more)
            if marks := thread.marks(told, parent):
                line[MARK] = marks
            if caller := thread.caller(piece):
                line["sourceToolAssistantUUID"] = caller
            thread.wrote(told, piece, uuid, parent)
            yield line | _said(told, piece.content, reply)
        thread.told(told.key)

    def _reply(self, thread: Thread, told: Told) -> _Fields:
        """Return the fields of an answer that all its lines share."""
        native = told.native
        reply = native.reply or self._stamps.reply(told.key)
        usage = thread.spend(reply, native.usage)
        return {
            "id": reply,
            "type": "message",
            "role": "assistant",
            "model": native.model or self._about.model or "unknown",
            "stop_reason": native.more.get("stop_reason"),
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.input_tokens,
                "cache_creation_input_tokens": usage.cache_write_tokens,
                "cache_read_input_tokens": usage.cache_read_tokens,
                "output_tokens": usage.output_tokens,
            },
        }

    def _envelope(self, thread: Thread, parent: str, uuid: str, at: int | None) -> _Fields:
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

    def _fold(self, told: Told, folded: Folded) -> Iterator[_Fields]:
        """Write a compaction: a boundary, which is a new root, and the summary below it.

        A window that goes on as it was needs no new root: its summary is one more message.
        """
        thread, summary = self._threads.of(told.strand), told.message.summary
        if thread is None or summary is None:
            return
        before, shown = thread.last, thread.shown
        is_inline = shown is not None and folded.shows == (*shown, told.key)
        place = self._stamps.uuid(folded.id, folded.id)
        uuid = self._stamps.uuid(told.native.id, told.key)
        parent = before if is_inline else place
        thread.wrote(told, Piece(""), uuid, parent)
        thread.show(folded.shows)
        about = self._compaction(folded, uuid)
        line = self._envelope(thread, parent, uuid, told.native.at) | {
            "type": "user",
            "message": {"role": "user", "content": summary_text(summary)},
            "isVisibleInTranscriptOnly": True,
            "isCompactSummary": True,
        }
        if is_inline:
            yield line | {MARK: {"boundary": {"timestamp": self._stamps.time(folded.at), **about}}}
            return
        yield self._envelope(thread, "", place, folded.at) | {
            "logicalParentUuid": before or None,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "level": "info",
            **about,
        }
        yield line

    def _compaction(self, folded: Folded, summary: str) -> _Fields:
        """Return what a boundary says about a compaction."""
        book = self._threads.book
        # Where nobody says, a person asked for it: that is how a file comes to be compacted here.
        trigger, before = folded.trigger or "manual", folded.tokens_before or 0
        about: _Fields = {"trigger": trigger, "preTokens": before}
        if folded.tokens_after is not None:
            about["postTokens"] = folded.tokens_after
        shown = [line for key in folded.shows for line in book.lines(key)]
        kept = [line for line in shown if line != summary]
        if kept:
            ends = {"headUuid": kept[0], "anchorUuid": summary, "tailUuid": kept[-1]}
            about["preservedSegment"] = ends
            about["preservedMessages"] = {"anchorUuid": summary, "uuids": kept, "allUuids": kept}
        if shown == [summary, *kept]:
            return {"compactMetadata": about}
        return {"compactMetadata": about, MARK: {"shows": shown}}


def _kept(more: Mapping[str, object]) -> _Fields:
    """Return the small fields of a line; a session id only where it is one."""
    kept = {key: more[key] for key in KEPT if key in more}
    if not is_uuid(str(kept.get("sessionId"))):
        kept.pop("sessionId", None)
    return kept


def _said(told: Told, content: object, reply: _Fields) -> _Fields:
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
