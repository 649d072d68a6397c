"""The official OpenAI SDK against a real HTTP server that misbehaves."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import replace

import pytest

from holdfast.errors import (
    ConfigError,
    SummarizerError,
    SummarizerMisread,
    SummarizerUnavailable,
)
from holdfast.providers import OpenAISummarizer
from holdfast.summary import Ask
from tests.providers.failures import CASES
from tests.providers.provider import CHAT_PATH, Provider, chat, error, outcome, provider

ASK = Ask(prompt="Write the record.", max_tokens=400, purpose="first", step=1, steps=1)
WAYS: dict[str, Callable[[OpenAISummarizer], str | Exception]] = {
    "write": lambda each: outcome(lambda: each.write(ASK)),
    "awrite": lambda each: outcome(lambda: asyncio.run(each.awrite(ASK))),
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def summarizer(server: Provider) -> OpenAISummarizer:
    return OpenAISummarizer("m", api_key="k", base_url=f"{server.url}/v1", timeout=5.0)


@every_way
def test_a_prompt_is_one_user_message_and_the_answer_its_text(
    way: Callable[[OpenAISummarizer], str | Exception],
) -> None:
    with provider(chat("the record")) as server:
        assert way(summarizer(server)) == "the record"
        (request,) = server.requests
    assert request.path == CHAT_PATH
    assert request.headers["authorization"] == "Bearer k"
    assert request.fields == {
        "model": "m",
        "messages": [{"role": "user", "content": "Write the record."}],
        "max_tokens": 400,
    }


@every_way
@pytest.mark.parametrize("name", CASES)
def test_each_failure_of_the_wire_becomes_one_error_after_one_request(
    way: Callable[[OpenAISummarizer], str | Exception], name: str
) -> None:
    case = CASES[name]
    with provider(case.reply) as server:
        raised = way(summarizer(server))
        assert len(server.requests) == 1
    assert type(raised) is case.error
    assert case.says in str(raised)
    assert getattr(raised, "retry_after", None) == case.retry_after


@every_way
def test_a_server_that_is_down_is_unavailable(
    way: Callable[[OpenAISummarizer], str | Exception],
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        raised = way(OpenAISummarizer("m", base_url=url))
    assert type(raised) is SummarizerUnavailable
    assert "no connection" in str(raised)


@every_way
def test_a_server_that_says_nothing_is_unavailable(
    way: Callable[[OpenAISummarizer], str | Exception],
) -> None:
    slow = chat("late")
    with provider(type(slow)(body=slow.body, delay=0.5)) as server:
        raised = way(OpenAISummarizer("m", base_url=f"{server.url}/v1", timeout=0.1))
    assert type(raised) is SummarizerUnavailable
    assert str(raised) == "no answer within 0.1 s"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", ""),
        (None, ""),
        ("<think>hm\n\nhm</think>\nthe record", "\nthe record"),
        ([{"type": "text", "text": "the "}, {"type": "text", "text": "record"}], "the record"),
        ([{"type": "image"}, 3], ""),
    ],
)
def test_whatever_a_server_makes_of_the_content_is_read_as_text(content: object, text: str) -> None:
    with provider(chat(content)) as server:
        assert summarizer(server).write(ASK) == text


def test_a_refusal_is_returned_as_text_for_the_chain_to_judge() -> None:
    with provider(chat(None, refusal="I cannot.")) as server:
        assert summarizer(server).write(ASK) == "I cannot."


def test_an_answer_cut_at_its_limit_is_returned_as_far_as_it_goes() -> None:
    with provider(chat("half a rec", finish="length")) as server:
        assert summarizer(server).write(ASK) == "half a rec"


def test_a_limit_spent_on_reasoning_is_explained() -> None:
    with (
        provider(chat("", finish="length")) as server,
        pytest.raises(SummarizerMisread, match="spent its 400 tokens"),
    ):
        summarizer(server).write(ASK)


@every_way
def test_the_other_name_of_the_limit_is_tried_once_and_remembered(
    way: Callable[[OpenAISummarizer], str | Exception],
) -> None:
    refused = error(
        400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    )
    with provider(refused, chat("the record")) as server:
        model = summarizer(server)
        assert [way(model), way(model)] == ["the record", "the record"]
        names = [sorted(set(each.fields) - {"model", "messages"}) for each in server.requests]
    assert names == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


def test_a_server_that_knows_neither_name_of_the_limit_is_asked_twice_and_no_more() -> None:
    refused = error(400, "unsupported: max_tokens, max_completion_tokens")
    with provider(refused) as server:
        assert type(outcome(lambda: summarizer(server).write(ASK))) is not str
        assert len(server.requests) == 2


def test_the_window_is_learned_from_an_error_that_states_it() -> None:
    refused = error(400, "This model's maximum context length is 8192 tokens, you sent 9000.")
    with provider(refused) as server:
        model = summarizer(server)
        assert model.window is None
        assert type(outcome(lambda: model.write(ASK))) is SummarizerError
        assert model.window == 8192


def test_more_fields_ride_along() -> None:
    with provider(chat("the record")) as server:
        model = OpenAISummarizer(
            "m", base_url=f"{server.url}/v1", options={"reasoning_effort": "low"}
        )
        model.write(ASK)
        assert server.requests[0].fields["reasoning_effort"] == "low"


def test_a_key_from_the_environment_is_never_sent_to_another_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    with provider(chat("the record")) as server:
        OpenAISummarizer("m", base_url=f"{server.url}/v1").write(ASK)
        assert server.requests[0].headers["authorization"] == "Bearer none"


@every_way
def test_a_missing_key_is_a_setting_to_repair(
    way: Callable[[OpenAISummarizer], str | Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    raised = way(OpenAISummarizer("m"))
    assert type(raised) is ConfigError
    assert "OPENAI_API_KEY" in str(raised)


def test_half_a_surrogate_pair_in_a_prompt_is_replaced() -> None:
    ask = replace(ASK, prompt="lone \ud800 sign")
    with provider(chat("the record"), chat("the record")) as server:
        assert summarizer(server).write(ask) == "the record"
        assert asyncio.run(summarizer(server).awrite(ask)) == "the record"
        prompts = [request.fields["messages"] for request in server.requests]
    assert prompts == [[{"role": "user", "content": "lone \ufffd sign"}]] * 2
