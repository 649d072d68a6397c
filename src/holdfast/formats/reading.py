"""Reads a text into documents, whatever it is, and says what it took the text for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.catalog import DOCUMENTS, FORMATS, choose
from holdfast.formats.container import Place, find, read_list, read_object
from holdfast.formats.dialect import dialect_of, is_message
from holdfast.formats.document import Document, Guess, Problem
from holdfast.formats.loose import is_object, kind_of, mapping, string
from holdfast.formats.sessions import SESSIONS
from holdfast.formats.source import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats.sessions import SessionReader
    from holdfast.formats.source import Record, Source

__all__ = ["detect", "read", "read_all"]

_EXPECTED = (
    "expected messages with roles, an object with `messages`, `input`, `contents` or "
    "`conversations`, or an agent's session file"
)
_SURE = 1.0
_LIKELY = 0.8
_DEFAULT = 0.5


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a source was taken for, and how it is read."""

    guess: Guess
    reader: SessionReader | None = None
    """None when the source is a provider's document."""


def detect(text: str | bytes) -> Guess:
    """Return what a text seems to be, by its content alone.

    A text that is no known format gives a guess without a name and the reason.
    """
    try:
        return _shape(parse(text)).guess
    except DecodeError as error:
        return Guess("", 0.0, str(error))


def read(
    text: str | bytes,
    *,
    format: str = "auto",  # noqa: A002
    conversation: int | None = None,
) -> Document:
    """Read a text that holds one conversation, or one of those that it holds.

    Args:
        text: the content of a file; bytes are taken for UTF-8.
        format: a name in `FORMATS`, or `auto` to go by the content.
        conversation: which one, counted from 1; without it there has to be exactly one.

    Raises:
        DecodeError: when the text cannot be read, or holds another number of conversations.
    """
    documents = read_all(text, format=format)
    count = len(documents)
    name = documents[0].format if documents else format
    if conversation is not None:
        if not 1 <= conversation <= count:
            problem = f"there is no conversation {conversation}; the file holds {count:,}"
            raise DecodeError(name, "the file", problem)
        return documents[conversation - 1]
    if count != 1:
        choice = f"; choose one with --conversation, from 1 to {count}" if count else ""
        raise DecodeError(name, "the file", f"expected one conversation, found {count:,}{choice}")
    return documents[0]


def read_all(text: str | bytes, *, format: str = "auto") -> tuple[Document, ...]:  # noqa: A002
    """Read every conversation of a text, in order.

    Raises:
        DecodeError: when the text cannot be read, with the place and what was expected.
    """
    try:
        source = parse(text)
        if format != "auto":
            choose(format, ("auto", *FORMATS))
            return _read_as(source, format)
        shape = _shape(source)
        if shape.reader is not None:
            return _read_sessions(source, shape.reader)
        if not shape.guess.format:
            raise DecodeError("json", "the file", f"{shape.guess.reason}; {_EXPECTED}")
        return _read_documents(source, "")
    except RecursionError:
        raise DecodeError("json", "the file", "the values are nested too deeply") from None


def _read_as(source: Source, name: str) -> tuple[Document, ...]:
    reader = next((each for each in SESSIONS if each.format.name == name), None)
    return _read_documents(source, name) if reader is None else _read_sessions(source, reader)


def _shape(source: Source) -> _Shape:
    for reader in SESSIONS:
        reason = reader.recognize(source.records)
        if reason:
            return _Shape(Guess(reader.format.name, _SURE, reason), reader)
    return _Shape(_document_guess(source))


def _document_guess(source: Source) -> Guess:
    values = [record.value for record in source.records]
    if _are_messages(source):
        dialect, reason = dialect_of(values)
        plain = dialect == "openai" and not any("tool_calls" in mapping(each) for each in values)
        return Guess(dialect, _DEFAULT if plain else _LIKELY, reason)
    places = [find(mapping(value)) for value in values]
    if values and places[0] is not None and all(places):
        name = _name_of(mapping(values[0]), places[0])
        return Guess(name, _SURE if name != places[0].dialect else _LIKELY, places[0].reason)
    return Guess("", 0.0, f"the shape of the JSON is unknown: {_sketch(source)}")


def _are_messages(source: Source) -> bool:
    values = [record.value for record in source.records]
    if not values:
        return source.layout == "array"
    return any(map(is_message, values)) and all(map(_is_among_messages, values))


def _is_among_messages(value: object) -> bool:
    """Say whether a value may stand in a list of messages, as one or beside them."""
    if not is_object(value) or find(value) is not None:
        return False
    return is_message(value) or isinstance(value.get("role"), str)


def _name_of(entry: object, place: Place) -> str:
    fields = mapping(entry)
    if place.dialect == "openai" and place.key == "messages":
        if string(fields.get("trajectory_format")).startswith("mini-swe-agent"):
            return "mini-swe-agent"
        if "session_id" in fields and "session_start" in fields:
            return "hermes"
    return place.dialect


def _sketch(source: Source) -> str:
    value = source.records[0].value
    if is_object(value):
        keys = ", ".join(sorted(value)[:6])
        return f"objects with the keys {keys}" if keys else "an empty object"
    kind = kind_of(value)
    several = {"array": "an array whose first element is ", "lines": "lines, the first of them "}
    return f"{several.get(source.layout, '')}{kind}"


def _read_sessions(source: Source, reader: SessionReader) -> tuple[Document, ...]:
    strays = [
        Problem(each.line, f"expected an object, found {kind_of(each.value)}")
        for each in source.records
        if not is_object(each.value)
    ]
    records = [each for each in source.records if is_object(each.value)]
    damage = (*source.problems, *strays)
    groups = [[each] for each in records] if reader.apart else [records]
    documents = [_session(group, reader) for group in groups if group]
    if documents and damage:
        first = documents[0]
        problems = sorted((*damage, *first.problems), key=lambda problem: problem.line)
        documents[0] = replace(first, problems=tuple(problems))
    return tuple(documents)


def _session(records: Sequence[Record], reader: SessionReader) -> Document:
    reading = reader.read(records)
    known = reader.format
    return Document(known.name, known.dialect, reading.transcript, problems=reading.problems)


def _read_documents(source: Source, name: str) -> tuple[Document, ...]:
    """Read provider documents; damage is fatal, because what is not read would be lost."""
    if source.problems:
        first = source.problems[0]
        raise DecodeError(name or "json", f"line {first.line}", first.reason)
    wanted = next((each.dialect for each in DOCUMENTS if each.name == name), "")
    if _are_messages(source):
        values = [record.value for record in source.records]
        dialect = wanted or dialect_of(values)[0]
        return (read_list(values, dialect, source.style, lines=source.layout != "array"),)
    return tuple(_read_one(record, source, name, wanted) for record in source.records)


def _read_one(record: Record, source: Source, name: str, wanted: str) -> Document:
    entry = mapping(record.value)
    place = find(entry)
    if place is None:
        problem = f"this holds no conversation: {_sketch(source)}; {_EXPECTED}"
        raise DecodeError(name, f"line {record.line}", problem)
    if wanted:
        place = replace(place, dialect=wanted)
    try:
        return read_object(entry, place, source.style, name=name or _name_of(entry, place))
    except DecodeError as error:
        if len(source.records) == 1:
            raise
        path = f"line {record.line}: {error.path}"
        raise DecodeError(error.dialect, path, error.problem) from error
