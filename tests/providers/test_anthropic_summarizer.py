"""The official Anthropic SDK against a real HTTP server that misbehaves."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import (
    ConfigError,
    SummarizerError,
    SummarizerMisread,
    SummarizerUnavailable,
)
from holdfast.providers import AnthropicSummarizer
from holdfast.summary import Ask
from tests.providers.failures import CASES
from tests.providers.provider import Provider, error, message, outcome, provider

ASK = Ask(prompt="Write the record.", max_tokens=400, purpose="first", step=1, steps=1)
WAYS: dict[str, Callable[[AnthropicSummarizer], str | Exception]] = {
    "write": lambda each: outcome(lambda: each.write(ASK)),
    "awrite": lambda each: outcome(lambda: asyncio.run(each.awrite(ASK))),
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
RECORD = {"type": "text", "text": "the record"}


def summarizer(server: Provider) -> AnthropicSummarizer:
    return AnthropicSummarizer("m", api_key="k", base_url=server.url, timeout=5.0)


@every_way
def test_a_prompt_is_one_user_message_and_the_answer_its_text(
    way: Callable[[AnthropicSummarizer], str | Exception],
) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    with provider(message(thought, RECORD, {"type": "text", "text": ", whole"})) as server:
        assert way(summarizer(server)) == "the record, whole"
        (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.fields == {
        "model": "m",
        "messages": [{"role": "user", "content": "Write the record."}],
        "max_tokens": 400,
    }


@every_way
@pytest.mark.parametrize("name", CASES)
def test_each_failure_of_the_wire_becomes_one_error_after_one_request(
    way: Callable[[AnthropicSummarizer], str | Exception], name: str
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
    way: Callable[[AnthropicSummarizer], str | Exception],
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        raised = way(AnthropicSummarizer("m", base_url=url))
    assert type(raised) is SummarizerUnavailable
    assert "no connection" in str(raised)


@every_way
def test_a_server_that_says_nothing_is_unavailable(
    way: Callable[[AnthropicSummarizer], str | Exception],
) -> None:
    slow = message(RECORD)
    with provider(type(slow)(body=slow.body, delay=0.5)) as server:
        raised = way(AnthropicSummarizer("m", base_url=server.url, timeout=0.1))
    assert type(raised) is SummarizerUnavailable
    assert str(raised) == "no answer within 0.1 s"


def test_an_answer_without_words_is_empty() -> None:
    with provider(message()) as server:
        assert summarizer(server).write(ASK) == ""


def test_an_answer_cut_at_its_limit_is_returned_as_far_as_it_goes() -> None:
    with provider(message(RECORD, stop="max_tokens")) as server:
        assert summarizer(server).write(ASK) == "the record"


def test_a_limit_spent_on_thinking_is_explained() -> None:
    with (
        provider(message(stop="max_tokens")) as server,
        pytest.raises(SummarizerMisread, match="spent its 400 tokens"),
    ):
        summarizer(server).write(ASK)


def test_the_window_is_learned_from_an_error_that_states_it() -> None:
    with provider(error(400, "prompt is too long: 215000 tokens > 200000 maximum")) as server:
        model = summarizer(server)
        assert type(outcome(lambda: model.write(ASK))) is SummarizerError
        assert model.window == 200_000


def test_more_fields_ride_along() -> None:
    with provider(message(RECORD)) as server:
        AnthropicSummarizer("m", base_url=server.url, options={"temperature": 0}).write(ASK)
        assert server.requests[0].fields["temperature"] == 0


def test_a_key_from_the_environment_is_never_sent_to_another_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-anthropic")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-anthropic")
    with provider(message(RECORD)) as server:
        AnthropicSummarizer("m", base_url=server.url).write(ASK)
        sent = " ".join(server.requests[0].headers.values())
    assert "of-anthropic" not in sent


@every_way
def test_a_missing_key_is_a_setting_to_repair(
    way: Callable[[AnthropicSummarizer], str | Exception],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    # The SDK also looks for a login in the user's folders.
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    raised = way(AnthropicSummarizer("m"))
    assert type(raised) is ConfigError
    assert "authentication" in str(raised)


def test_half_a_surrogate_pair_in_a_prompt_is_replaced() -> None:
    ask = replace(ASK, prompt="lone \ud800 sign")
    with provider(message(RECORD), message(RECORD)) as server:
        assert summarizer(server).write(ask) == "the record"
        assert asyncio.run(summarizer(server).awrite(ask)) == "the record"
        prompts = [request.fields["messages"] for request in server.requests]
    assert prompts == [[{"role": "user", "content": "lone \ufffd sign"}]] * 2
