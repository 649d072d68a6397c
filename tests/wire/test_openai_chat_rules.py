"""Each rule of OpenAI's chat API names the message that breaks it."""

from typing import Any

import pytest

from holdfast.wire import DIALECTS, Body

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
ANSWERED = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
USER = {"role": "user", "content": "hi"}


def broken(messages: list[Any]) -> list[tuple[int, str]]:
    found = DIALECTS["openai"].validate(Body(messages))
    return [(violation.index, violation.rule) for violation in found]


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [USER, USER],
        [USER, ASKED, ANSWERED, ASKED],
        [ASKED],
        [{"role": "assistant", "content": None, "refusal": "no"}],
        [{**ASKED, "tool_calls": [{"id": "c1", "type": "custom", "custom": {}}]}],
        [{"role": "user", "content": [{"type": "text", "text": ""}]}],
    ],
)
def test_what_the_api_accepts_is_valid(messages: list[Any]) -> None:
    assert broken(messages) == []


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "alien", "content": "x"}], [(0, "unknown-role")]),
        ([{"role": "alien", "content": [{"type": "odd"}]}], [(0, "unknown-role")]),
        ([{"role": "user", "content": None}], [(0, "empty-text")]),
        ([{"role": "user", "content": []}], [(0, "empty-text")]),
        ([{"role": "assistant", "content": None}], [(0, "empty-text")]),
        ([{"role": "user", "content": 3}], [(0, "shape")]),
        ([{"role": "user", "content": [{"type": "odd"}]}], [(0, "unknown-type")]),
        ([ASKED, USER], [(0, "pairing")]),
        ([ASKED, ASKED], [(0, "pairing")]),
        ([USER, ANSWERED], [(1, "pairing")]),
        ([ASKED, ANSWERED, ANSWERED], [(2, "pairing")]),
        ([{**ASKED, "tool_calls": [CALL, CALL]}, ANSWERED], [(0, "pairing")]),
        ([{**ASKED, "tool_calls": [{**CALL, "id": ""}]}], [(0, "shape")]),
        (
            [{**ASKED, "tool_calls": [{**CALL, "function": {"arguments": "{"}}]}],
            [(0, "shape"), (0, "arguments-json")],
        ),
        ([{"role": "tool", "content": "x"}], [(0, "shape"), (0, "pairing")]),
    ],
)
def test_what_it_refuses_is_named(messages: list[Any], expected: list[tuple[int, str]]) -> None:
    assert broken(messages) == expected
