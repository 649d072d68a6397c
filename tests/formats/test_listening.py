"""What comes as a stream is told as it comes, with its damage where it stood."""

from collections.abc import Iterable, Iterator

from holdfast.formats.chronicle import MAIN, About, Begun, Event, Told
from holdfast.formats.document import Format, Problem
from holdfast.formats.listening import listen, listen_to_documents
from holdfast.formats.sessions import SessionReader
from holdfast.formats.source import Record
from holdfast.transcript import Message, Role, Text


def _read(records: Iterable[Record]) -> Iterator[Event]:
    for record in records:
        if record.line == 1:
            yield Begun(strand=MAIN, line=1, about=About())
        yield told(record.line, str(record.line))


READER = SessionReader(
    format=Format("x", "x", "openai", writable=False), recognize=lambda _: None, read=_read
)


def told(line: int, text: str, *, strand: str = MAIN, key: str = "") -> Told:
    message = Message(Role.USER, (Text(text),))
    return Told(strand=strand, line=line, key=key or str(line), message=message)


def chat(line: int, *texts: str) -> Record:
    messages = [{"role": "user", "content": text} for text in texts]
    return Record(line, {"messages": messages}, "file")


def message(line: int, text: str) -> Record:
    return Record(line, {"role": "user", "content": text})


def begun(line: int, strand: str = MAIN) -> Begun:
    return Begun(strand=strand, line=line, about=About())


def test_damage_stands_where_it_stood() -> None:
    damage = Problem(2, "damaged")
    stream = [Record(1, {}), damage, Record(3, "words", "file"), Record(4, {}), Problem(5, "cut")]
    assert list(listen(READER, stream)) == [
        begun(1),
        told(1, "1"),
        damage,
        Problem(3, "expected an object, found text", "file"),
        told(4, "4"),
        Problem(5, "cut"),
    ]


def test_a_reader_never_waits_for_the_end_of_the_stream() -> None:
    def endless() -> Iterator[Record | Problem]:
        line = 0
        while True:
            line += 1
            yield Record(line, {})

    events = listen(READER, endless())
    assert [next(events), next(events), next(events)] == [begun(1), told(1, "1"), told(2, "2")]


def test_each_document_is_a_strand_at_its_line() -> None:
    damage = Problem(2, "damaged", "file")
    events = list(listen_to_documents("auto", [chat(1, "a", "b"), damage, chat(3, "c")]))
    assert [(type(each).__name__, getattr(each, "strand", None)) for each in events] == [
        ("Begun", ""),
        ("Told", ""),
        ("Told", ""),
        ("Problem", None),
        ("Begun", "1"),
        ("Told", "1"),
    ]
    assert [each.line for each in events if isinstance(each, Begun | Told)] == [1, 1, 1, 3, 3]
    keys = [each.key for each in events if isinstance(each, Told)]
    assert len(set(keys)) == 3


def test_a_document_that_cannot_be_read_is_a_problem_and_the_next_is_told() -> None:
    broken = Record(1, {"messages": [{"role": "tool", "content": "no id"}]}, "file")
    first, *rest = listen_to_documents("auto", [broken, chat(2, "a")])
    assert isinstance(first, Problem)
    assert (first.line, first.file) == (1, "file")
    assert [type(each).__name__ for each in rest] == ["Begun", "Told"]


def test_a_list_of_messages_is_one_document_with_a_line_for_each() -> None:
    stream = [message(1, "a"), Problem(2, "damaged"), message(3, "b")]
    events = list(listen_to_documents("openai", stream))
    assert [each.message.text for each in events if isinstance(each, Told)] == ["a", "b"]
    assert [each.strand for each in events if isinstance(each, Begun)] == [""]
    assert [each for each in events if isinstance(each, Problem)] == [Problem(2, "damaged")]


def test_nothing_is_told_of_an_empty_stream() -> None:
    assert list(listen(READER, [])) == []
    assert list(listen_to_documents("auto", [])) == []
    assert list(listen_to_documents("auto", [Problem(1, "cut")])) == [Problem(1, "cut")]
