"""The official OpenAI SDK streaming from a real HTTP server, well behaved and not."""

import json
import socket
import sys
from collections.abc import Callable

import pytest

from holdfast.errors import MissingExtra, ModelDenied, ModelError, ModelUnavailable
from holdfast.ports import ChatModel, Finished, Prompt, Spoken, Thought
from holdfast.providers.openai_model import OpenAIModel
from holdfast.session import Usage
from holdfast.transcript import ToolCall
from holdfast.wire import Body
from holdfast.wire.reply import read_reply
from holdfast.wire.tool_specs import ToolSpec
from tests.providers.model_failures import CASES
from tests.providers.provider import Provider, error, provider
from tests.providers.streams import (
    EVENTS,
    PROMPT,
    answered,
    chunk,
    said,
    spoken,
    streamed,
    usage_chunk,
)


def model(server: Provider) -> OpenAIModel:
    return OpenAIModel("m", api_key="k", base_url=f"{server.url}/v1", timeout=5.0)


def test_words_arrive_one_by_one_and_the_answer_is_what_the_provider_would_have_sent() -> None:
    with provider(streamed(*spoken("Good ", "day."))) as server:
        assert said(model(server)) == [
            Spoken("Good "),
            Spoken("day."),
            Finished(
                {
                    "id": "c1",
                    "created": 7,
                    "model": "m",
                    "object": "chat.completion",
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "stop",
                            "message": {"role": "assistant", "content": "Good day."},
                        }
                    ],
                    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
                }
            ),
        ]


def test_a_request_carries_the_conversation_the_tools_the_limit_and_the_wish_for_usage() -> None:
    tool = ToolSpec("look", "Look.", {"type": "object", "properties": {}})
    prompt = Prompt(body=PROMPT.body, tools=(tool,), max_tokens=50)
    with provider(streamed(*spoken("ok"))) as server:
        said(model(server), prompt)
        (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer k"
    assert request.fields == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 50,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Look.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
    }


def test_calls_are_put_together_and_read_as_the_conversation_records_them() -> None:
    def piece(index: int, arguments: str, **more: object) -> dict[str, object]:
        function = {"arguments": arguments, **({"name": "look"} if more else {})}
        return {"index": index, "function": function, **more}

    chunks = [
        chunk(role="assistant", content=None),
        chunk(tool_calls=[piece(0, "", id="a", type="function")]),
        chunk(tool_calls=[piece(0, '{"at": ')]),
        chunk(tool_calls=[piece(0, "1}"), piece(1, '{"at"', id="b", type="function")]),
        chunk(tool_calls=[piece(1, ": 2}")]),
        chunk("tool_calls"),
        usage_chunk(prompt_tokens_details={"cached_tokens": 4}),
    ]
    with provider(streamed(*chunks)) as server:
        reply = read_reply(answered(model(server)))
    assert reply.usage == Usage(1, input_tokens=5, output_tokens=3, cache_read_tokens=4)
    assert reply.messages[0].calls == (
        ToolCall("a", "look", '{"at": 1}'),
        ToolCall("b", "look", '{"at": 2}'),
    )


def test_thoughts_are_told_from_words() -> None:
    chunks = [chunk(reasoning_content="hm"), chunk(content="Yes."), chunk("stop")]
    with provider(streamed(*chunks)) as server:
        assert said(model(server))[:2] == [Thought("hm"), Spoken("Yes.")]


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
    whole = streamed(*spoken("one ", "two ", "three"))
    end = whole.body.index('"stop"')
    for cut in range(0, end, max(end // 10, 1)):
        with provider(type(whole)(body=whole.body, headers=EVENTS, cut=cut)) as server:
            heard: list[object] = []
            with pytest.raises(ModelUnavailable, match="cut off"):
                heard.extend(model(server).stream(PROMPT))
        assert not any(isinstance(each, Finished) for each in heard)


def test_a_stream_that_ends_politely_before_its_end_is_cut_off_too() -> None:
    with (
        provider(streamed(chunk(content="half"))) as server,
        pytest.raises(ModelUnavailable, match="ended in the middle"),
    ):
        said(model(server))


def test_an_error_in_the_middle_of_a_stream_is_what_it_says() -> None:
    broken = {"error": {"message": "overloaded", "type": "server_error", "code": None}}
    with (
        provider(streamed(chunk(content="half"), broken)) as server,
        pytest.raises(ModelUnavailable, match="overloaded"),
    ):
        said(model(server))


def test_a_server_that_is_down_is_unavailable_and_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelUnavailable, match=f"no connection to {url}"):
            said(OpenAIModel("m", base_url=url))


def test_a_server_that_says_nothing_is_unavailable() -> None:
    slow = streamed(*spoken("late"))
    with provider(type(slow)(body=slow.body, headers=EVENTS, delay=0.5)) as server:
        late = OpenAIModel("m", base_url=f"{server.url}/v1", timeout=0.1)
        with pytest.raises(ModelUnavailable, match=r"no answer within 0\.1 s"):
            said(late)


def test_a_server_without_keys_is_never_sent_the_provider_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with provider(streamed(*spoken("ok"))) as server:
        said(OpenAIModel("m", base_url=f"{server.url}/v1"))
        (request,) = server.requests
    assert request.headers["authorization"] == "Bearer none"


def test_a_missing_key_is_a_sentence_with_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelDenied, match="m: there is no credential; set OPENAI_API_KEY"):
        said(OpenAIModel("m"))


@pytest.mark.parametrize(
    ("sentence", "removed", "added"),
    [
        (
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_completion_tokens",
        ),
        ("stream_options is not supported", "stream_options", None),
    ],
)
def test_what_a_server_refuses_is_written_as_it_wants_from_then_on(
    sentence: str, removed: str, added: str | None
) -> None:
    with provider(error(400, sentence), streamed(*spoken("ok"))) as server:
        asked = model(server)
        said(asked)
        said(asked)
        first, second, third = server.requests
    assert removed in first.fields
    for later in (second, third):
        assert removed not in later.fields
        assert added is None or later.fields[added] == 50


def test_closing_the_stream_ends_the_request() -> None:
    with provider(streamed(*spoken(*map(str, range(500))))) as server:
        stream = model(server).stream(PROMPT)
        assert next(stream) == Spoken("0")
        stream.close()
        with pytest.raises(StopIteration):
            next(stream)


def test_a_missing_sdk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[openai\]'"):
        OpenAIModel("m")


def test_pieces_that_are_no_objects_are_passed_over() -> None:
    body = f"data: 5\n\ndata: []\n\ndata: {json.dumps(chunk('stop', content='ok'))}\n\n"
    reply = streamed()
    with provider(type(reply)(body=body, headers=EVENTS)) as server:
        assert said(model(server))[0] == Spoken("ok")


def test_it_is_a_chat_model() -> None:
    made: Callable[[], ChatModel] = lambda: OpenAIModel("m", context_length=9_000)  # noqa: E731 - typed
    described = made()
    assert (described.name, described.dialect, described.endpoint) == ("m", "openai", "")
    assert described.context_length == 9_000
    assert Prompt(body=Body([])).max_tokens is None


def test_half_a_surrogate_pair_is_replaced_and_the_conversation_goes_on() -> None:
    prompt = Prompt(body=Body([{"role": "user", "content": "lone \ud800 sign"}]))
    with provider(streamed(*spoken("ok"))) as server:
        assert said(model(server), prompt)[0] == Spoken("ok")
        (request,) = server.requests
    assert request.fields["messages"] == [{"role": "user", "content": "lone \ufffd sign"}]
