"""Each rule of the Gemini API names the turn that breaks it."""

from typing import Any

import pytest

from holdfast.wire import DIALECTS, Body

HI = {"role": "user", "parts": [{"text": "hi"}]}
ASKED = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
ANSWERED = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}


def broken(contents: list[Any]) -> list[tuple[int, str]]:
    found = DIALECTS["gemini"].validate(Body(contents))
    return [(violation.index, violation.rule) for violation in found]


@pytest.mark.parametrize("contents", [[], [HI], [HI, ASKED], [HI, ASKED, ANSWERED]])
def test_what_the_api_accepts_is_valid(contents: list[Any]) -> None:
    assert broken(contents) == []


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([{**HI, "role": "assistant"}], [(0, "unknown-role")]),
        ([{**HI, "role": "model"}], [(0, "first-role")]),
        ([{"role": "user"}], [(0, "shape")]),
        ([{"role": "user", "parts": []}], [(0, "empty-text")]),
        ([{"role": "user", "parts": [{"text": ""}]}], [(0, "empty-text")]),
        ([HI, ASKED, HI], [(1, "pairing")]),
        ([HI, ANSWERED], [(1, "pairing")]),
        ([HI, {"role": "model", "parts": [{"functionCall": {"args": {}}}]}], [(1, "shape")]),
        (
            [HI, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": []}}]}],
            [(1, "arguments-json")],
        ),
    ],
)
def test_what_it_refuses_is_named(contents: list[Any], expected: list[tuple[int, str]]) -> None:
    assert broken(contents) == expected
