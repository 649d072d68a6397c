"""Reads the sessions of Qwen Code.

Files show records in a tree of `uuid` and `parentUuid`, messages as Gemini has them, several
records of one uuid for one answer, rewinds, titles, and two objects on one line. Going by the
program's source: `chat_compression` holds the history that the model sees from then on, records
of sub-agents carry an `agentId` and may begin with the history that they inherit, a forked file
names the session that it was copied from. A message of that history that was told before is known
again by its words; the first that was not is the summary, the others are told. What was spoken
aloud, a command that the program answered itself, and the results of calls that no model made are
told, and no model sees them. Notices to the screen, telemetry and snapshots are no messages. What
a managed session keeps in other files is reported, for nothing of it is said here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b
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
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    count,
    is_array,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
)
from holdfast.formats.reader import Format, KeyAllocator, SessionReader, Sign
from holdfast.formats.window_tracking import BranchTree, TreeNode
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_SIZE = 12
_NAMELESS = "-"
"""The name in the tree of records that have none."""
_REMINDER = ("<system-reminder>", "</system-reminder>")
_UNSAID = frozenset(["thoughtSignature", "partMetadata"])
"""What stands in a part of a history and not in that of its record, or the other way round."""
_ROLES = {"user": Role.USER, "model": Role.ASSISTANT}
_TRIGGERS = {"manual": "manual", "token_limit": "auto", "image_overflow": "auto"}


class RecordTree:
    """The records of one strand as a tree, and what the model sees of it."""

    def __init__(self, strand: str) -> None:
        """Stand at the root."""
        self.strand = strand
        self._tree = BranchTree()
        self._root = TreeNode(parent=None, strand=strand, depth=0, last="")
        self._at = self._root
        """The message that was told last, or that the user went back to."""
        self._reached = ""
        self._known: dict[bytes, str] = {}
        """The newest message of some words."""
        self._asked = ""
        """What the message that was told last asked, where it is nothing but words."""

    def reach(self, entry: JsonObject) -> None:
        """Look at a record; one whose parent is not in the file goes on from the last message.

        Not so a record that says that it has none, or a way back to what is lost: Qwen begins anew.
        """
        own, parent = string(entry.get("uuid")) or _NAMELESS, string(entry.get("parentUuid"))
        if self._tree.find(own) is None:
            is_root = "parentUuid" in entry and entry["parentUuid"] is None
            lost = self._root if entry.get("subtype") == "rewind" else self._at
            place = self._root if is_root else self._tree.find(parent) or lost
            self._tree.move(own, place)
        self._reached = own

    @property
    def is_empty(self) -> bool:
        """Say whether nothing was told yet."""
        return not self._known

    def pass_by(self) -> None:
        """Leave the message that was told last out of what the model sees from here on."""
        self._tree.move(self._reached, self._at.parent or self._root)

    def answers(self, command: JsonObject) -> bool:
        """Say whether the program itself answered what was asked last, as a command."""
        shown = mappings(command.get("outputHistoryItems"))
        return (
            command.get("phase") == "result"
            and command.get("sentToModel") is not True
            and bool(self._asked)
            and self._asked == command.get("rawCommand")
            and {each.get("type") for each in shown} == {"assistant"}
        )

    def return_to(self, line: int, at: int | None) -> Iterator[RewindEvent]:
        """Go to where the record hangs, and say so if that is not where the last message is."""
        place = self._tree.find(self._reached) or self._root
        if place is not self._at:
            self._at, shows = place, self._tree.window_at(place)
            yield RewindEvent(strand=self.strand, line=line, shows=shows, at=at)

    def tell(self, told: MessageEvent, parts: object) -> None:
        """Go on with a message."""
        node = self._tree.child_node(self._at, self.strand, told.key)
        self._at = self._tree.add(self._reached, node)
        self._known[_words(told.message.role, parts)] = told.key
        is_asked = told.message.role is Role.USER and len(told.message.parts) == 1
        self._asked = told.message.text if is_asked else ""

    def inherit(self, record: SourceRecord, keys: KeyAllocator) -> Iterator[Event]:
        """Yield the history that a sub-agent begins with, which is that of its parent."""
        entry = mapping(record.value)
        payload = mapping(entry.get("systemPayload"))
        # The words of the instruction that older versions wrote with an inherited
        # history.
        value = payload.get("systemInstruction")
        instruction = words(value if isinstance(value, str) else mapping(value).get("parts"))
        if text := instruction:
            prompt = Message(Role.SYSTEM, (Text(text),))
            yield self._told(record, keys.take("", record.line), prompt, ())
        for content in mappings(payload.get("history")):
            found = decoded("gemini", content)
            if isinstance(found, str):
                yield Problem(record.line, found, record.file)
                continue
            for message in found:
                key = keys.take("", record.line)
                yield self._told(record, key, message, content.get("parts"))

    def _told(
        self, record: SourceRecord, key: str, message: Message, parts: object
    ) -> MessageEvent:
        native = SourceMetadata(at=milliseconds(mapping(record.value).get("timestamp")))
        told = MessageEvent(
            strand=self.strand, line=record.line, key=key, message=message, native=native
        )
        self.tell(told, parts)
        return told

    def fold(self, record: SourceRecord, keys: KeyAllocator) -> Iterator[Event]:
        """Yield a compaction: what of its history is new, then what the model sees."""
        entry = mapping(record.value)
        payload = mapping(entry.get("systemPayload"))
        at = milliseconds(entry.get("timestamp"))
        shows: list[str] = []
        # A fast compression only clears results: the history still begins as before.
        first = next(iter(self._tree.window_at(self._at)), None)
        has_summary = first is not None and any(
            self._known.get(_words(role, content.get("parts"))) == first
            for content in mappings(payload.get("compressedHistory"))
            for role in (_ROLES.get(string(content.get("role")), Role.USER),)
        )
        for content in mappings(payload.get("compressedHistory")):
            found = decoded("gemini", content)
            if isinstance(found, str):
                yield Problem(record.line, found, record.file)
                continue
            for message in found:
                digest = _words(message.role, content.get("parts"))
                known = self._known.get(digest)
                if known is None:
                    told = message
                    if not has_summary and message.role is Role.USER and message.text:
                        told, has_summary = summarized(message.text, "qwen"), True
                    known = self._known[digest] = keys.take("", record.line)
                    native = SourceMetadata(at=at)
                    yield MessageEvent(
                        strand=self.strand, line=record.line, key=known, message=told, native=native
                    )
                shows.append(known)
        if not shows:
            return
        node = replace(self._tree.child_node(None, self.strand), window=tuple(shows))
        self._at = self._tree.add(self._reached, node)
        figures = mapping(payload.get("info"))
        yield CompactionEvent(
            strand=self.strand,
            line=record.line,
            id=f"{string(entry.get('uuid'))}#{record.line}/fold",
            shows=tuple(shows),
            at=at,
            trigger=_TRIGGERS.get(string(figures.get("triggerReason")), ""),
            tokens_before=count(figures.get("originalTokenCount")) or None,
            tokens_after=count(figures.get("newTokenCount")) or None,
        )


def _words(role: Role, parts: object) -> bytes:
    """Return what tells two messages apart, without thoughts, which no history keeps."""
    kept = [part for part in map(mapping, sequence(parts)) if part.get("thought") is not True]
    said = [part for part in kept if not _is_reminder(part)]
    written = json.dumps([role, list(map(_said, said or kept))], sort_keys=True)
    return blake2b(written.encode(), digest_size=_SIZE).digest()


def _is_reminder(part: JsonObject) -> bool:
    text = string(part.get("text")).strip()
    return text.startswith(_REMINDER[0]) and text.endswith(_REMINDER[1])


def _said(part: JsonObject) -> dict[str, object]:
    kept = {key: value for key, value in part.items() if key not in _UNSAID}
    text = kept.get("text")
    return {**kept, "text": text.strip()} if isinstance(text, str) else kept


_SPOKEN = {"user": "user", "assistant": "model", "tool_result": "user"}
"""The records that are messages, each with the role that Gemini has for it."""
_PAYLOADS = frozenset(["systemPayload", "managedSession"])
_UNSEEN = frozenset(["realtime_message", "code_mode_tool_result"])
"""Messages that no model sees."""
_MANAGED = "what a managed session says is kept in other files, which are not read"


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Qwen Code; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if not {"uuid", "sessionId", "parentUuid"} <= entry.keys():
            continue
        kind = string(entry.get("type"))
        if kind in _SPOKEN and is_array(mapping(entry.get("message")).get("parts")):
            return Sign(f"a record of type {kind} whose message has parts")
        if kind == "system" and "subtype" in entry and not _PAYLOADS.isdisjoint(entry):
            return Sign("a record of type system with a payload")
    return None


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Qwen Code."""
    desk = _Reader()
    for record in records:
        yield from desk.take(record)


class _Reader:
    """Reads one record after the other, each into the strand that it belongs to."""

    def __init__(self) -> None:
        self._keys = KeyAllocator()
        self._trees: dict[str, RecordTree] = {}
        self._paid: set[str] = set()
        """The answers whose cost was told."""

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one record."""
        entry = mapping(record.value)
        agent = string(entry.get("agentId")) if entry.get("isSidechain") is True else ""
        strand = agent or MAIN
        if strand not in self._trees:
            yield self._begin(record.line, entry, agent)
            self._trees[strand] = RecordTree(strand)
        tree = self._trees[strand]
        tree.reach(entry)
        kind = string(entry.get("type"))
        if kind in _SPOKEN:
            entry = mapping(record.value)
            parts = mapping(entry.get("message")).get("parts")
            if parts is None:
                return
            found = decoded("gemini", {"role": _SPOKEN[string(entry.get("type"))], "parts": parts})
            if isinstance(found, str):
                yield Problem(record.line, found, record.file)
                return
            if found:
                yield from tree.return_to(record.line, milliseconds(entry.get("timestamp")))
            failed = mapping(entry.get("toolCallResult")).get("status") == "error"
            for message in found:
                if failed:
                    failures = (
                        structs.replace(part, is_error=True)
                        if isinstance(part, ToolResult)
                        else part
                        for part in message.parts
                    )
                    message = structs.replace(message, parts=tuple(failures))
                told = self._told(record, tree, message)
                tree.tell(told, parts)
                yield told
            if found and string(entry.get("subtype")) in _UNSEEN:
                tree.pass_by()
        elif kind == "system":
            yield from self._system(record, tree)

    def _begin(self, line: int, entry: JsonObject, agent: str) -> StrandStarted:
        session = string(entry.get("sessionId"))
        about = About(
            id=session,
            model=string(entry.get("model")),
            cwd=string(entry.get("cwd")),
            git_branch=string(entry.get("gitBranch")),
            version=string(entry.get("version")),
            started=milliseconds(entry.get("timestamp")),
        )
        if not agent:
            origin = string(mapping(entry.get("forkedFrom")).get("sessionId"))
            fork = Fork.BRANCH if origin else None
            about = replace(about, parent=origin, fork=fork)
            return StrandStarted(strand=MAIN, line=line, about=about)
        about = replace(about, id=f"{session}/{agent}", title=string(entry.get("agentName")))
        if MAIN in self._trees:
            fork = Fork.DELEGATION
            return StrandStarted(strand=agent, line=line, about=about, of=MAIN, fork=fork)
        about = replace(about, parent=session, fork=Fork.DELEGATION)
        return StrandStarted(strand=agent, line=line, about=about)

    def _told(self, record: SourceRecord, tree: RecordTree, message: Message) -> MessageEvent:
        entry = mapping(record.value)
        own = string(entry.get("uuid"))
        is_answer = message.role is Role.ASSISTANT
        fields = mapping(entry.get("usageMetadata"))
        sent = count(fields.get("promptTokenCount"))
        cached = count(fields.get("cachedContentTokenCount"))
        received = count(fields.get("candidatesTokenCount"))
        thought = count(fields.get("thoughtsTokenCount"))
        whole = count(fields.get("totalTokenCount"))
        # Gemini counts thoughts apart. What came in OpenAI's form, as most does, has them among the
        # rest, and only the total tells which it is.
        if not whole or sent + received + thought <= whole:
            received += thought
        usage = None
        if is_answer and own not in self._paid and (sent or received):
            usage = Usage(1, max(sent - cached, 0), received, min(cached, sent))
            self._paid.add(own)
        subtype = string(entry.get("subtype"))
        return MessageEvent(
            strand=tree.strand,
            line=record.line,
            key=self._keys.take(own, record.line),
            message=message,
            native=SourceMetadata(
                id=own,
                reply=own if is_answer else "",
                model=string(entry.get("model")) if is_answer else "",
                usage=usage,
                at=milliseconds(entry.get("timestamp")),
                more={"subtype": subtype} if subtype else {},
            ),
        )

    def _system(self, record: SourceRecord, tree: RecordTree) -> Iterator[Event]:
        entry = mapping(record.value)
        payload = mapping(entry.get("systemPayload"))
        at = milliseconds(entry.get("timestamp"))
        match entry.get("subtype"):
            case "custom_title" if title := string(payload.get("customTitle")):
                yield MetadataUpdated(strand=tree.strand, about=About(title=title))
            case "session_model" if model := string(payload.get("modelId")):
                yield MetadataUpdated(strand=tree.strand, about=About(model=model))
            case "parent_session" if parent := string(payload.get("parentSessionId")):
                about = About(parent=parent, fork=Fork.DELEGATION)
                yield MetadataUpdated(strand=tree.strand, about=about)
            case "rewind":
                yield from tree.return_to(record.line, at)
            case "slash_command" if tree.answers(payload):
                tree.pass_by()
            case "agent_bootstrap" if tree.is_empty:
                yield from tree.inherit(record, self._keys)
            case "managed_session_header_v1":
                yield Problem(record.line, _MANAGED, record.file)
            case "chat_compression" if is_array(payload.get("compressedHistory")):
                yield from tree.return_to(record.line, at)
                yield from tree.fold(record, self._keys)
            case _:
                return


QWEN = SessionReader(
    format=Format("qwen", "Qwen Code session, JSONL", "gemini", writable=False),
    recognize=recognize,
    read=read,
)
