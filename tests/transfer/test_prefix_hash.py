"""Marks: equal for the same words after the same words, and for nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.formats.events import SourceMetadata
from holdfast.session import Usage
from holdfast.testing.strategies import words
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.transfer.strands import EMPTY_PREFIX, prefix_hash
from tests.transfer.taking import told

PARTS = (
    Text("a"),
    Thinking("a"),
    Summary("a"),
    Recalled("a"),
    ToolCall("a", "b", "{}"),
    ToolCall("a", "b", "[]"),
    ToolResult("a", (Text("b"),)),
    ToolResult("a", (Text("b"),), is_error=True),
    ToolResult("ab"),
    Media(data="a"),
    Media(url="a"),
    Opaque("gemini", {"a": 1}),
    Opaque("gemini", {"a": 2}),
)


def test_everything_that_was_said_makes_a_difference() -> None:
    messages = [Message(Role.USER, (part,)) for part in PARTS]
    marks = {prefix_hash(EMPTY_PREFIX, told("k", each)) for each in messages}
    assert len(marks) == len(PARTS)


@given(st.lists(words(), max_size=3), st.lists(words(), max_size=3))
def test_texts_are_not_confused_by_how_they_are_divided(one: list[str], two: list[str]) -> None:
    first, second = (
        prefix_hash(EMPTY_PREFIX, told("k", Message(Role.USER, tuple(map(Text, texts)))))
        for texts in (one, two)
    )
    assert (first == second) == (one == two)


@pytest.mark.parametrize(
    "native",
    [
        SourceMetadata(id="k", model="opus"),
        SourceMetadata(id="k", usage=Usage(1, 2, 3)),
        SourceMetadata(id="k", at=5, more={"a": 1}),
    ],
)
def test_what_a_reader_may_learn_later_makes_none(native: SourceMetadata) -> None:
    plain = told("k")
    assert prefix_hash("m", plain) == prefix_hash("m", replace(plain, native=native, line=9))


def test_what_was_told_before_makes_a_difference() -> None:
    assert prefix_hash("one", told("k")) != prefix_hash("two", told("k"))
