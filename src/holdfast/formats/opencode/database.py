"""Reads the database of opencode, from its version 1.2 on.

Its tables are as the program's source has them: a row for each session, message and part, with
what the files of older versions held as JSON in the column `data`. One session is held at a time.
The table `session_message`, which newer versions fill beside these, is read for sessions that stand
nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.content import words
from holdfast.formats.document import Format, Problem
from holdfast.formats.json_access import count, is_object, mapping, mappings, parsed, string
from holdfast.formats.opencode.session import StoredMessage, callers_first, session_events
from holdfast.formats.reader import DatabaseReader, KeyAllocator, Sign

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.reader import DatabaseQuery, Row, Tables

__all__ = ["OPENCODE_DATABASE"]

_SPOKEN = frozenset(["user", "synthetic", "system"])


def entry_of(kind: str, fields: JsonObject) -> StoredMessage | None:
    """Return a message and its parts; None for one that says nothing to a model.

    Args:
        kind: What the row is.
        fields: Everything else about it.
    """
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


def recognize(tables: Tables) -> Sign | None:
    """Say why tables are those of opencode; None when they are not."""
    if all(columns <= tables.get(name, frozenset()) for name, columns in _TABLES.items()):
        return Sign("the tables session, message and part of opencode")
    return None


def read(query: DatabaseQuery) -> Iterator[Event]:
    """Return the events of a database of opencode."""
    keys = KeyAllocator()
    order = ("time_created", "id")
    rows = query.rows("session", _SESSION, order=order)
    for session in callers_first([_session(row) for row in rows]):
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


def _session(row: Row) -> JsonObject:
    """Return a row the way that older versions wrote a file."""
    return {
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
    recognize=recognize,
    read=read,
)
