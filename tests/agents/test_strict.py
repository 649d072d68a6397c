"""The strict provider takes what agents send, and refuses what a real one refuses."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.agents.strict import refusals

SEALED = {"c2VhbA==": "Look first."}
CALL = {"id": "call_1", "type": "function", "function": {"name": "sh", "arguments": "{}"}}
BODIES: dict[str, dict[str, Any]] = {
    "anthropic": {
        "system": [{"type": "text", "text": "Be good.", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Look first.", "signature": "c2VhbA=="},
                    {"type": "tool_use", "id": "toolu_1", "name": "sh", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}],
            },
        ],
    },
    "openai": {
        "messages": [
            {"role": "system", "content": "Be good."},
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [CALL],
                "reasoning_content": "Look first.",
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
        ]
    },
    "responses": {
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "Look first."}],
                "encrypted_content": "c2VhbA==",
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "sh",
                "arguments": "{}",
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
        ]
    },
    "gemini": {
        "contents": [
            {"role": "user", "parts": [{"text": "Go."}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "sh", "args": {}}, "thoughtSignature": "c2VhbA=="}
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "sh", "response": {"output": "ok"}}}],
            },
        ]
    },
}
Body = dict[str, Any]


def spoil(path: str, value: object = None) -> Callable[[Body], None]:
    """Set what stands at a path, or take it out."""
    *way, last = [int(each) if each.isdigit() else each for each in path.split(".")]

    def change(body: Any) -> None:
        for each in way:
            body = body[each]
        if value is None:
            del body[last]
        else:
            body[last] = value

    return change


@pytest.mark.parametrize("dialect", BODIES)
def test_a_turn_with_reasoning_a_call_and_its_result_is_taken(dialect: str) -> None:
    assert refusals(dialect, BODIES[dialect], SEALED) == []


@pytest.mark.parametrize(
    ("dialect", "change", "rule"),
    [
        ("anthropic", spoil("messages.1.content.0.thinking", "Else."), "seal"),
        ("anthropic", spoil("messages.1.content.0.signature", "b3RoZXI="), "seal"),
        ("anthropic", spoil("messages.1.content.1"), "order"),
        ("anthropic", spoil("messages.2.content.0.name", "sh"), "fields"),
        ("anthropic", spoil("messages.1.role", "user"), "unknown-type"),
        ("openai", spoil("messages.3.note", 1), "fields"),
        ("openai", spoil("messages.2.reasoning_content", "Else."), "seal"),
        ("openai", spoil("messages.2.tool_calls.0.id", "c" * 41), "pairing"),
        ("openai", spoil("messages.1.role", "assistant"), "order"),
        ("openai", spoil("messages.3.role", "system"), "order"),
        ("responses", spoil("input.2"), "pairing"),
        ("responses", spoil("input.1.summary.0.text", "Else."), "seal"),
        ("responses", spoil("input.2.id", "msg_1"), "shape"),
        ("responses", spoil("input.2.id", "fc_2"), "order"),
        ("responses", spoil("input.3.name", "sh"), "fields"),
        ("gemini", spoil("contents.1.parts.0.thoughtSignature"), "seal"),
        ("gemini", spoil("contents.1.parts.0.thoughtSignature", "b3RoZXI="), "seal"),
        ("gemini", spoil("contents.0"), "order"),
        ("gemini", spoil("contents.2.parts.0.note", 1), "fields"),
    ],
)
def test_what_a_provider_refuses_is_refused(
    dialect: str, change: Callable[[Body], None], rule: str
) -> None:
    body = deepcopy(BODIES[dialect])
    change(body)
    found = refusals(dialect, body, SEALED)
    assert any(each.startswith(rule) for each in found), found


def test_more_cache_markers_than_four_are_refused_wherever_they_stand() -> None:
    body = deepcopy(BODIES["anthropic"])
    body["tools"] = [{"name": f"t{n}", "cache_control": {"type": "ephemeral"}} for n in range(4)]
    assert refusals("anthropic", body, SEALED) == ["cache: more than 4 breakpoints"]
