"""Reads the database of opencode, from its version 1.2 on.

Its tables are as the program's source has them: a row for each session, message and part, with
what the files of older versions held as JSON in the column `data`. One session is held at a time.
The table `session_message`, which newer versions fill beside these, is read for sessions that stand
nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.database_reader import DatabaseReader
from holdfast.formats.document import Format, Problem
from holdfast.formats.figures import count
from holdfast.formats.keys import Keys
from holdfast.formats.loose import is_object, parsed, string
from holdfast.formats.opencode.sequence import entry_of
from holdfast.formats.opencode.telling import Entry, callers_first, tell
from holdfast.formats.session_reader import Sign

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.database_reader import Query, Row, Tables

__all__ = ["OPENCODE_DATABASE"]

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


def _recognize(tables: Tables) -> Sign | None:
    if all(columns <= tables.get(name, frozenset()) for name, columns in _TABLES.items()):
        return Sign("the tables session, message and part of opencode")
    return None


def _read(query: Query) -> Iterator[Event]:
    keys = Keys()
    order = ("time_created", "id")
    rows = query.rows("session", _SESSION, order=order)
    for session in callers_first([_session(row) for row in rows]):
        problems: list[Problem] = []
        entries = _entries(query, string(session.get("id")), problems)
        yield from tell(session, entries, keys)
        yield from problems


def _session(row: Row) -> Mapping[str, object]:
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


def _entries(query: Query, session: str, problems: list[Problem]) -> list[Entry]:
    where = {"session_id": session}
    parts: dict[str, list[Mapping[str, object]]] = {}
    for row in query.rows("part", ("id", "message_id", "data"), where=where, order=("id",)):
        found = _fields(row, problems)
        parts.setdefault(string(row.get("message_id")), []).append(found)
    order = ("time_created", "id")
    messages = query.rows("message", ("id", "data"), where=where, order=order)
    found = [
        Entry(_fields(row, problems), parts.get(string(row.get("id")), [])) for row in messages
    ]
    return found or _sequence(query, session, problems)


def _sequence(query: Query, session: str, problems: list[Problem]) -> list[Entry]:
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


def _fields(row: Row, problems: list[Problem]) -> Mapping[str, object]:
    found = parsed(row.get("data"))
    if not is_object(found):
        problems.append(Problem(1, f"what is stored as {row.get('id')!r} is no JSON object"))
        found = {}
    return {**found, "id": row.get("id")}


OPENCODE_DATABASE = DatabaseReader(
    format=Format(
        "opencode-database", "opencode database, SQLite", "openai", writable=False, agent="opencode"
    ),
    recognize=_recognize,
    read=_read,
)
