"""Conversations whose turns are lists of parts come back as such, and say what they said."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.errors import DecodeError
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Violation,
    check,
)
from holdfast.wire import DIALECTS, Body

SHAREGPT = DIALECTS["sharegpt"]


def turn(speaker: str, *parts: tuple[str, str], **fields: object) -> dict[str, Any]:
    content = [{"type": kind, "value": value} for kind, value in parts]
    return {"role": speaker, "content": content, **fields}


CALL = ("tool_call", '{"name": "f", "arguments": {"a": 1}}')
LISTED = json.dumps(
    [
        {"tool_call_id": "x", "name": "f", "content": "one"},
        {"tool_call_id": "y", "name": "f", "content": {"two": 2}},
    ]
)
BODIES: dict[str, list[dict[str, Any]]] = {
    "plain": [
        turn("system", ("text", "s")),
        turn("user", ("text", "hi"), loss_weight=0.0),
        turn("assistant", ("reasoning", "hm"), ("text", "hello"), loss_weight=1.0),
    ],
    "one call": [
        turn("assistant", ("reasoning", "hm"), CALL),
        turn("tool", ("text", '[{"x": 1}]')),
        turn("assistant", ("text", "done")),
    ],
    "several calls": [turn("assistant", CALL, CALL), turn("tool", ("text", LISTED))],
    "several calls and a bare answer": [
        turn("assistant", CALL, CALL),
        turn("tool", ("text", "both")),
    ],
    "answers one by one": [
        turn("assistant", CALL, CALL),
        turn("tool", ("text", "1")),
        turn("tool", ("text", "2")),
    ],
    "unanswered": [turn("assistant", CALL), turn("user", ("text", "never mind"))],
    "running": [turn("user", ("text", "go")), turn("assistant", CALL)],
    "no call": [turn("assistant", ("tool_call", "I would call")), turn("tool", ("text", "x"))],
    "untidy call": [
        turn("assistant", ("tool_call", '{"name":"f","arguments":{},}')),
        turn("tool", ("text", "x")),
    ],
    "answer to nothing": [turn("user", ("text", "a")), turn("tool", ("text", "b"))],
    "other parts": [turn("user", ("text", "see"), ("image_url", "https://example.test/a"))],
    "two texts": [turn("user", ("text", "a"), ("text", "")), turn("tool", ("text", "b"))],
    "nothing": [turn("assistant")],
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_read_is_written_back(name: str) -> None:
    transcript = SHAREGPT.decode(Body(BODIES[name]))
    assert SHAREGPT.encode(transcript) == Body(BODIES[name])
    assert SHAREGPT.decode(SHAREGPT.encode(transcript)) == transcript


def test_parts_become_thinking_words_calls_and_results() -> None:
    first, second, _ = SHAREGPT.decode(Body(BODIES["one call"]))
    (call,) = first.calls
    assert [type(part) for part in first.parts] == [Thinking, ToolCall]
    assert (call.name, call.arguments) == ("f", '{"a": 1}')
    (result,) = second.results
    assert (result.call_id, result.name, result.text) == (call.id, "f", '[{"x": 1}]')


def test_the_results_of_several_calls_are_told_apart() -> None:
    transcript = SHAREGPT.decode(Body(BODIES["several calls"]))
    assert [result.text for result in transcript[1].results] == ["one", '{"two": 2}']
    assert check(transcript) == ()


def test_a_call_that_nobody_answered_is_words() -> None:
    message, _ = SHAREGPT.decode(Body(BODIES["unanswered"]))
    assert message.parts == (Text('{"name": "f", "arguments": {"a": 1}}'),)


def test_what_is_added_is_written_in_parts_as_well() -> None:
    transcript = SHAREGPT.decode(Body(BODIES["plain"]))
    summary = Message(Role.USER, (Summary("they met"),), synthetic=Synthetic.SUMMARY)
    call = ToolCall("c", "g", "{}")
    added = (
        summary,
        Message(Role.USER, (Media("image", "image/png", "AAAA"),)),
        Message(Role.ASSISTANT, (Thinking("sealed", "x", {"anthropic": {}}), call)),
        Message(Role.TOOL, (ToolResult("c", (Text("answer"),)),)),
    )
    body = SHAREGPT.encode((*transcript, *added))
    assert SHAREGPT.validate(body) == ()
    assert [each["role"] for each in body.messages[3:]] == ["user", "user", "assistant", "tool"]
    assert body.messages[5]["content"] == [
        {"type": "tool_call", "value": '{"name": "g", "arguments": {}}'}
    ]
    again = SHAREGPT.decode(body)
    assert again[3].summary == Summary("they met", claimed=True)
    assert again[6].results[0].text == "answer"


def test_a_part_that_changed_is_written_as_it_is_now() -> None:
    transcript = SHAREGPT.decode(Body(BODIES["untidy call"]))
    changed = replace(
        transcript[1], parts=(replace(transcript[1].results[0], content=(Text("y"),)),)
    )
    body = SHAREGPT.encode((transcript[0], changed))
    assert body.messages == [BODIES["untidy call"][0], turn("tool", ("text", "y"))]


def test_another_kind_of_part_is_kept_and_shown_to_nobody_else() -> None:
    (message,) = SHAREGPT.decode(Body(BODIES["other parts"]))
    value = {"type": "image_url", "value": "https://example.test/a"}
    assert message.parts[1] == Opaque("sharegpt", value, "https://example.test/a")


@pytest.mark.parametrize(
    ("turns", "place"),
    [
        ([{"role": "ghost", "content": []}], r"conversations\[0\].role: unknown role 'ghost'"),
        (
            [{"role": "user", "content": [1]}],
            r"conversations\[0\].content\[0\]: expected an object",
        ),
        ([{"role": "user", "content": [{}]}], r"content\[0\].type: a part needs a type"),
        ([{"content": []}], r"conversations\[0\].role: expected text"),
    ],
)
def test_what_cannot_be_read_is_named(turns: list[dict[str, Any]], place: str) -> None:
    with pytest.raises(DecodeError, match=place):
        SHAREGPT.decode(Body(turns))


def test_turns_of_parts_have_rules_too() -> None:
    assert SHAREGPT.validate(Body([{"role": "ghost", "content": []}])) == (
        Violation(0, "unknown-role", "there is no role 'ghost'"),
    )
    assert SHAREGPT.validate(Body([{"role": "user", "content": [{"type": "text"}]}])) == (
        Violation(0, "shape", "a part of a turn has a type and a value"),
    )
    assert SHAREGPT.validate(Body([turn("user", ("text", "x")), turn("tool", ("text", "y"))])) == (
        Violation(1, "ordering", "a result must follow the turn that called"),
    )
