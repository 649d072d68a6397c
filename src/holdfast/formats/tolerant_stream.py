"""Lets readers read what comes in as a stream, in which damage stands among the records.

A file is told as it is read. What cannot be read is told as a problem at its place, and what
comes after it is read all the same: an import takes what it can get.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.catalog import recognize
from holdfast.formats.documents import document_events, key_of
from holdfast.formats.events import MAIN, Problem
from holdfast.formats.json_access import is_object, kind_of, mapping, string
from holdfast.formats.reader import SURE, Style
from holdfast.formats.reading import read_conversation, read_source
from holdfast.formats.source import JsonSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.catalog import SessionReader
    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord


def read_tolerantly(
    reader: SessionReader, stream: Iterable[SourceRecord | Problem]
) -> Iterator[Event]:
    """Yield the events of a session file, with the problems of the stream where they stood.

    Lines of another agent that the reader passed over are one problem, at the first of them.
    """
    problems: list[Problem] = []
    strangers = _ForeignLines(reader)
    for event in reader.read(strangers.among(_records(stream, problems))):
        strangers.answered = True
        if problems:
            yield from problems
            problems.clear()
        yield event
    yield from problems
    yield from strangers.problems()


def read_documents_tolerantly(
    name: str, stream: Iterable[SourceRecord | Problem]
) -> Iterator[Event]:
    """Yield the events of documents, or of one that is given as a list of its messages.

    Args:
        name: The format, or `auto`.
        stream: The records of the file.
    """
    problems: list[Problem] = []
    messages: list[SourceRecord] = []
    count = 0
    for record in _records(stream, problems):
        yield from problems
        problems.clear()
        key = key_of(mapping(record.value))
        if not key:
            messages.append(record)
            continue
        yield from _told_one(record, key, name, count)
        count += 1
    if messages:
        yield from _told(messages, name, count)
    yield from problems


class _ForeignLines:
    """Counts the lines that a reader passed over because they are another agent's.

    Not every line of an agent is known by itself. Those that follow one that is known and tell
    nothing count with it, unless they are known as the reader's own.
    """

    def __init__(self, reader: SessionReader) -> None:
        self.answered = False
        """Whether the reader told something since it was given a line."""
        self._reader = reader
        self._owners: dict[tuple[str, ...], str] = {}
        """Whose the lines are that have these keys; "" where that is not known."""
        self._first: dict[str, SourceRecord] = {}
        self._counts = Counter[str]()
        self._latest = ""
        """Whose lines we are among."""

    def among(self, records: Iterable[SourceRecord]) -> Iterator[SourceRecord]:
        """Return the records, and count those that nothing was told of."""
        for record in records:
            self.answered = False
            yield record
            if self.answered:
                self._latest = ""
            else:
                value = mapping(record.value)
                keys = (string(value.get("type")), *value)
                if keys not in self._owners:
                    found = recognize((record,))
                    if self._reader.recognize((record,)) is not None:
                        self._owners[keys] = self._reader.format.name
                    elif found is None or found[1].confidence < SURE:
                        self._owners[keys] = ""
                    else:
                        self._owners[keys] = found[0].format.name
                owner = self._owners[keys] or self._latest
                if owner and owner != self._reader.format.name:
                    self._latest = owner
                    self._first.setdefault(owner, record)
                    self._counts[owner] += 1

    def problems(self) -> Iterator[Problem]:
        """Return how many lines of each other agent there are."""
        for owner, first in self._first.items():
            count = self._counts[owner]
            are = "1 line is" if count == 1 else f"{count:,} lines are"
            yield Problem(first.line, f"{are} of another format, {owner}, and left out", first.file)


def _records(
    stream: Iterable[SourceRecord | Problem], problems: list[Problem]
) -> Iterator[SourceRecord]:
    """Return the records that are objects, and put everything else aside."""
    for each in stream:
        if isinstance(each, Problem):
            problems.append(each)
        elif is_object(each.value):
            yield each
        else:
            reason = f"expected an object, found {kind_of(each.value)}"
            problems.append(Problem(each.line, reason, each.file))


def _told_one(record: SourceRecord, key: str, name: str, count: int) -> Iterator[Event]:
    """Yield the events of an object with a conversation at the line that it stands on."""
    try:
        document = read_conversation(record, key, name)
    except DecodeError as error:
        yield Problem(record.line, f"{error.path}: {error.problem}", record.file)
        return
    if document is None:
        yield from _told([record], name, count)
    else:
        yield from document_events(document, strand=_strand(count), line=record.line)


def _told(records: Sequence[SourceRecord], name: str, count: int) -> Iterator[Event]:
    first = records[0]
    try:
        documents = read_source(JsonSource("lines", tuple(records), Style()), format=name)
    except DecodeError as error:
        yield Problem(first.line, f"{error.path}: {error.problem}", first.file)
        return
    line = first.line if len(records) == 1 else None
    for document in documents:
        yield from document_events(document, strand=_strand(count), line=line)


def _strand(count: int) -> str:
    return str(count) if count else MAIN
