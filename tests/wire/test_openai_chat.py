"""OpenAI chat messages: every shape comes back exactly, and means what it says."""

import json
from typing import Any

import pytest

from holdfast.errors import DecodeError
from holdfast.transcript import (
    Form,
    Media,
    Message,
    Opaque,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    shape,
)
from holdfast.wire import DIALECTS, Body
from holdfast.wire.openai_chat import merged_roles

OPENAI = DIALECTS["openai"]


def call(call_id: str = "c1", arguments: object = "{}", **fields: object) -> dict[str, Any]:
    function = {"name": "bash", "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **fields}


def calling(*calls: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def answer(content: object = "ok", call_id: str = "c1", **fields: object) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **fields}


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
BODIES: dict[str, list[dict[str, Any]]] = {
    "strings": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
    "system roles": [{"role": "system", "content": "s"}, {"role": "developer", "content": "d"}],
    "a developer with a name": [{"role": "developer", "content": "d", "name": "boss"}],
    "named user": [{"role": "user", "content": "hi", "name": "ann"}],
    "neighbors": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
    "text parts": [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
    "no parts": [{"role": "user", "content": []}],
    "cached part": [
        {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "x"}}]}
    ],
    "image": [{"role": "user", "content": [{"type": "text", "text": "see"}, IMAGE]}],
    "image with detail": [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}}
            ],
        }
    ],
    "odd data url": [
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:,x"}, "k": 1}],
        }
    ],
    "audio": [
        {
            "role": "user",
            "content": [{"type": "input_audio", "input_audio": {"data": "QQ==", "format": "wav"}}],
        }
    ],
    "file": [
        {
            "role": "user",
            "content": [
                {
                    "type": "file",
                    "file": {"file_data": "data:application/pdf;base64,QQ==", "filename": "a.pdf"},
                },
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "file", "file": {"file_id": "file-2"}, "extra": True},
            ],
        }
    ],
    "unknown part": [
        {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "u"}}]}
    ],
    "refusal part": [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]}
    ],
    "refusal": [{"role": "assistant", "content": None, "refusal": "no"}],
    "sdk dump": [
        {
            "role": "assistant",
            "content": "x",
            "refusal": None,
            "annotations": [],
            "audio": None,
            "function_call": None,
            "tool_calls": None,
        }
    ],
    "null content with a call": [calling(call()), answer()],
    "absent content with a call": [
        {"role": "assistant", "tool_calls": [call()]},
        answer(),
    ],
    "empty content with a call": [calling(call(), content=""), answer("")],
    "empty list with a call": [calling(call(), content=[]), answer([])],
    "parallel calls": [
        calling(call("a"), call("b"), content="both"),
        answer("1", "a"),
        answer("2", "b"),
    ],
    "call fields": [
        calling(call(index=0, extra_content={"google": {"thought_signature": "s"}})),
        answer(name="bash", finish_reason="stop"),
    ],
    "function fields": [
        calling(
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}", "x": 1}}
        ),
        answer(),
    ],
    "untyped call": [calling({"id": "c1", "function": {"name": "f", "arguments": "{}"}}), answer()],
    "parsed arguments": [calling(call(arguments={"a": 1})), answer()],
    "custom call": [
        calling({"id": "c1", "type": "custom", "custom": {"name": "p", "input": "é *"}, "x": 1}),
        answer(),
    ],
    "result parts": [calling(call()), answer([{"type": "text", "text": "a"}, IMAGE])],
    "result without parts": [calling(call()), answer([])],
    "old result without parts": [{"role": "function", "name": "bash", "content": []}],
    "null result": [calling(call()), answer(None)],
    "absent result": [calling(call()), {"role": "tool", "tool_call_id": "c1"}],
    "old functions": [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "ok"},
        {"role": "function", "name": "g", "content": "nobody asked"},
    ],
    "vendor reasoning": [
        {
            "role": "assistant",
            "content": "x",
            "reasoning_content": "hm",
            "reasoning": "",
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "…"}],
        },
        calling(call(), reasoning_content="and so"),
        answer(),
    ],
    "fields in place of content": [
        {"role": "user", "name": "x"},
        {"role": "assistant", "refusal": "no"},
        calling(call()),
        {"role": "tool", "tool_call_id": "c1", "name": "x"},
    ],
    "null user": [{"role": "user", "content": None}, {"role": "user"}],
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_comes_back_exactly(name: str) -> None:
    messages = BODIES[name]
    before = json.dumps(messages)
    assert OPENAI.encode(OPENAI.decode(Body(messages))).messages == messages
    assert json.dumps(messages) == before


def test_a_conversation_reads_as_it_was_meant() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": "list"},
        calling(call(arguments='{"command": "ls"}'), content="Listing."),
        answer("a.txt"),
        {"role": "assistant", "content": "One file."},
    ]
    assert shape(OPENAI.decode(Body(messages))) == "\n".join(
        [
            "00 system    be good",
            "01 user      list",
            '02 assistant Listing. | -> bash {"command": "ls"}',
            "03 tool      result: a.txt",
            "04 assistant One file.",
        ]
    )


def test_reasoning_beside_the_content_is_thinking() -> None:
    (message,) = OPENAI.decode(
        Body([{"role": "assistant", "content": "x", "reasoning_content": "hm"}])
    )
    thought = Thinking("hm", extras={"openai": {"field": "reasoning_content"}})
    assert message.parts == (thought, Text("x"))


def test_an_image_is_media_without_its_data_url() -> None:
    (message,) = OPENAI.decode(Body([{"role": "user", "content": [IMAGE]}]))
    assert message.parts == (Media("image", "image/png", "AAAA"),)


def test_old_calls_and_results_find_each_other() -> None:
    asked, answered, stray = OPENAI.decode(Body(BODIES["old functions"]))
    assert asked.calls[0].id == answered.results[0].call_id
    assert stray.results[0].call_id != asked.calls[0].id


def test_a_custom_tool_takes_free_text_in_arguments() -> None:
    asked, _ = OPENAI.decode(Body(BODIES["custom call"]))
    assert asked.calls[0].arguments == '{"input": "é *"}'


def test_free_text_that_was_rewritten_is_written_as_it_is() -> None:
    asked, _ = OPENAI.decode(Body(BODIES["custom call"]))
    rewritten = ToolCall("c1", "p", "cut", asked.calls[0].extras)
    (message,) = OPENAI.encode((Message(Role.ASSISTANT, (rewritten,)),)).messages
    assert message["tool_calls"] == [
        {"id": "c1", "type": "custom", "custom": {"name": "p", "input": "cut"}, "x": 1}
    ]


def test_results_follow_calls_that_came_in_several_messages() -> None:
    transcript = (
        Message(Role.ASSISTANT, (ToolCall("a", "f"),)),
        Message(Role.ASSISTANT, (Text("and"), ToolCall("b", "f"))),
        Message(Role.ASSISTANT, (Text("more"), Opaque("openai", {"type": "x"}))),
        Message(Role.ASSISTANT, (Text("words"),)),
        Message(Role.TOOL, (ToolResult("a", (Text("1"),)), ToolResult("b", (Text("2"),)))),
    )
    body = OPENAI.encode(transcript)
    assert [message["role"] for message in body.messages] == ["assistant", "tool", "tool"]
    assert body.messages[0]["content"] == [
        {"type": "text", "text": "and"},
        {"type": "text", "text": "more"},
        {"type": "x"},
        {"type": "text", "text": "words"},
    ]


def test_calls_in_several_messages_without_words_stay_without() -> None:
    calls = [Message(Role.ASSISTANT, (ToolCall(name, "f"),)) for name in "ab"]
    (message,) = OPENAI.encode(tuple(calls)).messages
    assert message["content"] is None
    words = Message(Role.ASSISTANT, (Text("x"), ToolCall("c", "f")))
    (message,) = OPENAI.encode((words, words)).messages
    assert message["content"] == "x\n\nx"


def test_an_assistant_without_anything_says_an_empty_text() -> None:
    assert OPENAI.encode((Message(Role.ASSISTANT),)).messages == [
        {"role": "assistant", "content": ""}
    ]


def test_foreign_reasoning_is_left_out_whole() -> None:
    thought = Thinking("secret", "sig", {"anthropic": {}})
    alone = Message(Role.ASSISTANT, (thought,))
    spoken = Message(Role.ASSISTANT, (thought, Text("hi")))
    assert OPENAI.encode((alone, spoken)).messages == [{"role": "assistant", "content": "hi"}]


def test_a_foreign_item_becomes_its_words_or_nothing() -> None:
    parts = (Opaque("gemini", {"x": 1}, "ran code"), Opaque("gemini", {"y": 1}))
    assert OPENAI.encode((Message(Role.USER, parts),)).messages == [
        {"role": "user", "content": "ran code"}
    ]


def test_media_that_cannot_be_sent_leaves_words() -> None:
    parts = (
        Media("image", url="file_of_another_provider"),
        Media("video", url="https://a/b.mp4"),
        Media("file", url="data:text/plain,x", extras={"openai": {}}),
    )
    (message,) = OPENAI.encode((Message(Role.USER, parts),)).messages
    assert message["content"] == [
        {"type": "text", "text": "[image left out]"},
        {"type": "text", "text": "[video left out: https://a/b.mp4]"},
        {"type": "file", "file": {"file_data": "data:text/plain,x"}},
    ]
    (message,) = OPENAI.encode((Message(Role.ASSISTANT, (Media(data="AA"),)),)).messages
    assert message["content"] == [{"type": "text", "text": "[image left out]"}]


def test_results_in_a_user_message_come_before_its_words() -> None:
    parts = (Text("and?"), ToolResult("c1", (Text("ok"),)))
    for role in (Role.USER, Role.TOOL):
        assert OPENAI.encode((Message(role, parts),)).messages == [
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
            {"role": "user", "content": "and?"},
        ]


def test_reasoning_of_two_messages_in_one_is_kept() -> None:
    thought = Thinking("a", extras={"openai": {"field": "reasoning_content"}})
    (message,) = OPENAI.encode((Message(Role.ASSISTANT, (thought, thought)),)).messages
    assert message["reasoning_content"] == "a\n\na"


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        (["text"], "messages[0]"),
        ([{"role": "alien", "content": ""}], "messages[0].role"),
        ([{"role": 1, "content": ""}], "messages[0].role"),
        ([{"role": "user", "content": 4}], "messages[0].content"),
        ([{"role": "user", "content": True}], "messages[0].content"),
        ([{"role": "user", "content": {}}], "messages[0].content"),
        ([{"role": "user", "content": [3]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{"text": "x"}]}], "messages[0].content[0].type"),
        (
            [{"role": "user", "content": [{"type": "input_audio", "input_audio": []}]}],
            "messages[0].content[0].input_audio",
        ),
        ([{"role": "tool", "content": "x"}], "messages[0].tool_call_id"),
        ([{"role": "tool", "content": "x", "tool_call_id": None}], "messages[0].tool_call_id"),
        ([{"role": "tool", "content": ("x",), "tool_call_id": "c"}], "messages[0].content"),
        ([calling({"id": "c"})], "messages[0].tool_calls[0].function"),
        ([calling(call(), function_call={})], "messages[0].function_call.name"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(messages: list[Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        OPENAI.decode(Body(messages))
    assert (caught.value.dialect, caught.value.path) == ("openai", path)


def test_only_content_stands_in_content() -> None:
    with pytest.raises(TypeError):
        OPENAI.encode((Message(Role.USER, (Text("a"), ToolCall("c", "f"))),))


@pytest.mark.parametrize("form", ["", "parts", "null", "absent"])
def test_a_result_that_says_nothing_to_another_provider_is_empty_text(form: Form) -> None:
    asked = Message(Role.ASSISTANT, (ToolCall("c1", "bash", "{}"),))
    answered = Message(Role.TOOL, (ToolResult("c1", (), form=form),))
    body = OPENAI.encode((Message(Role.USER, (Text("Go"),)), asked, answered))
    assert body.messages[-1] == answer("")
    assert OPENAI.validate(body) == ()


def test_messages_of_one_role_are_joined_by_a_blank_line_and_results_stay_apart() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "one"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": "three"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "d"}]},
        {"role": "tool", "tool_call_id": "c", "content": "four"},
        {"role": "tool", "tool_call_id": "d", "content": "five"},
        {"role": "user", "content": "six"},
        {"role": "user", "content": [image]},
    ]
    assert merged_roles(messages) == [
        {"role": "user", "content": "one\n\ntwo"},
        {"role": "assistant", "content": "three", "tool_calls": [call, {**call, "id": "d"}]},
        *messages[4:6],
        {"role": "user", "content": [{"type": "text", "text": "six"}, image]},
    ]
    assert messages[0] == {"role": "user", "content": "one"}
