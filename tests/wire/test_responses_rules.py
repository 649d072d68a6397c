"""Each rule of the Responses API names the item that breaks it."""

from typing import Any

import pytest

from holdfast.wire import DIALECTS, Body

USER = {"role": "user", "content": "hi"}
REPLY = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": ""}
REASONING = {"type": "reasoning", "summary": []}


def broken(items: list[Any]) -> list[tuple[int, str]]:
    found = DIALECTS["responses"].validate(Body(items))
    return [(violation.index, violation.rule) for violation in found]


@pytest.mark.parametrize(
    "items",
    [
        [],
        [USER, REASONING, REPLY],
        [USER, REASONING, CALL, OUTPUT],
        [USER, CALL, REPLY, OUTPUT],
        [USER, CALL, {**CALL, "call_id": "c2"}, OUTPUT],
        [{"type": "compaction", "encrypted_content": "x"}, USER],
    ],
)
def test_what_the_api_accepts_is_valid(items: list[Any]) -> None:
    assert broken(items) == []


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"type": 3}], [(0, "unknown-type")]),
        ([{"role": "tool", "content": "x"}], [(0, "unknown-role")]),
        ([{"role": "user", "content": None}], [(0, "shape")]),
        ([{"role": "user", "content": [{"type": "output_text"}]}], [(0, "unknown-type")]),
        ([{"role": "user", "content": [{"type": "text"}]}], [(0, "unknown-type")]),
        ([{**CALL, "arguments": "{"}], [(0, "arguments-json")]),
        ([CALL, USER], [(0, "pairing")]),
        ([CALL, CALL], [(1, "pairing")]),
        ([OUTPUT, USER], [(0, "pairing")]),
        ([CALL, OUTPUT, OUTPUT], [(2, "pairing")]),
        ([USER, REASONING], [(1, "reasoning-successor")]),
        ([REASONING, USER], [(0, "reasoning-successor")]),
    ],
)
def test_what_it_refuses_is_named(items: list[Any], expected: list[tuple[int, str]]) -> None:
    assert broken(items) == expected
