"""What callers hand in: words, provider parts, and the real objects of the SDKs."""

from collections.abc import Callable
from typing import cast

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from holdfast.conversation import StoredConversation
from holdfast.conversation.decode_input import reply_of, spoken, tool_answer
from holdfast.errors import DecodeError
from holdfast.session import Usage
from holdfast.testing.builders import tool, user
from holdfast.transcript import Media, Message, Role, Text, ToolResult

CHAT = ChatCompletion.model_validate(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "bash", "arguments": "{}"},
                        }
                    ],
                },
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "total_tokens": 107,
            "prompt_tokens_details": {"cached_tokens": 60},
        },
    }
)
CLAUDE = AnthropicMessage.model_validate(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 40,
            "output_tokens": 7,
            "cache_read_input_tokens": 50,
            "cache_creation_input_tokens": 10,
        },
    }
)
RESPONSE = Response.model_validate(
    {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [
            {
                "type": "message",
                "id": "m1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
            }
        ],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 107,
        },
    }
)


def test_a_chat_completion_is_recorded_with_its_usage(chat: StoredConversation) -> None:
    chat.add_user("List the files.")
    reply = chat.add_response(CHAT)
    assert [call.name for call in reply.messages[0].calls] == ["bash"]
    assert chat.usage == Usage(1, 40, 7, 60)
    chat.add_tool_result("c1", "a.py")
    assert [message["role"] for message in chat.messages()] == ["user", "assistant", "tool"]


def test_a_claude_message_is_recorded_with_its_usage(chat: StoredConversation) -> None:
    chat.add_user("List the files.")
    chat.add_response(CLAUDE)
    assert chat.usage == Usage(1, 40, 7, 50, 10)
    chat.add_tool_result("t1", "a.py")
    body = chat.body("anthropic").messages
    assert body[1]["content"] == [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
    ]


def test_a_response_is_recorded_with_its_usage(chat: StoredConversation) -> None:
    chat.add_user("Do it.")
    chat.add_response(RESPONSE)
    assert chat.usage == Usage(1, 40, 7, 60)
    assert chat.messages()[-1]["content"] == [{"type": "text", "text": "Done."}]


def test_words_messages_and_dictionaries_are_answers_too() -> None:
    said = Message(Role.ASSISTANT, (Text("Done."),))
    assert reply_of("Done.").messages == reply_of(said).messages == (said,)
    (read,) = reply_of({"role": "assistant", "content": "Done."}).messages
    assert read.text == "Done."


@pytest.mark.parametrize("answer", [None, 5, ["Done."], {"answer": "Done."}, {}])
def test_anything_else_is_refused_and_nothing_is_written(
    chat: StoredConversation, answer: object
) -> None:
    with pytest.raises(DecodeError):
        chat.add_response(answer)
    assert not chat.log


def test_parts_of_either_provider_are_understood() -> None:
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    (ours,) = spoken(Role.USER, [{"type": "text", "text": "see"}, url])
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    (theirs,) = spoken(Role.USER, [{"type": "image", "source": source}])
    for message in (ours, theirs):
        assert any(isinstance(part, Media) for part in message.parts)


def test_a_tool_may_answer_with_parts() -> None:
    answer = tool_answer("c1", [{"type": "text", "text": "ok"}], name="bash", is_error=True)
    (result,) = answer.results
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.name, result.is_error) == ("c1", "bash", True)
    assert [piece.text for piece in result.content if isinstance(piece, Text)] == ["ok"]
    assert tool_answer("c1", answer) is answer


def test_a_message_that_answers_another_call_is_refused() -> None:
    answer = tool("c1", "ok")
    assert tool_answer("c1", answer) is answer
    for message in (answer, user("not a tool")):
        with pytest.raises(DecodeError, match="does not answer call 'c2'"):
            tool_answer("c2", message)


ANTHROPIC: list[dict[str, object]] = [
    {"role": "user", "content": "List the files."},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}],
    },
]


def test_a_list_is_read_in_the_dialect_it_is_written_in(chat: StoredConversation) -> None:
    chat.add(ANTHROPIC)
    assert chat.body("anthropic").messages == ANTHROPIC
    assert [message["role"] for message in chat.messages()] == ["user", "assistant", "tool"]


def test_a_dialect_may_be_named_also_as_extend_named_it(chat: StoredConversation) -> None:
    plain: list[dict[str, object]] = [{"role": "user", "content": "hi", "made_up": 1}]
    chat.add(plain, "anthropic")
    chat.add(plain, format="anthropic")
    with pytest.warns(DeprecationWarning, match="extend is now add"):
        extend = cast("Callable[..., object]", getattr(chat, "extend"))  # noqa: B009
    extend(plain, "anthropic")
    extend(plain, dialect="anthropic")
    extend(plain, format="anthropic")
    assert [entry.message.extras for entry in chat.log] == [{"anthropic": {"made_up": 1}}] * 5


def test_a_mixed_list_is_refused_and_nothing_is_written(chat: StoredConversation) -> None:
    answer: dict[str, object] = {"role": "tool", "tool_call_id": "t1", "content": "a.py"}
    with pytest.raises(DecodeError, match=r"messages\[2\]: it has a `tool_call_id`"):
        chat.add([*ANTHROPIC[:2], answer])
    assert not chat.log


def test_items_contents_and_parts_of_providers_are_understood(
    chat: StoredConversation,
) -> None:
    chat.add([{"role": "user", "parts": [{"text": "hi"}]}])
    chat.add([{"type": "message", "role": "assistant", "content": "ho"}])
    chat.add_user([{"type": "input_text", "text": "see"}])
    assert [(entry.message.role, entry.message.text) for entry in chat.log] == [
        (Role.USER, "hi"),
        (Role.ASSISTANT, "ho"),
        (Role.USER, "see"),
    ]


def test_an_envelope_around_an_image_never_reaches_a_provider(chat: StoredConversation) -> None:
    parts = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    envelope = {"_multimodal": True, "content": parts, "text_summary": "a window"}
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    chat.add(
        [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": envelope},
        ]
    )
    assert chat.messages()[-1]["content"] == parts
    answer = tool_answer("c", envelope)  # type: ignore[arg-type]
    assert isinstance(answer.results[0].content[0], Media)


def test_one_message_is_as_good_as_a_list_of_one(chat: StoredConversation) -> None:
    chat.add(ANTHROPIC[0])
    chat.add(CLAUDE)
    assert [entry.message.text for entry in chat.log] == ["List the files.", "Looking."]


def test_what_sdks_return_may_be_added_as_it_is(chat: StoredConversation) -> None:
    chat.add([{"role": "user", "content": "List the files."}, CLAUDE])
    chat.add_tool_result("t1", "a.py")
    chat.add_assistant(CLAUDE.content[:1])  # type: ignore[arg-type]
    body = chat.body("anthropic").messages
    assert body[1]["content"] == [
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
    ]
    assert body[3] == {"role": "assistant", "content": [{"type": "text", "text": "Looking."}]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("hello", "expected a list of messages, found text; a message is an object such as"),
        (5, "expected a list of messages, found a number"),
        ({"messages": []}, r"this is a request; hand in its messages, request\['messages'\]"),
        (CHAT, r"a provider's whole answer; append its message, answer.choices\[0\].message"),
    ],
)
def test_what_is_no_message_is_not_added(
    chat: StoredConversation, wrong: object, said: str
) -> None:
    with pytest.raises(DecodeError, match=said):
        chat.add(wrong)
    assert not chat.log


def test_a_result_that_is_an_object_is_refused_with_a_way_out(chat: StoredConversation) -> None:
    with pytest.raises(DecodeError, match=r"found \{'ok': True\}; write it as text"):
        chat.add_tool_result("c1", {"ok": True})  # type: ignore[arg-type]
    assert not chat.log


def test_a_compaction_without_a_focus_may_say_so(chat: StoredConversation) -> None:
    chat.add_user("hi")
    assert chat.compress(focus=None).outcome == chat.compress().outcome == "unchanged"
