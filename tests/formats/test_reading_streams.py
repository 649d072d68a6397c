"""What comes as a stream is told as it comes, with its damage where it stood."""

from collections.abc import Iterable, Iterator

from holdfast.formats.catalog import SessionReader
from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.events import MAIN, About, Event, MessageEvent, Problem, StrandStarted
from holdfast.formats.pi import PI
from holdfast.formats.reader import Format
from holdfast.formats.reading import read_documents_tolerantly, read_tolerantly
from holdfast.formats.source import SourceRecord
from holdfast.transcript import Message, Role, Text


def _read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    for record in records:
        if record.line == 1:
            yield StrandStarted(strand=MAIN, line=1, about=About())
        yield told(record.line, str(record.line))


READER = SessionReader(
    format=Format("x", "x", "openai", writable=False), recognize=lambda _: None, read=_read
)


def told(line: int, text: str, *, strand: str = MAIN, key: str = "") -> MessageEvent:
    message = Message(Role.USER, (Text(text),))
    return MessageEvent(strand=strand, line=line, key=key or str(line), message=message)


def chat(line: int, *texts: str) -> SourceRecord:
    messages = [{"role": "user", "content": text} for text in texts]
    return SourceRecord(line, {"messages": messages}, "file")


def message(line: int, text: str) -> SourceRecord:
    return SourceRecord(line, {"role": "user", "content": text})


def begun(line: int, strand: str = MAIN) -> StrandStarted:
    return StrandStarted(strand=strand, line=line, about=About())


def test_damage_stands_where_it_stood() -> None:
    damage = Problem(2, "damaged")
    stream = [
        SourceRecord(1, {}),
        damage,
        SourceRecord(3, "words", "file"),
        SourceRecord(4, {}),
        Problem(5, "cut"),
    ]
    assert list(read_tolerantly(READER, stream)) == [
        begun(1),
        told(1, "1"),
        damage,
        Problem(3, "expected an object, found text", "file"),
        told(4, "4"),
        Problem(5, "cut"),
    ]


def test_a_reader_never_waits_for_the_end_of_the_stream() -> None:
    def endless() -> Iterator[SourceRecord | Problem]:
        line = 0
        while True:
            line += 1
            yield SourceRecord(line, {})

    events = read_tolerantly(READER, endless())
    assert [next(events), next(events), next(events)] == [begun(1), told(1, "1"), told(2, "2")]


def test_each_document_is_a_strand_at_its_line() -> None:
    damage = Problem(2, "damaged", "file")
    events = list(read_documents_tolerantly("auto", [chat(1, "a", "b"), damage, chat(3, "c")]))
    assert [(type(each).__name__, getattr(each, "strand", None)) for each in events] == [
        ("StrandStarted", ""),
        ("MessageEvent", ""),
        ("MessageEvent", ""),
        ("Problem", None),
        ("StrandStarted", "1"),
        ("MessageEvent", "1"),
    ]
    assert [each.line for each in events if isinstance(each, StrandStarted | MessageEvent)] == [
        1,
        1,
        1,
        3,
        3,
    ]
    keys = [each.key for each in events if isinstance(each, MessageEvent)]
    assert len(set(keys)) == 3


def test_a_document_that_cannot_be_read_is_a_problem_and_the_next_is_told() -> None:
    broken = SourceRecord(1, {"messages": [{"role": "tool", "content": "no id"}]}, "file")
    first, *rest = read_documents_tolerantly("auto", [broken, chat(2, "a")])
    assert isinstance(first, Problem)
    assert (first.line, first.file) == (1, "file")
    assert [type(each).__name__ for each in rest] == ["StrandStarted", "MessageEvent"]


def test_a_list_of_messages_is_one_document_with_a_line_for_each() -> None:
    stream = [message(1, "a"), Problem(2, "damaged"), message(3, "b")]
    events = list(read_documents_tolerantly("openai", stream))
    assert [each.message.text for each in events if isinstance(each, MessageEvent)] == ["a", "b"]
    assert [each.strand for each in events if isinstance(each, StrandStarted)] == [""]
    assert [each for each in events if isinstance(each, Problem)] == [Problem(2, "damaged")]


def test_nothing_is_told_of_an_empty_stream() -> None:
    assert list(read_tolerantly(READER, [])) == []
    assert list(read_documents_tolerantly("auto", [])) == []
    assert list(read_documents_tolerantly("auto", [Problem(1, "cut")])) == [Problem(1, "cut")]


def pi_entry(line: int, **fields: object) -> SourceRecord:
    return SourceRecord(
        line, {"type": "message", "id": str(line), "timestamp": STARTED, **fields}, "f"
    )


def claude_line(line: int) -> SourceRecord:
    fields = {"uuid": str(line), "parentUuid": None, "sessionId": "s", "timestamp": STARTED}
    content = {"role": "user", "content": "hello"}
    return SourceRecord(line, {"type": "user", **fields, "message": content}, "f")


STARTED = "2026-11-16T09:30:00.000Z"
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": STARTED, "cwd": "/srv"}


def test_lines_of_another_agent_are_one_problem_with_their_number() -> None:
    said = {"role": "user", "content": "hi"}
    own = [SourceRecord(1, HEADER, "f"), pi_entry(2, parentId=None, message=said)]
    others = [claude_line(line) for line in range(3, 9)]
    back = pi_entry(9, parentId="2", message=said)
    unknown = SourceRecord(10, {"type": "settings", "theme": "dark"}, "f")
    events = list(read_tolerantly(PI, [*own, *others, back, unknown]))
    assert [event.line for event in events if isinstance(event, MessageEvent)] == [2, 9]
    assert [event for event in events if isinstance(event, Problem)] == [
        Problem(3, "6 lines are of another format, claude-code, and left out", "f")
    ]


def test_lines_that_are_not_known_by_themselves_count_with_the_one_before() -> None:
    said = {"role": "user", "content": "hi"}
    others = [SourceRecord(2, HEADER, "f"), pi_entry(3, parentId=None, message=said)]
    events = list(read_tolerantly(CLAUDE_CODE, [claude_line(1), *others, claude_line(4)]))
    assert [event for event in events if isinstance(event, Problem)] == [
        Problem(2, "2 lines are of another format, pi, and left out", "f")
    ]
