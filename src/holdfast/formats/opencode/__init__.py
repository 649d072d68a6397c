"""Reads the sessions of opencode from the files that it kept before it had a database.

A session, each message and each part are a file of their own, in folders named after what they
belong to, so everything below a folder is held until all of it is there. Files show two layouts:
in the older one the parts of all messages stand together, in the newer one a part may say nothing
about its message but by its folder. Messages go by their time, then by their id; parts by their id,
as the agent itself reads them, where it made the id, which begins with a time. Steps, tasks,
retries, pictures, compactions and what was taken back are as the program's source has them. The
title and the body that a message of the user carries are the agent's words, and are not told.
What `opencode export` prints holds a session whole, and is read as well.
"""

from __future__ import annotations

import math
import re
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.content import words
from holdfast.formats.events import Event, Problem
from holdfast.formats.json_access import (
    count,
    is_array,
    is_object,
    mapping,
    mappings,
    milliseconds,
    parsed,
    sequence,
    string,
)
from holdfast.formats.opencode.session import KINDS, StoredMessage, callers_first, session_events
from holdfast.formats.reader import (
    LIKELY,
    DatabaseReader,
    Format,
    KeyAllocator,
    SessionReader,
    Sign,
    everywhere,
    folder_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.reader import DatabaseQuery, Row, Tables
    from holdfast.formats.source import SourceRecord

_SPOKEN = frozenset(["user", "synthetic", "system"])


def entry_of(kind: str, fields: JsonObject) -> StoredMessage | None:
    """Return a message and its parts; None for one that says nothing to a model."""
    match kind:
        case "assistant":
            model = mapping(fields.get("model"))
            named = string(model.get("id")) or string(model.get("modelID"))
            parts = [_part(each) for each in mappings(fields.get("content"))]
            return StoredMessage({**fields, "role": "assistant", "modelID": named}, parts)
        case "compaction":
            told = (string(fields.get("summary")), string(fields.get("recent")))
            said = {"type": "text", "text": "\n\n".join(filter(None, told))}
            return StoredMessage({**fields, "role": "assistant", "summary": True}, [said])
        case "shell":
            state = {
                "status": "completed",
                "input": {"command": fields.get("command")},
                "output": fields.get("output"),
                "time": _span(fields),
            }
            run = {"type": "tool", "tool": "shell", "callID": fields.get("callID"), "state": state}
            return StoredMessage({**fields, "role": "assistant"}, [run])
        case _ if kind in _SPOKEN:
            files = [_file(each) for each in mappings(fields.get("files"))]
            said = {"type": "text", "text": fields.get("text")}
            return StoredMessage({**fields, "role": "user"}, [said, *files])
        case _:
            return None


def _part(content: JsonObject) -> JsonObject:
    if content.get("type") != "tool":
        return content
    state = mapping(content.get("state"))
    asked, found = state.get("input"), mappings(state.get("content"))
    files = [*(each for each in found if "uri" in each), *mappings(state.get("attachments"))]
    failure = mapping(state.get("error")).get("message") or state.get("error")
    return {
        "type": "tool",
        "id": content.get("id"),
        "callID": content.get("id"),
        "tool": content.get("name"),
        "state": {
            "status": state.get("status"),
            # A call that still waits has its arguments as text.
            "input": parsed(asked) if isinstance(asked, str) else asked,
            "output": words([each for each in found if "uri" not in each]),
            "error": failure if isinstance(failure, str) else "",
            "attachments": [_file(each) for each in files],
            "time": _span(content),
        },
    }


def _file(attached: JsonObject) -> JsonObject:
    return {"type": "file", "mime": attached.get("mime"), "url": attached.get("uri")}


def _span(fields: JsonObject) -> JsonObject:
    time = mapping(fields.get("time"))
    return {"start": time.get("ran") or time.get("created"), "end": time.get("completed")}


_TABLES = {
    "session": {"id", "project_id", "directory"},
    "message": {"id", "session_id", "data"},
    "part": {"id", "message_id", "data"},
}
_SESSION = (
    "id",
    "project_id",
    "parent_id",
    "slug",
    "directory",
    "title",
    "version",
    "revert",
    "time_created",
)


def recognize_database(tables: Tables) -> Sign | None:
    """Say why tables are those of opencode; None when they are not."""
    if all(columns <= tables.get(name, frozenset()) for name, columns in _TABLES.items()):
        return Sign("the tables session, message and part of opencode")
    return None


def read_database(query: DatabaseQuery) -> Iterator[Event]:
    """Return the events of a database of opencode."""
    keys = KeyAllocator()
    order = ("time_created", "id")
    rows = query.rows("session", _SESSION, order=order)
    # The way that older versions wrote a file.
    sessions: list[JsonObject] = [
        {
            "id": row.get("id"),
            "projectID": row.get("project_id"),
            "parentID": row.get("parent_id"),
            "slug": row.get("slug"),
            "directory": row.get("directory"),
            "title": row.get("title"),
            "version": row.get("version"),
            "revert": parsed(row.get("revert")),
            "time": {"created": row.get("time_created")},
        }
        for row in rows
    ]
    for session in callers_first(sessions):
        problems: list[Problem] = []
        own = string(session.get("id"))
        where = {"session_id": own}
        parts: dict[str, list[JsonObject]] = {}
        for row in query.rows("part", ("id", "message_id", "data"), where=where, order=("id",)):
            found = _fields(row, problems)
            parts.setdefault(string(row.get("message_id")), []).append(found)
        order = ("time_created", "id")
        messages = query.rows("message", ("id", "data"), where=where, order=order)
        found = [
            StoredMessage(_fields(row, problems), parts.get(string(row.get("id")), []))
            for row in messages
        ]
        entries = found or _sequence(query, own, problems)
        yield from session_events(session, entries, keys)
        yield from problems


def _sequence(query: DatabaseQuery, session: str, problems: list[Problem]) -> list[StoredMessage]:
    """Return the messages of a session that is stored in the second schema alone."""
    columns = ("id", "type", "seq", "time_created", "data")
    rows = query.rows("session_message", columns, where={"session_id": session})
    ordered = sorted(
        rows,
        key=lambda row: (
            count(row.get("seq")),
            count(row.get("time_created")),
            string(row.get("id")),
        ),
    )
    entries = (entry_of(string(row.get("type")), _fields(row, problems)) for row in ordered)
    return [entry for entry in entries if entry is not None]


def _fields(row: Row, problems: list[Problem]) -> JsonObject:
    found = parsed(row.get("data"))
    if not is_object(found):
        problems.append(Problem(1, f"what is stored as {row.get('id')!r} is no JSON object"))
        found = {}
    return {**found, "id": row.get("id")}


OPENCODE_DATABASE = DatabaseReader(
    format=Format(
        "opencode-database", "opencode database, SQLite", "openai", writable=False, agent="opencode"
    ),
    recognize=recognize_database,
    read=read_database,
)


_WEAK = 0.6
_MADE = re.compile(r"prt_[0-9a-f]{12}")
"""How the ids of parts begin that the agent itself made: with a time that counts up."""
_ROLES = frozenset(["user", "assistant"])


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from opencode; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if _is_export(entry):
            return Sign("an exported opencode session")
        if _is_session(entry):
            return Sign("an opencode session without its messages")
        if _is_message(entry):
            return Sign("an opencode message without its parts")
        if _is_part(entry):
            named = bool(string(entry.get("messageID")))
            return Sign("a part of an opencode message", LIKELY if named else _WEAK)
    return None


def _is_export(entry: JsonObject) -> bool:
    return _is_session(mapping(entry.get("info"))) and is_array(entry.get("messages"))


def _is_session(entry: JsonObject) -> bool:
    return {"id", "projectID", "directory", "time"} <= entry.keys()


def _is_message(entry: JsonObject) -> bool:
    time = mapping(entry.get("time"))
    return string(entry.get("role")) in _ROLES and "sessionID" in entry and "created" in time


def _is_part(entry: JsonObject) -> bool:
    if "id" not in entry or string(entry.get("type")) not in KINDS:
        return False
    return "messageID" in entry or "start" in mapping(entry.get("time"))


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of opencode."""
    storage = _Storage()
    for record in records:
        yield from storage.take(record)
    yield from storage.strays()
    keys = KeyAllocator()
    for session in storage.sessions():
        yield from session_events(session, storage.entries(string(session.get("id"))), keys)


class _Storage:
    """The sessions, messages and parts found below a folder."""

    def __init__(self) -> None:
        self._sessions: dict[str, JsonObject] = {}
        self._messages: dict[str, JsonObject] = {}
        self._parts: dict[str, list[JsonObject]] = {}
        """The parts of each message."""
        self._homes: dict[str, SourceRecord] = {}
        """One part of each message, to say where it stood."""
        self._in_session: dict[str, list[str]] = {}

    def take(self, record: SourceRecord) -> Iterator[Problem]:
        """Put one file where it belongs; a part that does not say where is a problem."""
        entry = mapping(record.value)
        own = string(entry.get("id"))
        if _is_export(entry):
            several = mappings(entry.get("messages"))
            inside = [[each.get("info"), *sequence(each.get("parts"))] for each in several]
            for each in chain([entry.get("info")], *inside):
                yield from self.take(replace(record, value=each))
        elif _is_session(entry):
            self._sessions[own] = entry
        elif _is_message(entry):
            if own not in self._messages:
                self._in_session.setdefault(string(entry.get("sessionID")), []).append(own)
            self._messages[own] = entry
        elif _is_part(entry):
            message = string(entry.get("messageID")) or folder_of(record.file)
            self._parts.setdefault(message, []).append(entry)
            self._homes.setdefault(message, record)
        else:
            yield Problem(record.line, "this is no session, message or part", record.file)

    def strays(self) -> Iterator[Problem]:
        """Return what belongs to a message that is not there."""
        for message, record in self._homes.items():
            if message not in self._messages:
                reason = f"a part belongs to message {message!r}, which is not there"
                if not message:
                    reason = "a part does not say which message it belongs to"
                yield Problem(record.line, reason, record.file)

    def sessions(self) -> Iterator[JsonObject]:
        """Return the sessions by their time, each after the one that it works for."""
        named: dict[str, JsonObject] = {own: {"id": own} for own in self._in_session}
        named |= self._sessions
        ordered = sorted(named.values(), key=lambda each: (_created(each), string(each["id"])))
        return callers_first(ordered)

    def entries(self, session: str) -> list[StoredMessage]:
        """Return the messages of a session in their order."""
        messages = [self._messages[own] for own in self._in_session.get(session, ())]
        messages.sort(key=lambda each: (_created(each), string(each.get("id"))))
        return [StoredMessage(each, self._ordered(string(each.get("id")))) for each in messages]

    def _ordered(self, message: str) -> list[JsonObject]:
        parts = self._parts.get(message, [])
        if all(_MADE.match(string(part.get("id"))) for part in parts):
            return sorted(parts, key=lambda part: string(part.get("id")))
        return sorted(parts, key=lambda part: (_begun(part), string(part.get("id"))))


def _begun(part: JsonObject) -> float:
    own = mapping(part.get("time")).get("start")
    ran = mapping(mapping(part.get("state")).get("time")).get("start")
    return milliseconds(own) or milliseconds(ran) or math.inf


def _created(entry: JsonObject) -> int:
    return milliseconds(mapping(entry.get("time")).get("created")) or 0


OPENCODE = SessionReader(
    format=Format("opencode", "opencode storage, a folder of JSON files", "openai", writable=False),
    recognize=recognize,
    read=read,
    spread=everywhere,
)
