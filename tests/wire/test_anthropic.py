"""Anthropic messages: exact there and back, and always in the order the API asks for."""

import json
from typing import Any

import pytest

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

ANTHROPIC = DIALECTS["anthropic"]
USER: dict[str, Any] = {"role": "user", "content": "hi"}


def assistant(*blocks: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks), **fields}


def user(*blocks: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks), **fields}


def use(call_id: str = "toolu_1", **fields: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "bash", "input": {"a": [1.5, "é"]}, **fields}


def result(call_id: str = "toolu_1", **fields: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, **fields}


def text(words: str, **fields: object) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


CACHE = {"cache_control": {"type": "ephemeral"}}
PIXEL = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
IMAGE = {"type": "image", "source": PIXEL}
BODIES: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "strings": ("be good", [USER, {"role": "assistant", "content": "hello"}]),
    "system blocks": ([text("a", **CACHE), text("b")], [USER]),
    "empty system": ([], [USER]),
    "no system": (None, [USER]),
    "blocks": (None, [user(text("a"), text("b", **CACHE))]),
    "message fields": (None, [user(text("a"), id="x"), assistant(text("b"), model="m")]),
    "thinking": (
        None,
        [
            USER,
            assistant(
                {"type": "thinking", "thinking": "hm", "signature": "sig=="},
                {"type": "thinking", "thinking": "", "signature": "s2", "extra": 1},
                {"type": "redacted_thinking", "data": "xyz"},
                text("so"),
                use(),
            ),
            user(result(content="ok")),
        ],
    ),
    "unsigned thinking": (None, [USER, assistant({"type": "thinking", "thinking": "hm"})]),
    "results": (
        None,
        [
            USER,
            assistant(use("a"), use("b", **CACHE), use("c"), use("d"), use("e")),
            user(
                result("a", content="ok", is_error=False),
                result("b", content=[text("no"), IMAGE], is_error=True, **CACHE),
                result("c", is_error=False),
                result("d", content=[]),
                result("e", content=None),
                text("go on"),
                IMAGE,
                id="after",
            ),
        ],
    ),
    "result of other things": (
        None,
        [
            USER,
            assistant(use()),
            user(result(content=[{"type": "tool_reference", "tool_name": "x"}])),
        ],
    ),
    "media": (
        None,
        [
            user(
                IMAGE,
                {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}, **CACHE},
                {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
                {"type": "image", "source": {**PIXEL, "odd": 1}},
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "QQ=="},
                    "title": "t",
                },
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "words"},
                },
            )
        ],
    ),
    "server tools": (
        None,
        [
            USER,
            assistant(
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
                {"type": "compaction", "content": "what was said"},
                text("found"),
            ),
        ],
    ),
    "system message inside": (None, [USER, {"role": "system", "content": "note", "x": 1}]),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_exactly(name: str) -> None:
    system, messages = BODIES[name]
    body = Body(messages, system)
    before = json.dumps([system, messages])
    assert ANTHROPIC.encode(ANTHROPIC.decode(body)) == body
    assert json.dumps([system, messages]) == before


def test_results_and_the_words_after_them_are_two_messages() -> None:
    system, messages = BODIES["results"]
    assert shape(ANTHROPIC.decode(Body(messages, system)), 40) == "\n".join(
        [
            "00 user      hi",
            '01 assistant -> bash {"a": [1.5, "é"]} | -> bash {"a…',
            "02 tool      result: ok | error: no | result:  | res…",
            "03 user      go on | [image]",
        ]
    )


def test_thinking_keeps_its_seal() -> None:
    (_, message, _) = ANTHROPIC.decode(Body(BODIES["thinking"][1]))
    assert message.parts[:3] == (
        Thinking("hm", "sig==", {"anthropic": {}}),
        Thinking("", "s2", {"anthropic": {"extra": 1}}),
        Thinking("", "xyz", {"anthropic": {"type": "redacted_thinking"}}),
    )


def test_items_of_the_provider_say_what_anyone_may_read() -> None:
    (_, message) = ANTHROPIC.decode(Body(BODIES["server tools"][1]))
    assert [part.readable for part in message.parts if isinstance(part, Opaque)] == [
        "",
        "",
        "what was said",
    ]


def wire(*messages: Message) -> list[dict[str, Any]]:
    return ANTHROPIC.encode(messages).messages


def test_neighbors_of_one_role_become_one_message() -> None:
    assert wire(
        Message(Role.USER, (Text("a"),)),
        Message(Role.USER, (Text("b"),)),
        Message(Role.ASSISTANT, (Text("c"),)),
        Message(Role.ASSISTANT, (ToolCall("x", "f"),)),
        Message(Role.TOOL, (ToolResult("x", (Text("ok"),)),)),
        Message(Role.USER, (Text("d"),)),
    ) == [
        user(text("a"), text("b")),
        assistant(text("c"), {"type": "tool_use", "id": "x", "name": "f", "input": {}}),
        user(result("x", content="ok"), text("d")),
    ]


def test_results_come_first_whatever_was_said_between_them() -> None:
    written = wire(
        Message(Role.ASSISTANT, (ToolCall("x", "f"), ToolCall("y", "f"))),
        Message(Role.TOOL, (ToolResult("x", (Text("1"),)),)),
        Message(Role.USER, (Text("wait"),)),
        Message(Role.TOOL, (ToolResult("y", (Text("2"),)),)),
    )
    assert written[-1] == user(result("x", content="1"), result("y", content="2"), text("wait"))


def test_a_user_speaks_first_and_nothing_is_blank() -> None:
    assert wire(
        Message(Role.ASSISTANT, (Text("hello"),)),
        Message(Role.USER, (Text(" \n"),)),
        Message(Role.ASSISTANT, (Text(""), Text("bye \n")), "parts"),
    ) == [
        {"role": "user", "content": "(conversation continues)"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "(no content)"},
        assistant(text("bye")),
    ]
    assert wire(Message(Role.USER, (Text("x"),)), Message(Role.ASSISTANT, (Text("y "),)))[1] == {
        "role": "assistant",
        "content": "y",
    }


def test_ids_and_names_become_plain_and_unique() -> None:
    asked = Message(Role.ASSISTANT, (ToolCall("call|1", "my.tool", "[1]"), ToolCall("", "", " ")))
    answered = Message(Role.TOOL, (ToolResult("call|1"), ToolResult("")))
    written = wire(Message(Role.USER, (Text("x"),)), asked, answered, asked, answered)
    uses = [block for message in written[1::2] for block in message["content"]]
    assert len({block["id"] for block in uses}) == 4
    answers = [block["tool_use_id"] for message in written[2::2] for block in message["content"]]
    assert answers == [block["id"] for block in uses]
    assert [(block["name"], block["input"]) for block in uses[:2]] == [
        ("my_tool", {"arguments": "[1]"}),
        ("tool", {}),
    ]
    assert ANTHROPIC.validate(Body(written)) == ()


def test_prompts_join_and_later_ones_are_spoken_by_the_user() -> None:
    body = ANTHROPIC.encode(
        (
            Message(Role.SYSTEM, (Text("a"),)),
            Message(Role.SYSTEM, (Text("b"), Text(""))),
            Message(Role.USER, (Text("c"),)),
            Message(Role.SYSTEM, (Text("d"),)),
        )
    )
    assert body == Body([user(text("c"), text("d"))], [text("a"), text("b")])


def test_media_that_the_api_refuses_leaves_words() -> None:
    parts = (
        Media("audio", "audio/wav", "AA"),
        Media("image", "image/tiff", "AA"),
        Media("image", url="file_of_another"),
        Media("image", url="data:image/png;base64,AA"),
        Media("file", "application/pdf", "AA"),
    )
    (message,) = wire(Message(Role.USER, parts))
    assert [block["type"] for block in message["content"]] == [
        "text",
        "text",
        "text",
        "image",
        "document",
    ]
    reply = wire(Message(Role.USER, (Text("x"),)), Message(Role.ASSISTANT, (Media(data="AA"),)))
    assert reply[1] == assistant(text("[image left out]"))


def test_a_foreign_message_with_nothing_to_say_is_left_out() -> None:
    thought = Thinking("hm", "sig", {"responses": {"type": "reasoning"}})
    assert wire(Message(Role.USER, (Text("x"),)), Message(Role.ASSISTANT, (thought,))) == [
        {"role": "user", "content": "x"}
    ]


def test_foreign_items_in_results_say_what_anyone_may_read() -> None:
    content = (Opaque("gemini", {}, "seen"), Opaque("gemini", {}), Text(" "))
    (_, message) = wire(
        Message(Role.ASSISTANT, (ToolCall("x", "f"),)),
        Message(Role.TOOL, (ToolResult("x", content),)),
    )[1:]
    assert message == user(result("x", content=[text("seen")]))


def test_an_error_that_was_taken_back_is_none() -> None:
    was = ToolResult("x", (Text("ok"),), extras={"anthropic": {"is_error": True}})
    assert wire(Message(Role.TOOL, (was,))) == [user(result("x", content="ok"))]


def test_a_summary_and_the_words_after_it_are_kept_when_neighbors_join() -> None:
    merged = (
        Message(Role.USER, (Summary("done"), Text("go"))),
        Message(Role.USER, (Media(media_type="image/png", data="AA"),)),
    )
    body = ANTHROPIC.encode(merged)
    (message,) = ANTHROPIC.decode(body)
    assert message.parts[:2] == (Summary("done", claimed=True), Text("go"))
    assert ANTHROPIC.encode((message,)) == body


@pytest.mark.parametrize(
    ("system", "messages", "path"),
    [
        (3, [], "system"),
        ([{}], [], "system[0].type"),
        (None, [{"role": "tool", "content": "x"}], "messages[0].role"),
        (None, [{"role": "user"}], "messages[0].content"),
        (None, [assistant(use(input=3))], "messages[0].content[0].input"),
        (None, [user(result(content=[use()]))], "messages[0].content[0].content[0]"),
        (None, [user({"type": "image"})], "messages[0].content[0].source"),
        (None, [user({"type": "document"})], "messages[0].content[0].source"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(
    system: object, messages: list[Any], path: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        ANTHROPIC.decode(Body(messages, system))
    assert caught.value.path == path


def test_parts_stand_where_they_belong() -> None:
    with pytest.raises(TypeError):
        wire(Message(Role.USER, (ToolCall("x", "f"),)))
    with pytest.raises(TypeError):
        wire(Message(Role.ASSISTANT, (ToolResult("x"),)))


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (
            {
                "type": "server_tool_use",
                "id": "s1",
                "name": "web_search",
                "input": {"query": "tax"},
            },
            'web_search: {"query": "tax"}',
        ),
        (
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s1",
                "content": [
                    {"type": "web_search_result", "title": "Rates", "url": "https://r.org"}
                ],
            },
            "Rates\nhttps://r.org",
        ),
        (
            {
                "type": "web_fetch_tool_result",
                "content": {
                    "url": "https://r.org",
                    "content": {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "7 percent"},
                    },
                },
            },
            "https://r.org\n7 percent",
        ),
        (
            {"type": "mcp_tool_result", "content": [{"type": "text", "text": "three rows"}]},
            "three rows",
        ),
        (
            {
                "type": "bash_code_execution_tool_result",
                "content": {"stdout": "ok", "stderr": "", "return_code": 0},
            },
            "ok",
        ),
        ({"type": "container_upload", "file_id": "f"}, ""),
    ],
)
def test_what_the_providers_own_tools_say_can_be_found_and_told_to_others(
    block: dict[str, object], words: str
) -> None:
    body = Body([{"role": "assistant", "content": [block]}])
    (message,) = DIALECTS["anthropic"].decode(body)
    (part,) = message.parts
    assert isinstance(part, Opaque)
    assert part.readable == words


def test_words_that_stand_too_deep_are_left_where_they_are() -> None:
    block: dict[str, object] = {"type": "text", "text": "here"}
    for _ in range(400):
        block = {"type": "unheard_of", "content": [block]}
    (message,) = DIALECTS["anthropic"].decode(Body([{"role": "assistant", "content": [block]}]))
    (part,) = message.parts
    assert isinstance(part, Opaque)
    assert part.readable == ""
