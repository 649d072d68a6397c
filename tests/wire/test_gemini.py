"""Gemini contents: exact there and back, calls without ids still find their responses."""

import json
from typing import Any

import pytest

from holdfast.errors import DecodeError
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.wire import DIALECTS, Body

GEMINI = DIALECTS["gemini"]


def user(*parts: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts), **fields}


def model(*parts: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts), **fields}


def call(name: str = "f", **fields: object) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {"a": 1}, **fields}}


def response(name: str = "f", value: object = None, **fields: object) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": value or {"output": "ok"}, **fields}}


HI = user({"text": "hi"})
BODIES: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "system": ({"parts": [{"text": "be good"}, {"text": "please"}]}, [HI]),
    "system with a role": ({"role": "user", "parts": [{"text": "x"}]}, [HI]),
    "system as text": ("be good", [HI]),
    "thoughts": (
        None,
        [
            HI,
            model(
                {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
                {"text": "", "thoughtSignature": "ZW5k"},
                {"text": "so", "thoughtSignature": "dGV4dA=="},
            ),
        ],
    ),
    "calls without ids": (
        None,
        [
            HI,
            model({**call(), "thoughtSignature": "s"}, call("g"), {"functionCall": {"name": "f"}}),
            user(
                response("f", {"result": "1"}),
                response("g", {"error": "no"}),
                response("f", {"rows": [1, 2], "output": "x"}),
                {"text": "go on"},
            ),
        ],
    ),
    "calls with ids": (
        None,
        [
            HI,
            model(call(id="a"), call(id="b")),
            user(response(id="b", willContinue=False), response(id="a")),
        ],
    ),
    "words before a response": (
        None,
        [HI, model(call()), user({"text": "here"}, response()), model({"text": "ok"}, x=1)],
    ),
    "media": (
        None,
        [
            user(
                {"inlineData": {"mimeType": "image/png", "data": "AA"}},
                {"inlineData": {"mimeType": "audio/wav", "data": "AA", "displayName": "n"}},
                {"fileData": {"mimeType": "video/mp4", "fileUri": "https://a/b"}, "metadata": 1},
                {"fileData": {"fileUri": "gs://a/b.pdf"}},
                {"inline_data": {"mime_type": "application/pdf", "data": "AA"}},
                {"file_data": {"mime_type": "image/png", "file_uri": "u"}},
                {"inlineData": {"mimeType": "image/png"}},
            )
        ],
    ),
    "responses with media": (
        None,
        [
            HI,
            model(call(), call()),
            user(
                response(parts=[{"inlineData": {"mimeType": "image/png", "data": "AA"}}]),
                response(parts=[]),
            ),
        ],
    ),
    "snake case": (
        None,
        [
            HI,
            model({"function_call": {"name": "f", "args": {}}, "thought_signature": "s"}),
            user({"function_response": {"name": "f", "response": {"output": "x"}}}),
            model({"text": "hm", "thought": True, "thought_signature": "s"}, {"text": "x"}),
        ],
    ),
    "code": (
        None,
        [
            HI,
            model(
                {"executableCode": {"language": "PYTHON", "code": "1+1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
                {"odd": {}},
            ),
        ],
    ),
    "no role": (None, [{"parts": [{"text": "hi"}], "x": 1}]),
    "function role": (
        None,
        [HI, model(call()), {"role": "function", "parts": [response()], "extra": 1}],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_exactly(name: str) -> None:
    system, contents = BODIES[name]
    body = Body(contents, system)
    before = json.dumps([system, contents])
    assert GEMINI.encode(GEMINI.decode(body)) == body
    assert json.dumps([system, contents]) == before


def test_calls_without_ids_are_paired_by_name_and_order() -> None:
    _, asked, answered, _ = GEMINI.decode(Body(BODIES["calls without ids"][1]))
    first, second, third = (call.id for call in asked.calls)
    assert [result.call_id for result in answered.results] == [first, second, third]
    assert [(result.text, result.is_error) for result in answered.results] == [
        ("1", False),
        ("no", True),
        ('{"rows": [1, 2], "output": "x"}', False),
    ]


def test_ids_on_the_wire_decide_and_strays_are_named() -> None:
    _, asked, answered = GEMINI.decode(Body(BODIES["calls with ids"][1]))
    assert [call.id for call in asked.calls] == ["a", "b"]
    assert [result.call_id for result in answered.results] == ["b", "a"]
    stray, other = GEMINI.decode(Body([user(response()), user(response(id="z"))]))
    assert (stray.results[0].call_id, other.results[0].call_id) == ("gemini_0_f", "z")


def test_code_says_what_anyone_may_read() -> None:
    _, message = GEMINI.decode(Body(BODIES["code"][1]))
    found = [part.readable for part in message.parts if isinstance(part, Opaque)]
    assert found == ["1+1", "2", ""]


def contents(*messages: Message) -> list[dict[str, Any]]:
    return GEMINI.encode(messages).messages


def test_a_foreign_conversation_is_put_in_turns() -> None:
    assert contents(
        Message(Role.ASSISTANT, (Text("hello"),)),
        Message(Role.USER, (Text("a"),)),
        Message(Role.SYSTEM, (Text("b"),)),
        Message(Role.ASSISTANT, (Thinking("hm", "s", {"anthropic": {}}),)),
        Message(Role.ASSISTANT, (ToolCall("c1", "f", '{"x": 1}'),)),
        Message(
            Role.TOOL,
            (
                ToolResult(
                    "c1",
                    (Text("1"), Text("2"), Opaque("openai", {}), Media("image", "image/png", "AA")),
                ),
            ),
        ),
        Message(Role.ASSISTANT, (Text(""),)),
    ) == [
        user({"text": "(conversation continues)"}),
        model({"text": "hello"}),
        user({"text": "a"}, {"text": "b"}),
        model({"functionCall": {"name": "f", "args": {"x": 1}, "id": "c1"}}),
        user(
            {
                "functionResponse": {
                    "name": "f",
                    "response": {"output": "1\n2"},
                    "id": "c1",
                    "parts": [{"inlineData": {"mimeType": "image/png", "data": "AA"}}],
                }
            }
        ),
        model({"text": "(no content)"}),
    ]


def test_errors_and_rewritten_responses_are_written_as_they_are() -> None:
    _, _, answered, _ = GEMINI.decode(Body(BODIES["calls without ids"][1]))
    one, _, three = answered.results
    rewritten = Message(
        Role.TOOL,
        (
            ToolResult(one.call_id, (Text("bad"),), is_error=True, name="f", extras=one.extras),
            ToolResult(three.call_id, (Text("short"),), name="f", extras=three.extras),
            ToolResult("nobody", (Text("x"),)),
        ),
    )
    (content,) = contents(rewritten)
    responses = [part["functionResponse"]["response"] for part in content["parts"]]
    assert responses == [{"error": "bad"}, {"output": "short"}, {"output": "x"}]
    assert content["parts"][2]["functionResponse"]["name"] == "unknown"


def test_media_goes_where_it_is_taken() -> None:
    (content,) = contents(
        Message(
            Role.USER,
            (
                Media("image", url="data:image/png;base64,AA"),
                Media("image", "image/png", url="https://a/b.png"),
                Media("image", url="https://a/b.png"),
                Media("file", url="file_of_another"),
            ),
        )
    )
    assert content["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "AA"}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://a/b.png"}},
        {"fileData": {"fileUri": "https://a/b.png"}},
        {"text": "[file left out]"},
    ]


def test_prompts_join() -> None:
    body = GEMINI.encode((Message(Role.SYSTEM, (Text("a"),)), Message(Role.SYSTEM, (Text("b"),))))
    assert body == Body([], {"parts": [{"text": "a"}, {"text": "b"}]})


def test_a_turn_without_parts_is_read_and_gets_words() -> None:
    (message,) = GEMINI.decode(Body([user()]))
    assert message == Message(Role.USER, (), "parts")
    assert contents(message) == [user({"text": "(no content)"})]


@pytest.mark.parametrize(
    ("system", "turns", "path"),
    [
        (3, [], "systemInstruction"),
        ({"parts": 3}, [], "systemInstruction.parts"),
        (None, [{"role": "tool", "parts": []}], "contents[0].role"),
        (None, [{"role": "user"}], "contents[0].parts"),
        (None, [model({"functionCall": {}})], "contents[0].parts[0].functionCall.name"),
        (
            None,
            [user({"functionResponse": {"name": "f"}})],
            "contents[0].parts[0].functionResponse.response",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(
    system: object, turns: list[Any], path: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        GEMINI.decode(Body(turns, system))
    assert caught.value.path == path


def test_a_result_that_an_agent_logged_by_another_name_has_that_of_its_call() -> None:
    asked = Message(Role.ASSISTANT, (ToolCall("c", "shell", "{}"),))
    answered = Message(Role.TOOL, (ToolResult("c", (Text("ok"),), name="terminal"),))
    body = GEMINI.encode((Message(Role.USER, (Text("hi"),)), asked, answered))
    assert body.messages[-1] == user(response("shell", id="c"))
    assert GEMINI.validate(body) == ()


def test_a_response_by_another_name_than_its_call_comes_back_exactly() -> None:
    turns = [HI, model(call("f", id="c")), user(response("g", id="c"))]
    assert GEMINI.encode(GEMINI.decode(Body(turns))).messages == turns
