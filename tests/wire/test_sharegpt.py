"""ShareGPT conversations: text comes back exactly, and is read only as far as it is certain."""

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
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    shape,
)
from holdfast.wire import DIALECTS, Body
from holdfast.wire.provenance import check_of, recognized, signed

SHAREGPT = DIALECTS["sharegpt"]


def turn(speaker: str, value: str, **fields: object) -> dict[str, Any]:
    return {"from": speaker, "value": value, **fields}


CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
ANSWER = (
    '<tool_response>\n{"tool_call_id": "call_9", "name": "f", "content": "ok"}\n</tool_response>'
)
THOUGHT = "<think>\nhm\n</think>\n"
BODIES: dict[str, list[dict[str, Any]]] = {
    "plain": [turn("system", "s"), turn("human", "hi"), turn("gpt", "hello", weight=1)],
    "other names": [turn("user", "hi"), turn("chatgpt", "yo"), turn("assistant", "")],
    "hermes": [
        turn("human", "go"),
        turn("gpt", f"{THOUGHT}{CALL}"),
        turn("tool", ANSWER),
        turn("gpt", f"{THOUGHT}done"),
    ],
    "parallel": [
        turn("gpt", f"Both.\n{CALL}\n{CALL}"),
        turn("tool", f"{ANSWER}\n{ANSWER}"),
    ],
    "untidy": [
        turn("gpt", f"{THOUGHT}\n\nwords\n\n{CALL}\n\n{CALL} and more"),
        turn("tool", f"\n{ANSWER}<tool_response>plain words</tool_response>\n"),
    ],
    "python dict": [
        turn("gpt", "<tool_call>\n{'name': 'f', 'arguments': {'a': None,},}\n</tool_call>"),
        turn("tool", '<tool_response>{"content": {"b": [1]}}</tool_response>'),
    ],
    "text arguments": [
        turn("gpt", '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>'),
        turn("tool", "bare answer"),
    ],
    "no arguments": [turn("gpt", '<tool_call>{"name": "f"}</tool_call>'), turn("tool", "x")],
    "llama factory": [
        turn("human", "go"),
        turn("function_call", '{"name": "f", "arguments": {"a": "é"}}'),
        turn("observation", '{"x":1}'),
        turn("gpt", "done"),
    ],
    "compact json": [turn("function_call", '{"name":"f","arguments":{}}'), turn("observation", "")],
    "unreadable call": [turn("gpt", "<tool_call>nothing</tool_call>"), turn("tool", "x")],
    "not a call": [turn("function_call", "I would call"), turn("observation", "x")],
    "a call that is not json": [turn("function_call", '{"no": 1}'), turn("observation", "x")],
    "unanswered call": [turn("gpt", CALL), turn("human", "never mind")],
    "running call": [turn("human", "go"), turn("gpt", CALL)],
    "answer to nothing": [turn("human", "x"), turn("tool", ANSWER), turn("observation", "y")],
    "too many answers": [turn("gpt", CALL), turn("tool", ANSWER + ANSWER)],
    "answers in two turns": [
        turn("gpt", CALL + CALL),
        turn("tool", ANSWER),
        turn("tool", ANSWER),
    ],
    "open thought": [turn("gpt", "<think>hm")],
    "only thought": [turn("gpt", "<think>\nhm\n</think>\n")],
    "open call": [turn("gpt", '<tool_call>{"name": "f", "arguments": {"a": [1')],
    "words around answers": [turn("gpt", CALL), turn("tool", f"see {ANSWER}")],
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_exactly(name: str) -> None:
    turns = BODIES[name]
    assert SHAREGPT.encode(SHAREGPT.decode(Body(turns))).messages == turns


@pytest.mark.parametrize("system", ["be good", "", None])
def test_the_prompt_beside_the_turns_comes_back(system: str | None) -> None:
    body = Body([turn("human", "hi")], system)
    assert SHAREGPT.encode(SHAREGPT.decode(body)) == body


def test_tags_are_read_as_thinking_calls_and_results() -> None:
    _, asked, answered, replied = SHAREGPT.decode(Body(BODIES["hermes"]))
    thought = Thinking("hm", extras={"sharegpt": {}})
    assert asked.parts == (thought, ToolCall("sharegpt_1_f", "f", '{"a": 1}'))
    assert answered.results[0].call_id == "sharegpt_1_f"
    assert answered.results[0].text == "ok"
    assert replied.parts == (thought, Text("done"))


def test_slips_of_models_are_understood() -> None:
    for name, arguments in [
        ("python dict", '{"a": null}'),
        ("open call", '{"a": [1]}'),
        ("no arguments", "{}"),
    ]:
        message = SHAREGPT.decode(Body(BODIES[name]))[0]
        assert [call.arguments for call in message.calls] == [arguments]


def test_what_is_not_certain_stays_text() -> None:
    for name in ("unreadable call", "not a call", "unanswered call", "a call that is not json"):
        first = SHAREGPT.decode(Body(BODIES[name]))[0]
        assert first.parts == (Text(BODIES[name][0]["value"]),)
    read = SHAREGPT.decode(Body(BODIES["answer to nothing"]))
    assert [message.role for message in read] == [Role.USER] * 3


def test_parts_that_changed_win_over_the_original_text() -> None:
    message = SHAREGPT.decode(Body(BODIES["untidy"]))[0]
    shorter = replace(message, parts=(Text("less"), *message.calls[:1]))
    assert SHAREGPT.encode((shorter,)).messages == [turn("gpt", f"less\n{CALL}")]


def test_a_function_call_that_says_more_is_a_reply() -> None:
    asked, _ = SHAREGPT.decode(Body(BODIES["compact json"]))
    longer = replace(asked, parts=(Text("well"), *asked.parts))
    (written,) = SHAREGPT.encode((longer,)).messages
    assert written["from"] == "gpt"


def test_a_foreign_conversation_is_written_in_tags() -> None:
    transcript = (
        Message(Role.SYSTEM, (Text("s"),)),
        Message(Role.USER, (Text("a"), Media("image", url="https://a/b.png"))),
        Message(Role.ASSISTANT, (Thinking("x", "s", {"anthropic": {}}),)),
        Message(Role.ASSISTANT, (ToolCall("c1", "f", "broken"),)),
        Message(Role.ASSISTANT, (Text("and"), ToolCall("c2", "f"))),
        Message(
            Role.TOOL,
            (
                ToolResult("c1", (Text('{"a": 1}'), Opaque("x", {}))),
                ToolResult("c2", (Media(data="AA"),), name="f"),
                Text("so?"),
            ),
        ),
        Message(Role.TOOL),
    )
    assert SHAREGPT.encode(transcript).messages == [
        turn("system", "s"),
        turn("human", "a\n\n[image left out: https://a/b.png]"),
        turn(
            "gpt",
            '<tool_call>\n{"name": "f", "arguments": "broken"}\n</tool_call>\nand\n'
            '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
        ),
        turn(
            "tool",
            '<tool_response>\n{"tool_call_id": "c1", "name": "", "content": {"a": 1}}\n'
            "</tool_response>\n<tool_response>\n"
            '{"tool_call_id": "c2", "name": "f", "content": "[image left out]"}\n</tool_response>',
        ),
        turn("human", "so?"),
    ]


def sign(text: str) -> str:
    return check_of(text, b"a key")


def test_a_reply_may_begin_with_a_summary_and_go_on_to_call() -> None:
    transcript = (
        Message(Role.ASSISTANT, (Summary("done <tool_call>"), ToolCall("c", "f"))),
        Message(Role.TOOL, (ToolResult("c", (Text("ok"),)),)),
    )
    body = SHAREGPT.encode(signed(transcript, sign))
    read = recognized(SHAREGPT.decode(body), sign)
    assert SHAREGPT.encode(read) == body
    assert shape(read) == "\n".join(
        ["00 assistant [summary] done <tool_call> | -> f {}", "01 tool      result: ok"]
    )


def test_a_summary_followed_by_a_broken_call_stays_words() -> None:
    said = Message(Role.ASSISTANT, (Summary("x", check=sign("x")), Text("<tool_call>?")))
    (message,) = recognized(SHAREGPT.decode(SHAREGPT.encode((said,))), sign)
    assert message.parts == said.parts


@pytest.mark.parametrize(
    ("turns", "path"),
    [
        ([turn("alien", "x")], "conversations[0].from"),
        ([{"from": "human"}], "conversations[0].value"),
        ([turn("human", "x"), {"value": "x"}], "conversations[1].from"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(turns: list[Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        SHAREGPT.decode(Body(turns))
    assert caught.value.path == path


def test_the_prompt_beside_the_turns_is_text() -> None:
    with pytest.raises(DecodeError, match="system"):
        SHAREGPT.decode(Body([], 3))


def test_rules_name_the_turn() -> None:
    turns: list[dict[str, Any]] = [
        turn("human", "x"),
        turn("tool", "y"),
        {"from": "alien", "value": 3},
    ]
    found = SHAREGPT.validate(Body(turns))
    assert [(violation.index, violation.rule) for violation in found] == [
        (1, "ordering"),
        (2, "unknown-role"),
        (2, "shape"),
    ]
