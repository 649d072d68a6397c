"""The official Anthropic SDK streaming from a real HTTP server, well behaved and not."""

import socket
import sys

import pytest

from holdfast.errors import (
    MissingExtra,
    ModelDenied,
    ModelError,
    ModelOverflow,
    ModelUnavailable,
)
from holdfast.ports import Finished, Prompt, Spoken, Thought
from holdfast.providers.anthropic_model import AnthropicModel
from holdfast.session import Usage
from holdfast.transcript import ToolCall
from holdfast.wire import Body
from holdfast.wire.reply import read_reply
from holdfast.wire.tool_specs import ToolSpec
from tests.providers.model_failures import CASES
from tests.providers.provider import Provider, provider
from tests.providers.streams import (
    EVENTS,
    PROMPT,
    answered,
    events,
    message_events,
    said,
    text_block,
)


def model(server: Provider) -> AnthropicModel:
    return AnthropicModel("m", api_key="k", base_url=server.url, timeout=5.0)


def test_words_arrive_one_by_one_and_the_answer_is_what_the_provider_would_have_sent() -> None:
    with provider(events(*message_events(text_block("Good ", "day.")))) as server:
        assert said(model(server)) == [
            Spoken("Good "),
            Spoken("day."),
            Finished(
                {
                    "id": "m1",
                    "type": "message",
                    "role": "assistant",
                    "model": "m",
                    "content": [{"type": "text", "text": "Good day."}],
                    "stop_reason": "end_turn",
                    "stop_sequence": None,
                    "usage": {
                        "input_tokens": 9,
                        "output_tokens": 3,
                        "cache_read_input_tokens": 4,
                    },
                }
            ),
        ]


def test_a_request_carries_the_system_prompt_the_tools_and_the_limit() -> None:
    tool = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
    body = Body([{"role": "user", "content": "Hello"}], system="Be brief.")
    with provider(events(*message_events(text_block("ok")))) as server:
        said(model(server), Prompt(body=body, tools=(tool,), max_tokens=50))
        (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.headers["authorization"] == "Bearer k"
    assert request.fields == {
        "model": "m",
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 50,
        "stream": True,
        "tools": [
            {
                "name": "look",
                "description": "Look.",
                "input_schema": {"type": "object", "properties": {}},
            }
        ],
    }


@pytest.mark.parametrize(("window", "limit"), [(None, 8_192), (16_000, 2_000), (400_000, 8_192)])
def test_without_a_limit_an_answer_leaves_room_in_the_window(
    window: int | None, limit: int
) -> None:
    with provider(events(*message_events(text_block("ok")))) as server:
        asked = AnthropicModel("m", base_url=server.url, context_length=window)
        said(asked, Prompt(body=PROMPT.body))
        (request,) = server.requests
    assert request.fields["max_tokens"] == limit


def test_thinking_calls_and_words_are_put_together_with_their_seals() -> None:
    thinking = (
        {"type": "thinking", "thinking": "", "signature": ""},
        [
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "sealed"},
        ],
    )
    call = (
        {"type": "tool_use", "id": "a", "name": "look", "input": {}},
        [
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"at": '},
            {"type": "input_json_delta", "partial_json": "1}"},
        ],
    )
    bare = ({"type": "tool_use", "id": "b", "name": "list", "input": {}}, [])
    sent = message_events(thinking, text_block("Let me see."), call, bare, stop="tool_use")
    with provider(events(*sent)) as server:
        heard = said(model(server))
    assert heard[:2] == [Thought("hm"), Spoken("Let me see.")]
    last = heard[-1]
    assert isinstance(last, Finished)
    assert last.answer["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sealed"},
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}},
        {"type": "tool_use", "id": "b", "name": "list", "input": {}},
    ]
    reply = read_reply(last.answer)
    assert reply.usage == Usage(1, input_tokens=9, output_tokens=3, cache_read_tokens=4)
    assert [call.name for call in reply.messages[0].calls] == ["look", "list"]


def test_a_call_that_was_cut_at_the_limit_keeps_what_there_is() -> None:
    call = (
        {"type": "tool_use", "id": "a", "name": "look", "input": {}},
        [{"type": "input_json_delta", "partial_json": '{"at": "src/ma'}],
    )
    with provider(events(*message_events(call, stop="max_tokens"))) as server:
        (message,) = read_reply(answered(model(server))).messages
    (found,) = message.calls
    assert isinstance(found, ToolCall)
    assert "src/ma" in found.arguments


@pytest.mark.parametrize("name", CASES)
def test_each_failure_of_the_wire_becomes_one_error_after_one_request(name: str) -> None:
    case = CASES[name]
    with provider(case.reply) as server:
        with pytest.raises(ModelError) as raised:
            said(model(server))
        assert len(server.requests) == 1
    assert type(raised.value) is case.error
    assert case.says in str(raised.value)
    assert getattr(raised.value, "retry_after", None) == case.retry_after


def test_an_answer_that_is_cut_anywhere_is_never_taken_for_whole() -> None:
    whole = events(*message_events(text_block("one ", "two ", "three")))
    end = whole.body.index("end_turn")
    for cut in range(0, end, max(end // 10, 1)):
        with provider(type(whole)(body=whole.body, headers=EVENTS, cut=cut)) as server:
            heard: list[object] = []
            with pytest.raises(ModelUnavailable, match="cut off"):
                heard.extend(model(server).stream(PROMPT))
        assert not any(isinstance(each, Finished) for each in heard)


@pytest.mark.parametrize(
    ("kind", "sentence", "error"),
    [
        ("overloaded_error", "Overloaded", ModelUnavailable),
        ("api_error", "Internal", ModelUnavailable),
        ("request_too_large", "too much", ModelOverflow),
        ("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", ModelOverflow),
        ("authentication_error", "bad key", ModelDenied),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_what_it_says(
    kind: str, sentence: str, error: type[ModelError]
) -> None:
    begun = message_events(text_block("half"))[:4]
    broken = {"type": "error", "error": {"type": kind, "message": sentence}}
    with provider(events(*begun, broken)) as server, pytest.raises(error, match=sentence):
        said(model(server))


def test_a_server_that_is_down_is_unavailable_and_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelUnavailable, match=f"no connection to {url}"):
            said(AnthropicModel("m", base_url=url))


def test_a_missing_key_is_a_sentence_with_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelDenied, match="m: there is no credential; set ANTHROPIC_API_KEY"):
        said(AnthropicModel("m"))


def test_a_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[anthropic\]'"):
        AnthropicModel("m")


def test_half_a_surrogate_pair_is_replaced_and_the_conversation_goes_on() -> None:
    prompt = Prompt(body=Body([{"role": "user", "content": "lone \ud800 sign"}]))
    with provider(events(*message_events(text_block("ok")))) as server:
        assert said(model(server), prompt)[0] == Spoken("ok")
        (request,) = server.requests
    assert request.fields["messages"] == [{"role": "user", "content": "lone \ufffd sign"}]
