"""A value of the wrong shape reads as an empty one."""

import pytest

from holdfast.formats.json_access import (
    as_json,
    kind_of,
    mapping,
    mappings,
    parsed,
    sequence,
    string,
)


def test_values_of_the_right_shape_pass() -> None:
    assert (mapping({"a": 1}), sequence([1]), string("x")) == ({"a": 1}, [1], "x")


@pytest.mark.parametrize("value", [None, 1, True])
def test_other_values_read_as_empty(value: object) -> None:
    assert (dict(mapping(value)), list(sequence(value)), string(value)) == ({}, [], "")


def test_json_may_be_stored_as_text() -> None:
    assert [parsed('{"a": 1}'), parsed(b"[2]")] == [{"a": 1}, [2]]


@pytest.mark.parametrize("value", [None, 1, "", "{", b"\xff", "[" * 100_000])
def test_text_that_is_no_json_is_nothing(value: object) -> None:
    assert parsed(value) is None


def test_an_array_is_searched_for_objects() -> None:
    assert mappings([1, {"a": 1}, "x", []]) == [{"a": 1}]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "{}"), ("", "{}"), ('{"a":1}', '{"a":1}'), ({"a": "ä"}, '{"a": "ä"}'), ([1], "[1]")],
)
def test_arguments_become_json_text(value: object, text: str) -> None:
    assert as_json(value) == text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true or false"),
        (1.5, "a number"),
        ("x", "text"),
        ([], "a list"),
        ({}, "an object"),
    ],
)
def test_a_message_can_say_what_a_value_is(value: object, words: str) -> None:
    assert kind_of(value) == words
