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

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Native, Noted, Told
from holdfast.formats.decoding import decoded
from holdfast.formats.document import Format, Problem
from holdfast.formats.figures import count
from holdfast.formats.keys import Keys
from holdfast.formats.loose import is_array, mapping, string
from holdfast.formats.moments import moment
from holdfast.formats.qwen_tree import Tree
from holdfast.formats.session_reader import SessionReader, Sign
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["QWEN"]

_SPOKEN = {"user": "user", "assistant": "model", "tool_result": "user"}
"""The records that are messages, each with the role that Gemini has for it."""
_PAYLOADS = frozenset(["systemPayload", "managedSession"])
_UNSEEN = frozenset(["realtime_message", "code_mode_tool_result"])
"""Messages that no model sees."""
_MANAGED = "what a managed session says is kept in other files, which are not read"


def _recognize(records: Sequence[Record]) -> Sign | None:
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


def _read(records: Iterable[Record]) -> Iterator[Event]:
    desk = _Desk()
    for record in records:
        yield from desk.take(record)


class _Desk:
    """Reads one record after the other, each into the strand that it belongs to."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._trees: dict[str, Tree] = {}
        self._paid: set[str] = set()
        """The answers whose cost was told."""

    def take(self, record: Record) -> Iterator[Event]:
        """Tell what one record says."""
        entry = mapping(record.value)
        agent = string(entry.get("agentId")) if entry.get("isSidechain") is True else ""
        strand = agent or MAIN
        if strand not in self._trees:
            yield self._begin(record.line, entry, agent)
            self._trees[strand] = Tree(strand)
        tree = self._trees[strand]
        tree.reach(entry)
        kind = string(entry.get("type"))
        if kind in _SPOKEN:
            yield from self._spoken(record, tree)
        elif kind == "system":
            yield from self._system(record, tree)

    def _begin(self, line: int, entry: Mapping[str, object], agent: str) -> Begun:
        session = string(entry.get("sessionId"))
        about = About(
            id=session,
            model=string(entry.get("model")),
            cwd=string(entry.get("cwd")),
            git_branch=string(entry.get("gitBranch")),
            version=string(entry.get("version")),
            started=moment(entry.get("timestamp")),
        )
        if not agent:
            origin = string(mapping(entry.get("forkedFrom")).get("sessionId"))
            fork = Fork.BRANCH if origin else None
            about = replace(about, parent=origin, fork=fork)
            return Begun(strand=MAIN, line=line, about=about)
        about = replace(about, id=f"{session}/{agent}", title=string(entry.get("agentName")))
        if MAIN in self._trees:
            fork = Fork.DELEGATION
            return Begun(strand=agent, line=line, about=about, of=MAIN, fork=fork)
        about = replace(about, parent=session, fork=Fork.DELEGATION)
        return Begun(strand=agent, line=line, about=about)

    def _spoken(self, record: Record, tree: Tree) -> Iterator[Event]:
        entry = mapping(record.value)
        parts = mapping(entry.get("message")).get("parts")
        if parts is None:
            return
        found = decoded("gemini", {"role": _SPOKEN[string(entry.get("type"))], "parts": parts})
        if isinstance(found, str):
            yield Problem(record.line, found, record.file)
            return
        if found:
            yield from tree.return_to(record.line, moment(entry.get("timestamp")))
        failed = mapping(entry.get("toolCallResult")).get("status") == "error"
        for message in found:
            whole = _with_failure(message) if failed else message
            told = self._told(record, tree, whole)
            tree.tell(told, parts)
            yield told
        if found and string(entry.get("subtype")) in _UNSEEN:
            tree.pass_by()

    def _told(self, record: Record, tree: Tree, message: Message) -> Told:
        entry = mapping(record.value)
        own = string(entry.get("uuid"))
        is_answer = message.role is Role.ASSISTANT
        usage = _usage(mapping(entry.get("usageMetadata")))
        if own in self._paid or not is_answer:
            usage = None
        if usage is not None:
            self._paid.add(own)
        subtype = string(entry.get("subtype"))
        return Told(
            strand=tree.strand,
            line=record.line,
            key=self._keys.take(own, record.line),
            message=message,
            native=Native(
                id=own,
                reply=own if is_answer else "",
                model=string(entry.get("model")) if is_answer else "",
                usage=usage,
                at=moment(entry.get("timestamp")),
                more={"subtype": subtype} if subtype else {},
            ),
        )

    def _system(self, record: Record, tree: Tree) -> Iterator[Event]:
        entry = mapping(record.value)
        payload = mapping(entry.get("systemPayload"))
        at = moment(entry.get("timestamp"))
        match entry.get("subtype"):
            case "custom_title" if title := string(payload.get("customTitle")):
                yield Noted(strand=tree.strand, about=About(title=title))
            case "session_model" if model := string(payload.get("modelId")):
                yield Noted(strand=tree.strand, about=About(model=model))
            case "parent_session" if parent := string(payload.get("parentSessionId")):
                about = About(parent=parent, fork=Fork.DELEGATION)
                yield Noted(strand=tree.strand, about=about)
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


def _with_failure(message: Message) -> Message:
    parts = tuple(
        replace(part, is_error=True) if isinstance(part, ToolResult) else part
        for part in message.parts
    )
    return replace(message, parts=parts)


def _usage(fields: Mapping[str, object]) -> Usage | None:
    """Return what an answer cost: tokens read from the cache stand among those that were sent."""
    sent, cached = (
        count(fields.get("promptTokenCount")),
        count(fields.get("cachedContentTokenCount")),
    )
    received, thought = (
        count(fields.get("candidatesTokenCount")),
        count(fields.get("thoughtsTokenCount")),
    )
    # Gemini counts thoughts apart. What came in OpenAI's form, as most does, has them among the
    # rest, and only the total tells which it is.
    if not (whole := count(fields.get("totalTokenCount"))) or sent + received + thought <= whole:
        received += thought
    if not sent and not received:
        return None
    return Usage(1, max(sent - cached, 0), received, min(cached, sent))


QWEN = SessionReader(
    format=Format("qwen", "Qwen Code session, JSONL", "gemini", writable=False),
    recognize=_recognize,
    read=_read,
)
