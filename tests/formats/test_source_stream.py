"""Files are read as they come, line by line, and what is no JSON is reported with its line."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.formats import source
from holdfast.formats.events import Problem
from holdfast.formats.source import SourceRecord, stream_records

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


def read(*chunks: bytes) -> list[SourceRecord | Problem]:
    return list(stream_records(chunks))


def test_every_line_is_a_record_with_its_number() -> None:
    assert read(b'{"a": 1}\n\n{"b": 2}\n') == [SourceRecord(1, {"a": 1}), SourceRecord(3, {"b": 2})]


def test_a_document_over_many_lines_is_one_record() -> None:
    assert read(b'{\n  "a": [1,\n 2]\n}\n') == [SourceRecord(1, {"a": [1, 2]})]


@pytest.mark.parametrize(
    "text",
    [
        b'{\n  "history": [\n    {"a": 1},\n    {"b": 2}\n  ]\n}\n',
        b'{"history": [\n{"a": 1},\n{"b": 2}\n]}\n',
        b'{"history":\n[{"a": 1},\n{"b": 2}]\n}',
    ],
)
def test_a_document_may_have_whole_objects_on_lines_of_their_own(text: bytes) -> None:
    assert read(text) == [SourceRecord(1, {"history": [{"a": 1}, {"b": 2}]})]


def test_a_long_document_may_have_whole_objects_on_lines_of_their_own() -> None:
    rows = [{"text": "x" * 60_000} for _ in range(9)]
    text = '{"rows": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in rows) + "\n]}"
    assert read(text.encode()) == [SourceRecord(1, {"rows": rows})]


def test_the_elements_of_an_array_are_records_counted_from_one() -> None:
    assert read(b'[{"a": 1}, {"b": 2}]') == [SourceRecord(1, {"a": 1}), SourceRecord(2, {"b": 2})]
    assert read(b'[\n{"a": 1}\n]') == [SourceRecord(1, {"a": 1})]


def test_a_damaged_line_is_a_problem_and_the_others_are_read() -> None:
    found = read(b'{"a": 1}\n{"b": \n{"c": 3}\n{"d"')
    assert [each for each in found if isinstance(each, SourceRecord)] == [
        SourceRecord(1, {"a": 1}),
        SourceRecord(3, {"c": 3}),
    ]
    assert [each.line for each in found if isinstance(each, Problem)] == [2, 4]


def test_a_damaged_first_line_does_not_hide_the_lines_after_it() -> None:
    first, second = read(b'cut off"}\n{"b": 2}\n')
    assert first == Problem(1, "not JSON at column 1: Expecting value")
    assert second == SourceRecord(2, {"b": 2})


def test_two_objects_on_one_line_are_two_records() -> None:
    assert read(b'{"a": 1}{"b": 2}\n{"c": 3}\n') == [
        SourceRecord(1, {"a": 1}),
        SourceRecord(1, {"b": 2}),
        SourceRecord(2, {"c": 3}),
    ]


def test_a_line_that_is_not_utf8_names_the_byte() -> None:
    assert read(b'{"a": 1}\n{"b": "\xff"}\n') == [
        SourceRecord(1, {"a": 1}),
        Problem(2, "not UTF-8 at byte 8 of the line"),
    ]


def test_what_other_writers_let_through_is_read() -> None:
    half, number = read(b'{"a": "\\ud800"}\n{"b": NaN}\n')
    assert half == SourceRecord(1, {"a": "\ud800"})
    assert isinstance(number, SourceRecord)


def test_a_line_separator_inside_a_string_ends_no_line() -> None:
    content = json.dumps({"a": "one\u2028two"}, ensure_ascii=False).encode()
    assert read(content + b"\n" + content) == [
        SourceRecord(1, {"a": "one\u2028two"}),
        SourceRecord(2, {"a": "one\u2028two"}),
    ]


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    mark, both = b"\xef\xbb\xbf", [SourceRecord(1, {"a": 1}), SourceRecord(2, {"b": 2})]
    assert read(mark + b'{"a": 1}\n{"b": 2}') == both
    assert read(mark * 2 + b'{"a": 1}\n' + mark + b'{"b": 2}') == both


def test_bottomless_nesting_is_a_problem_of_its_line() -> None:
    found = read(b'{"a": 1}\n' + b'{"a":' * 200_000 + b"\n" + b'{"b": 2}\n')
    assert found == [
        SourceRecord(1, {"a": 1}),
        Problem(2, "the values are nested too deeply"),
        SourceRecord(3, {"b": 2}),
    ]


def test_an_enormous_line_is_passed_over_without_being_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)

    def chunks() -> Iterator[bytes]:
        yield b'{"a": 1}\n{"b": "'
        for _ in range(40):
            yield b"x" * (64 << 10)
        yield b'"}\n{"c": 3}\n'

    assert read(*chunks()) == [
        SourceRecord(1, {"a": 1}),
        Problem(2, "the line is longer than 1 MiB"),
        SourceRecord(3, {"c": 3}),
    ]


def test_an_enormous_document_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST_DOCUMENT", 1 << 20)
    with pytest.raises(DecodeError, match="one JSON document of more than 1 MiB"):
        read(b"[\n", *([b"1,\n" * (64 << 10)] * 8))


@pytest.mark.parametrize("content", [b"", b" \n\t\n", b"plain words", b"\x00\x01\x02"])
def test_what_is_not_json_raises_with_the_place(content: bytes) -> None:
    with pytest.raises(DecodeError):
        read(content)


@given(st.lists(OBJECTS, min_size=2, max_size=6), st.integers(1, 40))
def test_where_chunks_are_cut_does_not_matter(values: list[object], size: int) -> None:
    content = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    assert read(*pieces) == [SourceRecord(line, value) for line, value in enumerate(values, 1)]
