"""Reads the sessions of OpenClaw: files in Pi's format, sessions laid aside, and its database.

From 2026.7.2 on, OpenClaw keeps the sessions of an agent in a database. Its tables are as the
program's source has them: a row for each entry that older releases wrote as a line of a file, in
Pi's format. Newer releases pack large entries with zstd. Sessions that were deleted or begun anew
stand in a table of their own, each as the whole text of a file. A session that nobody has touched
for long may leave the database for a file of its own, where every line is a row of a table.

A conversation is known by a key, and has a session for each time that it was begun anew. A caller
is named by its key, so the session is meant that was its newest when the other one began. That a
session follows another one of its key is no descent: it began with nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.json_access import count, is_object, mapping, milliseconds, parsed, string
from holdfast.formats.pi import read_pi, recognize_pi
from holdfast.formats.pi.writer import write_openclaw
from holdfast.formats.reader import DatabaseReader, Format, SessionReader, Sign, parents_first
from holdfast.formats.source import SourceRecord, stream_records
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.reader import DatabaseQuery, Row, Tables

WINDOWS = ("session_windows", "sessions")
"""Where sessions stand: in newer releases, and in the first that had them in a database."""
_NODES = ("session_nodes", "session_entries")
"""Where conversations stand, in the same order."""
_WINDOW_COLUMNS = (
    "session_id",
    "session_key",
    "created_at",
    "started_at",
    "model",
    "display_name",
    "parent_session_key",
    "spawned_by",
)
_NODE_COLUMNS = (
    "session_key",
    "entry_json",
    "label",
    "display_name",
    "parent_session_key",
    "spawned_by",
    "fork_source_session_id",
)


_NAMED_IN_JSON = {
    "label": "label",
    "display_name": "displayName",
    "parent_session_key": "parentSessionKey",
    "spawned_by": "spawnedBy",
    "model": "model",
}


def abouts(query: DatabaseQuery) -> Mapping[str, About]:
    """Return what is known of each session, by its id, in the order in which they began."""
    nodes: dict[str, Row] = {}
    for table in _NODES:
        for row in query.rows(table, _NODE_COLUMNS):
            # What only its JSON says counts where there is no column for it.
            entry = mapping(parsed(row.get("entry_json")))
            said = {name: entry.get(key) for name, key in _NAMED_IN_JSON.items()}
            held = {name: value for name, value in row.items() if value is not None}
            nodes[string(row.get("session_key"))] = {**said, **held}
    windows: dict[str, Row] = {}
    for table in WINDOWS:
        for row in query.rows(table, _WINDOW_COLUMNS, order=("created_at", "session_id")):
            windows.setdefault(string(row.get("session_id")), row)
    families: dict[str, list[Row]] = {}
    for row in windows.values():
        families.setdefault(string(row.get("session_key")), []).append(row)
    found: dict[str, About] = {}
    for own, row in windows.items():
        node = nodes.get(string(row.get("session_key")), {})
        about = About(
            id=string(row.get("session_id")),
            title=string(node.get("label"))
            or string(node.get("display_name"))
            or string(row.get("display_name")),
            model=string(row.get("model")) or string(node.get("model")),
            started=milliseconds(row.get("started_at")) or milliseconds(row.get("created_at")),
            more={"session_key": key} if (key := string(row.get("session_key"))) else {},
        )
        parent, fork = _origin(row, node, families)
        known = bool(parent) and parent != own
        found[own] = replace(about, parent=parent, fork=fork) if known else about
    return found


def _origin(row: Row, node: Row, families: Mapping[str, Iterable[Row]]) -> tuple[str, Fork | None]:
    own = string(row.get("session_key"))
    first = next(iter(families.get(own, ())), row)
    if (source := string(node.get("fork_source_session_id"))) and first is row:
        return source, Fork.BRANCH
    caller = string(row.get("spawned_by")) or string(node.get("spawned_by"))
    elder = string(row.get("parent_session_key")) or string(node.get("parent_session_key"))
    born = count(row.get("created_at"))
    found = list(families.get(caller or elder, ()))
    before = [each for each in found if count(each.get("created_at")) <= born]
    parents = before[-1:] or found[:1]
    ids = [string(parent.get("session_id")) for parent in parents]
    return "".join(ids), Fork.DELEGATION if caller else Fork.BRANCH


_ROWS = frozenset(["event", "identity", "active", "index", "fts"])


def read_openclaw(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of a file, or of a session that was laid aside."""
    problems: list[Problem] = []
    for event in read_pi(_entries(records, problems)):
        yield from problems
        problems.clear()
        yield event
    yield from problems


def is_cold_header(line: JsonObject) -> bool:
    """Say whether a line is the first of a session that was laid aside."""
    return line.get("kind") == "header" and "sessionId" in line and "generation" in line


def _entries(records: Iterable[SourceRecord], problems: list[Problem]) -> Iterator[SourceRecord]:
    for record in records:
        line = mapping(record.value)
        if "row" not in line or line.get("kind") not in _ROWS:
            if not is_cold_header(line):
                yield record
        elif line.get("kind") == "event":
            found = parsed(mapping(line.get("row")).get("event_json"))
            if is_object(found):
                yield structs.replace(record, value=found)
            else:
                problems.append(Problem(record.line, "an event is no JSON object", record.file))


_MARKS = ("openclaw", "model-snapshot")
"""How the names of entries begin that OpenClaw writes for itself."""

_EVENTS = "transcript_events"
_ARCHIVES = "session_transcript_archives"
_COLD = "session_transcript_cold_archives"
_EVENT = frozenset(["session_id", "seq", "event_json"])
_WINDOW = frozenset(["session_id", "session_key"])
_PACKED = b"\x28\xb5\x2f\xfd"
_INSIDE = "sqlite"
"""Where a session lies that was laid aside within the database."""
_OUTSIDE = "lie in files of the folder sessions/cold, which are imported by themselves"
_SEALED = "is packed with zstd: install 'holdfast[zstd]' and import it again"


def recognize_openclaw(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from OpenClaw; None when they are not."""
    if any(is_cold_header(mapping(record.value)) for record in records):
        return Sign("a session that OpenClaw laid aside")
    sign = recognize_pi(records)
    if sign is None:
        return None
    for record in records:
        entry = mapping(record.value)
        message = mapping(entry.get("message"))
        marks = (entry.get("customType"), entry.get("provider"), message.get("provider"))
        if "__openclaw" in message or any(string(mark).startswith(_MARKS) for mark in marks):
            return replace(sign, reason="a Pi session with entries of OpenClaw")
    return None


def recognize(tables: Tables) -> Sign | None:
    """Say why tables are those of OpenClaw; None when they are not."""
    has_sessions = any(tables.get(name, frozenset()) >= _WINDOW for name in WINDOWS)
    if has_sessions and tables.get(_EVENTS, frozenset()) >= _EVENT:
        return Sign("the tables of an agent of OpenClaw")
    return None


def read(query: DatabaseQuery) -> Iterator[Event]:
    """Return the events of a database of OpenClaw."""
    known = dict(abouts(query))
    living = {string(row.get("session_id")) for row in query.rows(_EVENTS, ("session_id",))}
    cold = {
        string(row.get("session_id")): string(row.get("storage"))
        for row in query.rows(_COLD, ("session_id", "storage"))
    }
    for own in sorted((living | cold.keys()) - known.keys()):
        known[own] = About(id=own)
    for own in parents_first({own: about.parent for own, about in known.items()}):
        if own in living:
            yield from _told(own, known[own], _events(query, own))
        elif cold.get(own) == _INSIDE:
            for row in query.rows(_COLD, ("session_id", "archive_blob"), where={"session_id": own}):
                yield from _told(own, known[own], _archived(row))
    # What was deleted or begun anew; the newest of a session has the name of the session.
    kept = living | cold.keys()
    order = ("created_at", "session_id", "generation")
    newest = {
        string(row.get("session_id")): row.get("generation")
        for row in query.rows(_ARCHIVES, ("session_id", "generation"), order=order)
    }
    columns = ("session_id", "generation", "archive_blob")
    for row in query.rows(_ARCHIVES, columns, order=order):
        own, generation = string(row.get("session_id")), row.get("generation")
        if own not in kept:
            strand = own if newest[own] == generation else f"{own}@{string(generation)}"
            yield from _told(strand, known.get(own, About(id=own)), _archived(row))
    outside = sum(storage != _INSIDE for own, storage in cold.items() if own not in living)
    if outside:
        yield Problem(1, f"{outside} of its sessions {_OUTSIDE}")


def _events(query: DatabaseQuery, session: str) -> Iterator[SourceRecord | Problem]:
    columns = ("event_json", "event_zstd")
    rows = query.rows(_EVENTS, columns, where={"session_id": session}, order=("seq",))
    for place, row in enumerate(rows, 1):
        text = row.get("event_json")
        text = row.get("event_zstd") if text is None else text
        if is_object(found := parsed(text)):
            yield SourceRecord(place, found)
        elif isinstance(text, bytes) and text.startswith(_PACKED):
            yield Problem(place, f"event {place} of the session {session!r} {_SEALED}")
        else:
            yield Problem(place, f"event {place} of the session {session!r} is no JSON object")


def _archived(row: Row) -> Iterator[SourceRecord | Problem]:
    content = row.get("archive_blob")
    if isinstance(content, bytes) and not content.startswith(_PACKED):
        yield from stream_records([content])
    else:
        yield Problem(1, f"the archive of the session {row.get('session_id')!r} {_SEALED}")


def _told(strand: str, about: About, found: Iterable[SourceRecord | Problem]) -> Iterator[Event]:
    """Yield the events of one session among others, under names that are its own."""
    problems: list[Problem] = []
    for event in read_openclaw(_records(found, problems)):
        yield from problems
        problems.clear()
        yield _placed(event, strand, about)
    yield from problems


def _records(
    found: Iterable[SourceRecord | Problem], problems: list[Problem]
) -> Iterator[SourceRecord]:
    for each in found:
        if isinstance(each, Problem):
            problems.append(each)
        else:
            yield each


def _placed(event: Event, session: str, about: About) -> Event:
    """Return an event of a session; entries that sessions share have the same ids in each."""

    def strand(name: str) -> str:
        return f"{session}/{name}" if name != MAIN else session

    match event:
        case MessageEvent():
            return structs.replace(event, strand=strand(event.strand), key=f"{session}/{event.key}")
        case StrandStarted(strand=name) if name == MAIN:
            return replace(event, strand=session, about=_joined(about, event.about))
        case StrandStarted():
            after = f"{session}/{event.after}" if event.after else ""
            of = None if event.of is None else strand(event.of)
            return replace(event, strand=strand(event.strand), of=of, after=after)
        case MetadataUpdated():
            return replace(event, strand=strand(event.strand))
        case CompactionEvent():
            shows = tuple(f"{session}/{key}" for key in event.shows)
            name = f"{session}/{event.id}"
            return replace(event, strand=strand(event.strand), shows=shows, id=name)
        case RewindEvent():
            shows = tuple(f"{session}/{key}" for key in event.shows)
            return replace(event, strand=strand(event.strand), shows=shows)
        case Problem():
            return event


def _joined(about: About, header: About) -> About:
    """Return what the row and the first entry of a session say together."""
    return replace(
        header,
        id=about.id,
        title=about.title or header.title,
        model=header.model or about.model,
        started=about.started if header.started is None else header.started,
        parent=about.parent or header.parent,
        fork=about.fork if about.parent else header.fork,
        more={**header.more, **about.more},
    )


OPENCLAW_DATABASE = DatabaseReader(
    format=Format(
        "openclaw-database",
        "OpenClaw database, SQLite",
        "anthropic",
        writable=False,
        agent="openclaw",
    ),
    recognize=recognize,
    read=read,
)
OPENCLAW = SessionReader(
    format=Format("openclaw", "OpenClaw session, JSONL", "anthropic", writable=True),
    recognize=recognize_openclaw,
    read=read_openclaw,
    write=write_openclaw,
)
