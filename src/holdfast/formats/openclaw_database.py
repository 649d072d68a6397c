"""Reads the database in which OpenClaw keeps the sessions of an agent, from 2026.7.2 on.

Its tables are as the program's source has them: a row for each entry that older releases wrote
as a line of a file, in Pi's format. Newer releases pack large entries with zstd. Sessions that were
deleted or begun anew stand in a table of their own, each as the whole text of a file, and so do
those that nobody has touched for long, unless they were moved to real files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Noted, Rewound, Told
from holdfast.formats.database_reader import DatabaseReader
from holdfast.formats.document import Format, Problem
from holdfast.formats.lineage import parents_first
from holdfast.formats.loose import is_object, parsed, string
from holdfast.formats.openclaw_cold import read_openclaw
from holdfast.formats.openclaw_lineage import WINDOWS, abouts
from holdfast.formats.session_reader import Sign
from holdfast.formats.source import Record
from holdfast.formats.stream import stream_records

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.database_reader import Query, Row, Tables

__all__ = ["OPENCLAW_DATABASE"]

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


def _recognize(tables: Tables) -> Sign | None:
    has_sessions = any(tables.get(name, frozenset()) >= _WINDOW for name in WINDOWS)
    if has_sessions and tables.get(_EVENTS, frozenset()) >= _EVENT:
        return Sign("the tables of an agent of OpenClaw")
    return None


def _read(query: Query) -> Iterator[Event]:
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
    yield from _removed(query, known, living | cold.keys())
    outside = sum(storage != _INSIDE for own, storage in cold.items() if own not in living)
    if outside:
        yield Problem(1, f"{outside} of its sessions {_OUTSIDE}")


def _removed(query: Query, known: Mapping[str, About], kept: Container[str]) -> Iterator[Event]:
    """Tell what was deleted or begun anew; the newest of a session has the name of the session."""
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


def _events(query: Query, session: str) -> Iterator[Record | Problem]:
    columns = ("event_json", "event_zstd")
    rows = query.rows(_EVENTS, columns, where={"session_id": session}, order=("seq",))
    for place, row in enumerate(rows, 1):
        text = row.get("event_json")
        text = row.get("event_zstd") if text is None else text
        if is_object(found := parsed(text)):
            yield Record(place, found)
        elif isinstance(text, bytes) and text.startswith(_PACKED):
            yield Problem(place, f"event {place} of the session {session!r} {_SEALED}")
        else:
            yield Problem(place, f"event {place} of the session {session!r} is no JSON object")


def _archived(row: Row) -> Iterator[Record | Problem]:
    content = row.get("archive_blob")
    if isinstance(content, bytes) and not content.startswith(_PACKED):
        yield from stream_records([content])
    else:
        yield Problem(1, f"the archive of the session {row.get('session_id')!r} {_SEALED}")


def _told(strand: str, about: About, found: Iterable[Record | Problem]) -> Iterator[Event]:
    """Tell one session among others, under names that are its own."""
    problems: list[Problem] = []
    for event in read_openclaw(_records(found, problems)):
        yield from problems
        problems.clear()
        yield _placed(event, strand, about)
    yield from problems


def _records(found: Iterable[Record | Problem], problems: list[Problem]) -> Iterator[Record]:
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
        case Told():
            return replace(event, strand=strand(event.strand), key=f"{session}/{event.key}")
        case Begun(strand=name) if name == MAIN:
            return replace(event, strand=session, about=_joined(about, event.about))
        case Begun():
            after = f"{session}/{event.after}" if event.after else ""
            of = None if event.of is None else strand(event.of)
            return replace(event, strand=strand(event.strand), of=of, after=after)
        case Noted():
            return replace(event, strand=strand(event.strand))
        case Folded():
            shows = tuple(f"{session}/{key}" for key in event.shows)
            name = f"{session}/{event.id}"
            return replace(event, strand=strand(event.strand), shows=shows, id=name)
        case Rewound():
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
    recognize=_recognize,
    read=_read,
)
