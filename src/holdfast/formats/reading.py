"""Reads a text into documents, whatever it is, and writes a transcript back into one.

A stream is told as it is read, with damage among its records: what cannot be read is told as a
problem at its place, and what comes after it is read all the same. An import takes what it can get.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.errors import DecodeError, InvalidTranscript
from holdfast.formats.catalog import (
    DOCUMENTS,
    FORMATS,
    HEAD,
    IN_DATABASES,
    SESSIONS,
    choose,
    recognize,
)
from holdfast.formats.documents import (
    SYSTEM_KEYS,
    ConversationPlace,
    document_events,
    dump,
    find_conversation,
    key_of,
    read_list,
    read_object,
    window_events,
    write_back,
)
from holdfast.formats.events import MAIN, About, Problem, native_of, with_native, without_native
from holdfast.formats.json_access import JsonObject, as_json, is_object, kind_of, mapping, string
from holdfast.formats.reader import SURE, Document, Guess, ReadOnlyFormat, Style, derived_uuid
from holdfast.formats.replay import replay
from holdfast.formats.source import JsonSource, SourceRecord, parse
from holdfast.wire import DIALECTS
from holdfast.wire.recognition import agreed, dialect_of, is_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.catalog import SessionReader
    from holdfast.formats.events import Event
    from holdfast.formats.reader import Document, Format
    from holdfast.transcript import Message, Transcript


_EXPECTED = (
    "expected messages with roles, an object with `messages`, `input`, `contents` or "
    "`conversations`, or an agent's session file"
)
_SURE = 1.0
_DIALECT_OF = {each.name: each.dialect for each in DOCUMENTS}
_RUN = "mini-swe-agent"
_RUNS = frozenset(["openai", "responses"])
"""What the messages of a run may be, whichever its model speaks."""
_TOO_DEEP = "the values are nested too deeply"


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
        return detect_source(parse(text))
    except DecodeError as error:
        return Guess("", 0.0, str(error))


def detect_source(source: JsonSource) -> Guess:
    """Return what records seem to be; the first of them are enough."""
    return _shape(source).guess


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
    return pick(read_all(text, format=format), conversation, name=format)


def pick(documents: Sequence[Document], conversation: int | None, *, name: str) -> Document:
    """Return the one conversation of a file, or that of the number, counted from 1.

    Raises:
        DecodeError: when there is another number of conversations; it says how many there are.
    """
    count = len(documents)
    name = documents[0].format if documents else name
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
    return read_source(parse(text), format=format)


def read_source(source: JsonSource, *, format: str = "auto") -> tuple[Document, ...]:  # noqa: A002
    """Read every conversation of records, as `read_all` does."""
    try:
        if format != "auto":
            choose(format, ("auto", *FORMATS))
            if format in IN_DATABASES:
                raise DecodeError(format, "the file", "this is text; expected a database")
            reader = next((each for each in SESSIONS if each.format.name == format), None)
            return (
                _read_documents(source, format)
                if reader is None
                else _read_sessions(source, reader)
            )
        shape = _shape(source)
        if shape.reader is not None:
            return _read_sessions(source, shape.reader)
        if not shape.guess.format:
            raise DecodeError("json", "the file", f"{shape.guess.reason}; {_EXPECTED}")
        return _read_documents(source, "")
    except RecursionError:
        raise DecodeError("json", "the file", _TOO_DEEP) from None


def read_conversation(record: SourceRecord, key: str, name: str) -> Document | None:
    """Read one object as a provider's document; None when the name is not one of those.

    It is taken for the format that is named, whatever it looks like.
    """
    dialect = _DIALECT_OF.get(name)
    if dialect is None:
        return None
    dialect = _spoken_in(mapping(record.value), name, dialect)
    try:
        return read_object(mapping(record.value), key, dialect, Style(), name=name)
    except RecursionError:
        raise DecodeError("json", "the file", _TOO_DEEP) from None


def documents_from_events(known: Format, events: Iterable[Event]) -> tuple[Document, ...]:
    """Return the conversations that events tell, as documents of the format they came from."""
    return tuple(
        Document(
            known.name,
            known.dialect,
            each.transcript,
            problems=each.problems,
            about=each.about,
            window=each.window,
        )
        for each in replay(events)
    )


def _shape(source: JsonSource) -> _Shape:
    found = recognize(source.records[:HEAD])
    if found is not None:
        reader, sign = found
        return _Shape(Guess(reader.format.name, sign.confidence, sign.reason), reader)
    values = [record.value for record in source.records]
    if _are_messages(source):
        verdict = dialect_of(values)
        return _Shape(Guess(verdict.dialect, verdict.confidence, verdict.told))
    places = [find_conversation(mapping(value)) for value in values]
    if values and places[0] is not None and all(places):
        first = places[0]
        name = _name_of(mapping(values[0]), first)
        confidence = first.confidence if name == first.dialect else _SURE
        return _Shape(Guess(name, confidence, first.reason))
    return _Shape(Guess("", 0.0, f"the shape of the JSON is unknown: {_sketch(source)}"))


def _are_messages(source: JsonSource) -> bool:
    values = [record.value for record in source.records]
    if not values:
        return source.layout == "array"
    return any(map(is_message, values)) and all(map(_is_among_messages, values))


def _is_among_messages(value: object) -> bool:
    """Say whether a value may stand in a list of messages, as one or beside them."""
    if not is_object(value) or find_conversation(value) is not None:
        return False
    return is_message(value) or isinstance(value.get("role") or value.get("from"), str)


def _name_of(entry: object, place: ConversationPlace) -> str:
    fields = mapping(entry)
    if place.key == "messages" and place.dialect in _RUNS:
        if string(fields.get("trajectory_format")).startswith(_RUN):
            return _RUN
        if place.dialect == "openai" and "session_id" in fields and "session_start" in fields:
            return "hermes"
    return place.dialect


def _spoken_in(entry: JsonObject, name: str, dialect: str) -> str:
    """Return the dialect of an object that is taken for a format, which is that of the format."""
    place = find_conversation(entry) if name == _RUN else None
    return place.dialect if place is not None and place.dialect in _RUNS else dialect


def _sketch(source: JsonSource) -> str:
    value = source.records[0].value
    if is_object(value):
        keys = ", ".join(sorted(value)[:6])
        several = "an object" if len(source.records) == 1 else "objects"
        return f"{several} with the keys {keys}" if keys else "an empty object"
    first = {"array": "an array whose first element is ", "lines": "its first value is "}
    return f"{first.get(source.layout, '')}{kind_of(value)}"


def _read_sessions(source: JsonSource, reader: SessionReader) -> tuple[Document, ...]:
    strays = [
        Problem(each.line, f"expected an object, found {kind_of(each.value)}")
        for each in source.records
        if not is_object(each.value)
    ]
    records = [each for each in source.records if is_object(each.value)]
    return documents_from_events(reader.format, (*source.problems, *strays, *reader.read(records)))


def _read_documents(source: JsonSource, name: str) -> tuple[Document, ...]:
    """Read provider documents; damage is fatal, because what is not read would be lost."""
    if source.problems:
        first = source.problems[0]
        raise DecodeError(name or "json", f"line {first.line}", first.reason)
    wanted = _DIALECT_OF.get(name, "")
    if _are_messages(source):
        values = [record.value for record in source.records]
        dialect = wanted or agreed(dialect_of(values), "--format")
        return (read_list(values, dialect, source.style, lines=source.layout != "array"),)
    documents: list[Document] = []
    for record in source.records:
        entry = mapping(record.value)
        place = find_conversation(entry)
        if place is None:
            problem = f"this holds no conversation: {_sketch(source)}; {_EXPECTED}"
            raise DecodeError(name, f"line {record.line}", problem)
        dialect = _spoken_in(entry, name, wanted or place.agreed())
        known = name or _name_of(entry, replace(place, dialect=dialect))
        try:
            documents.append(read_object(entry, place.key, dialect, source.style, name=known))
        except DecodeError as error:
            if len(source.records) == 1:
                raise
            path = f"line {record.line}: {error.path}"
            raise DecodeError(error.dialect, path, error.problem) from error
    return tuple(documents)


_KEYS = {
    "openai": "messages",
    "responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
    "sharegpt": "conversations",
}
_WRITERS = {each.format.name: each.write for each in SESSIONS if each.write is not None}
WRITABLE: tuple[str, ...] = (*_KEYS, *_WRITERS)
"""What any transcript can be written as."""
_PRETTY = Style("  ", final_newline=True)


def write(document: Document, transcript: Transcript, *, to: str | None = None) -> str:
    """Return a transcript as text, in the document's own container or as the format `to`.

    The own container keeps every key, its order and its indentation. Another dialect gives the
    natural request of that dialect; the format of an agent a session file that it can go on with.

    Raises:
        ReadOnlyFormat: when no format is named and the document's own cannot be written.
    """
    try:
        wanted = to or document.format
        if wanted in _WRITERS:
            is_whole = transcript == document.live
            window = transcript if is_whole else map(_uncounted, transcript)
            # What is known of a conversation, with an id that follows from what was
            # said.
            about = document.about or About()
            if about.id:
                known = about
            else:
                said = DIALECTS["openai"].encode(document.live).messages
                known = replace(about, id=derived_uuid(as_json(said)))
            events = window_events(window, known)
            return "".join(f"{line}\n" for line in _WRITERS[wanted](events))
        if wanted == document.format:
            if document.envelope is None:
                raise ReadOnlyFormat(document.format, WRITABLE)
            return write_back(document, document.envelope, transcript)
        to = choose(wanted, WRITABLE)
        envelope = document.envelope
        style = _PRETTY if envelope is None else envelope.style
        body = DIALECTS[to].encode(transcript)
        if to == "openai" and envelope is not None and envelope.rest is None:
            return dump(body.messages, style)
        request: dict[str, object] = {}
        rest = mapping(None if envelope is None else envelope.rest)
        # Gemini names its model in the address of a request, not in the request.
        if to != "gemini" and isinstance(rest.get("model"), str):
            request["model"] = rest["model"]
        if body.system is not None:
            request[SYSTEM_KEYS[to][0]] = body.system
        request[_KEYS[to]] = body.messages
        return dump(request, style)
    except RecursionError:
        raise InvalidTranscript("the values of the transcript are nested too deeply") from None


def _uncounted(message: Message) -> Message:
    """Return a message without what its answer cost.

    Agents take that of the newest answer for the size of the window, and would compact at once
    what was made smaller after it.
    """
    native = native_of(message)
    if native.usage is None:
        return message
    return with_native(without_native(message), structs.replace(native, usage=None))


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
    """Yield the events of documents, or of one that is given as a list of its messages."""
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
        try:
            document = read_conversation(record, key, name)
        except DecodeError as error:
            yield Problem(record.line, f"{error.path}: {error.problem}", record.file)
        else:
            if document is None:
                yield from _told([record], name, count)
            else:
                yield from document_events(document, strand=_strand(count), line=record.line)
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
