"""Reads what OpenClaw writes as files: sessions in Pi's format, and those that it laid aside.

A session that nobody has touched for long may leave the database for a file of its own. There every
line is a row of a table. The rows of events hold the entries as text; the others are indexes, which
tell nothing more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.document import Problem
from holdfast.formats.loose import is_object, mapping, parsed
from holdfast.formats.pi.entries_reader import read_pi

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["is_cold_header", "read_openclaw"]

_ROWS = frozenset(["event", "identity", "active", "index", "fts"])


def read_openclaw(records: Iterable[Record]) -> Iterator[Event]:
    """Return the events of a file, or of a session that was laid aside."""
    problems: list[Problem] = []
    for event in read_pi(_entries(records, problems)):
        yield from problems
        problems.clear()
        yield event
    yield from problems


def is_cold_header(line: Mapping[str, object]) -> bool:
    """Say whether a line is the first of a session that was laid aside."""
    return line.get("kind") == "header" and "sessionId" in line and "generation" in line


def _entries(records: Iterable[Record], problems: list[Problem]) -> Iterator[Record]:
    for record in records:
        line = mapping(record.value)
        if "row" not in line or line.get("kind") not in _ROWS:
            if not is_cold_header(line):
                yield record
        elif line.get("kind") == "event":
            found = parsed(mapping(line.get("row")).get("event_json"))
            if is_object(found):
                yield replace(record, value=found)
            else:
                problems.append(Problem(record.line, "an event is no JSON object", record.file))
