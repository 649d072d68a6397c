"""Text becomes JSON records, or an error that names the place."""

import pytest

from holdfast.errors import DecodeError
from holdfast.formats.events import Problem
from holdfast.formats.reader import Style
from holdfast.formats.source import JsonSource, SourceRecord, parse, style_of


def test_an_object_is_one_record() -> None:
    assert parse('{"a": 1}') == JsonSource("object", (SourceRecord(1, {"a": 1}),), Style())


def test_an_array_is_a_record_an_element() -> None:
    assert parse("[1,\n2]").records == (SourceRecord(1, 1), SourceRecord(2, 2))


def test_lines_keep_their_numbers_and_blank_lines_are_nothing() -> None:
    source = parse('{"a":1}\n\n  {"b":2}\r\n')
    assert source == JsonSource(
        "lines",
        (SourceRecord(1, {"a": 1}), SourceRecord(3, {"b": 2})),
        Style(compact=True, final_newline=True),
    )


def test_two_objects_on_one_line_are_both_read() -> None:
    assert parse('{"a":1} {"b":2}{"c":3}').records == (
        SourceRecord(1, {"a": 1}),
        SourceRecord(1, {"b": 2}),
        SourceRecord(1, {"c": 3}),
    )


def test_a_line_separator_inside_a_string_ends_no_line() -> None:
    assert parse('{"a":"x\u2028y"}\n{"b":2}').records == (
        SourceRecord(1, {"a": "x\u2028y"}),
        SourceRecord(2, {"b": 2}),
    )


def test_a_damaged_line_is_a_problem_and_the_others_are_read() -> None:
    source = parse('{"a":1}\n{"b":2}\n{"c":')
    assert source.records == (SourceRecord(1, {"a": 1}), SourceRecord(2, {"b": 2}))
    assert source.problems == (Problem(3, "not JSON at column 6: Expecting value"),)


def test_a_bottomless_line_is_a_problem() -> None:
    source = parse('{"a":1}\n' + "[" * 100_000)
    assert source.problems == (Problem(2, "the values are nested too deeply"),)


def test_a_line_with_an_endless_number_is_a_problem() -> None:
    source = parse('{"a":1}\n' + "9" * 5_000)
    assert [problem.line for problem in source.problems] == [2]


def test_a_byte_order_mark_is_no_text() -> None:
    assert parse("\ufeff[]".encode()).layout == "array"
    together = '\ufeff\ufeff{"a": 1}\n\ufeff{"b": 2}'
    assert parse(together).records == (SourceRecord(1, {"a": 1}), SourceRecord(2, {"b": 2}))


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [
        ("", "line 1", "the text is empty"),
        (" \n\t", "line 1", "the text is empty"),
        (b"", "line 1", "the text is empty"),
        (b"ab\xff\xfe", "byte 2", "not UTF-8"),
        ("a\nb\0c", "line 2", "binary"),
        ("hello\nworld", "line 1 column 1", "Expecting value"),
        ('{\n "a": 1,\n "b"', "line 3 column 5", "Expecting ':'"),
        ('[{"a": 1},\n{"b": 2},\n', "line 3 column 1", "Expecting value"),
        ("[" * 100_000, "line 1", "nested too deeply"),
        ("9" * 5_000, "the file", "more digits than can be read"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(
    text: str | bytes, path: str, problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        parse(text)
    assert (caught.value.dialect, caught.value.path) == ("json", path)
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("[]", Style()),
        ('{"a": 1}', Style()),
        ('{"a":1}\n', Style(compact=True, final_newline=True)),
        ('{\n  "a": 1\n}', Style("  ")),
        ('[\r\n\t{"a": 1}\r\n]\n', Style("\t", final_newline=True)),
        ('{\n"a": 1\n}', Style("")),
    ],
)
def test_the_layout_is_seen_in_the_first_lines(text: str, style: Style) -> None:
    assert style_of(text) == style
