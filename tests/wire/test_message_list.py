"""A list of messages is read in its own dialect and written back in it."""

from types import MappingProxyType

import pytest
from anthropic.types import Message as AnthropicMessage
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from holdfast.errors import ConfigError, DecodeError
from holdfast.testing.strategies import Material, transcripts
from holdfast.transcript import Role
from holdfast.wire import DIALECTS
from holdfast.wire.message_list import MessageList, plain_messages, read_messages

USE = {"type": "tool_use", "id": "t", "name": "n", "input": {}}


def test_a_system_message_in_an_anthropic_list_is_its_prompt_and_comes_back() -> None:
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
    ]
    given_list = read_messages(messages)
    transcript = given_list.transcript
    assert given_list.dialect == "anthropic"
    assert [message.role for message in transcript] == [
        Role.SYSTEM,
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
    ]
    body = DIALECTS["anthropic"].encode(transcript)
    assert body.system == "Be brief."
    assert given_list.written(body) == messages


def test_the_dialect_that_is_named_is_the_one_that_is_read() -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": "hi"}]
    assert read_messages(messages) == MessageList("openai", messages)
    assert read_messages(messages, "anthropic") == MessageList("anthropic", messages)
    with pytest.raises(ConfigError, match="format is 'klingon'; allowed: openai, responses"):
        read_messages(messages, "klingon")


@pytest.mark.parametrize("name", sorted(DIALECTS))
@given(source=st.data())
def test_what_is_read_is_written_back(name: str, source: st.DataObject) -> None:
    made = source.draw(transcripts(Material(dialect=name, turns=2, steps=2)))
    messages = DIALECTS[name].encode(made).messages
    given_list = read_messages(messages)
    assert (
        given_list.written(DIALECTS[given_list.dialect].encode(given_list.transcript)) == messages
    )


CALL = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
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
                "message": {"role": "assistant", "content": None, "tool_calls": [CALL]},
            }
        ],
    }
)
CLAUDE = AnthropicMessage.model_validate(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "Looking."}, USE],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 40, "output_tokens": 7},
    }
)
ITEM = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"}
RESPONSE = Response.model_validate(
    {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [ITEM],
    }
)
HELLO: dict[str, object] = {"role": "user", "content": "hi"}


def test_objects_of_sdks_are_messages() -> None:
    said = CHAT.choices[0].message
    assert plain_messages([HELLO, said]) == [
        HELLO,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
    ]
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, USE]}
    assert plain_messages([HELLO, CLAUDE]) == [HELLO, answer]
    assert plain_messages([HELLO, *RESPONSE.output]) == [HELLO, ITEM]


def test_objects_of_sdks_may_stand_in_a_message() -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, USE]}
    assert plain_messages([{"role": "assistant", "content": CLAUDE.content}]) == [answer]
    calls = CHAT.choices[0].message.tool_calls
    messages = [{"role": "assistant", "content": None, "tool_calls": calls}]
    assert plain_messages(messages) == [
        {"role": "assistant", "content": None, "tool_calls": [CALL]}
    ]
    # What came in is not changed.
    assert messages[0]["tool_calls"] is calls


def test_messages_that_are_json_are_the_same_objects() -> None:
    messages = [HELLO, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}]
    assert all(map(lambda one, other: one is other, plain_messages(messages), messages))
    assert plain_messages(each for each in [MappingProxyType(HELLO)]) == [HELLO]


class Plain:
    """An object that dumps itself and is not pydantic's."""

    def model_dump(self) -> dict[str, object]:
        return HELLO


def test_any_object_that_dumps_itself_will_do() -> None:
    assert plain_messages([Plain()]) == [HELLO]


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ("hello", "messages: expected a list of messages, found text; a message is an object"),
        (None, "messages: expected a list of messages, found null; a message is an object"),
        (5, "messages: expected a list of messages, found a number; a message is an object"),
        (HELLO, "found one message; put it into a list: [message]"),
        ({"model": "m", "messages": [HELLO]}, "hand in its messages, request['messages']"),
        (CHAT, "found a provider's answer; append its message, answer.choices[0].message"),
        (CLAUDE, "found one message; put it into a list: [message]"),
        ({}, "found an object"),
        (["hello"], "messages[0]: expected a message, found text; a message is a dict, or an"),
        ([HELLO, object()], "messages[1]: expected a message, found object; a message is a dict"),
        ([HELLO, CHAT], "messages[1]: this is a provider's whole answer; append its message"),
        ([HELLO, RESPONSE], "messages[1]: this is a provider's whole answer; add its items"),
    ],
)
def test_what_is_no_list_of_messages_says_what_to_hand_in(messages: object, said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        plain_messages(messages)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"role": "tool", "tool_call_id": "c", "content": {"ok": True}}, "messages[0].content"),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c", "content": {"ok": True}}],
            },
            "messages[0].content[0].content",
        ),
    ],
)
def test_a_result_that_is_an_object_is_refused_with_a_way_out(
    message: dict[str, object], path: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        _ = read_messages([message]).transcript
    assert caught.value.path == path
    assert caught.value.problem == (
        "expected text or a list of parts, found an object; "
        "write it as text, for example with json.dumps"
    )
