"""The words of a message that a search should find."""

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.session import searchable
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def words(*parts: Part) -> str:
    return searchable(Message(Role.ASSISTANT, parts))


def test_everything_that_can_be_read_is_searchable() -> None:
    found = words(
        Text("one"),
        Thinking("two", "seal"),
        Summary("three"),
        ToolResult("c", (Text("four"), Opaque("openai", {"x": "hidden"}, "five"), Text(""))),
        Opaque("openai", {"x": "hidden"}),
        Media("image", data="aGlkZGVu", url="https://example.org/six.png"),
        Media("image", url="data:image/png;base64,aGlkZGVu"),
    )
    assert found == "one\ntwo\nthree\nfour\nfive\nhttps://example.org/six.png"


def test_arguments_are_read_as_json() -> None:
    arguments = '{"path": "a\\nb", "deep": [{"n": 7}, null, true, "é"], "last": 1.5}'
    assert words(ToolCall("c", "write", arguments)) == "write\na\nb\n7\né\n1.5"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_every_leaf_is_read_as_json_reads_it(value: object) -> None:
    arguments = json.dumps(value)
    assert words(ToolCall("c", "", arguments)) == "\n".join(
        filter(None, leaves(json.loads(arguments)))
    )


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        value = list(cast("dict[str, object]", value).values())
    if isinstance(value, list):
        return [leaf for each in cast("list[object]", value) for leaf in leaves(each)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ('{"a": NaN, "b": -Infinity, "c": 1e999}', "nan\n-inf\ninf"),
        ('["\\ud83d", "\\ud83d\\ude00"]', "\ud83d\n\U0001f600"),
        ("[1" + "0" * 30 + "]", "1" + "0" * 30),
        ('"a\tb"', '"a\tb"'),
    ],
)
def test_odd_values_are_read_as_python_reads_them(arguments: str, found: str) -> None:
    assert words(ToolCall("c", "", arguments)) == found


def test_arguments_that_are_no_json_are_read_as_they_are() -> None:
    assert words(ToolCall("c", "run", "{oops")) == "run\n{oops"
    deep = "[" * 100_000
    assert words(ToolCall("c", "run", deep)) == f"run\n{deep}"
