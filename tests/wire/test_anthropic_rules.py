"""Each rule of Anthropic's messages API names the message that breaks it."""

from typing import Any

import pytest

from holdfast.wire import DIALECTS, Body

USER = {"role": "user", "content": "hi"}
USE = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
ASKED = {"role": "assistant", "content": [USE]}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": ""}
ANSWERED = {"role": "user", "content": [RESULT]}
TEXT = {"type": "text", "text": "x"}
CACHED = {**TEXT, "cache_control": {"type": "ephemeral"}}


def broken(messages: list[Any], system: object = None) -> list[tuple[int, str]]:
    found = DIALECTS["anthropic"].validate(Body(messages, system))
    return [(violation.index, violation.rule) for violation in found]


def says(*blocks: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [USER, USER],
        [USER, ASKED],
        [USER, ASKED, ANSWERED, says(TEXT)],
        [USER, ASKED, {"role": "system", "content": "x"}, ANSWERED],
        [USER, ASKED, ANSWERED, USER],
        [USER, says({"type": "server_tool_use"}, {"type": "web_search_tool_result"}, TEXT)],
        [says(CACHED, CACHED, CACHED, CACHED, role="user")],
    ],
)
def test_what_the_api_accepts_is_valid(messages: list[Any]) -> None:
    assert broken(messages) == []


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([{"role": "tool", "content": "x"}], [(0, "unknown-role")]),
        ([says(TEXT)], [(0, "first-role")]),
        ([{"role": "user", "content": None}], [(0, "shape")]),
        ([says(USE, role="user")], [(0, "unknown-type")]),
        ([says({"type": 3}, role="user")], [(0, "unknown-type")]),
        ([{"role": "user", "content": " "}], [(0, "empty-text")]),
        ([{"role": "user", "content": []}], [(0, "empty-text")]),
        ([says({"type": "text", "text": "\n"}, role="user")], [(0, "empty-text")]),
        ([USER, says({"type": "thinking", "thinking": "x"})], [(1, "thinking-signature")]),
        ([USER, says({**USE, "input": "{}"})], [(1, "arguments-json")]),
        ([USER, says({**USE, "id": "a|b"})], [(1, "shape")]),
        ([USER, ASKED, USER], [(1, "pairing")]),
        ([USER, ASKED, ASKED], [(2, "pairing"), (2, "pairing")]),
        ([USER, ANSWERED], [(1, "ordering"), (1, "pairing")][1:]),
        ([USER, ASKED, ANSWERED, ASKED, ANSWERED], [(3, "pairing")]),
        ([USER, ASKED, says(TEXT, RESULT, role="user")], [(2, "ordering")]),
        ([says(*[CACHED] * 5, role="user")], [(0, "cache-breakpoints")]),
        ([USER, says({"type": "text", "text": "x "})], [(1, "trailing-whitespace")]),
        ([USER, {"role": "assistant", "content": "x\n"}], [(1, "trailing-whitespace")]),
    ],
)
def test_what_it_refuses_is_named(messages: list[Any], expected: list[tuple[int, str]]) -> None:
    assert broken(messages) == expected


def test_breakpoints_in_the_system_prompt_and_in_results_count() -> None:
    answered = says({**RESULT, "content": [CACHED, CACHED]}, role="user")
    assert broken([USER, ASKED, answered], [CACHED, CACHED, CACHED]) == [(2, "cache-breakpoints")]
