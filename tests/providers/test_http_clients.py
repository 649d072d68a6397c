"""One client per endpoint: connections are kept, shared, and let go again."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import SummarizerMisread
from holdfast.ports import Finished
from holdfast.providers import AnthropicSummarizer, OpenAISummarizer
from holdfast.providers.anthropic_model import AnthropicModel
from holdfast.providers.http_clients import ApiEndpoint, HttpClients
from holdfast.providers.openai_model import OpenAIModel
from holdfast.summary import Ask
from tests.providers.provider import Provider, Reply, chat, message, outcome, provider
from tests.providers.streams import events, message_events, said, spoken, streamed, text_block

ASK = Ask(prompt="Write the record.", max_tokens=400, purpose="first", step=1, steps=1)
DESCRIPTORS = Path("/proc/self/fd")
counts_descriptors = pytest.mark.skipif(
    not DESCRIPTORS.exists(), reason="this system does not list a process's descriptors"
)
CHAT = replace(chat("the record"), keeps=True)
MESSAGE = replace(message({"type": "text", "text": "the record"}), keeps=True)


def openai(server: Provider) -> OpenAISummarizer:
    return OpenAISummarizer("m", base_url=f"{server.url}/v1")


def anthropic(server: Provider) -> AnthropicSummarizer:
    return AnthropicSummarizer("m", base_url=server.url)


every_sdk = pytest.mark.parametrize(
    ("make", "reply"), [(openai, CHAT), (anthropic, MESSAGE)], ids=["openai", "anthropic"]
)
Make = Callable[[Provider], OpenAISummarizer | AnthropicSummarizer]


@every_sdk
def test_two_requests_take_one_connection(make: Make, reply: Reply) -> None:
    with provider(reply) as server:
        assert [make(server).write(ASK) for _ in range(2)] == ["the record"] * 2
        assert len(server.connections) == 1


@every_sdk
def test_two_requests_of_one_event_loop_take_one_connection(make: Make, reply: Reply) -> None:
    async def twice(server: Provider) -> list[str]:
        return [await make(server).awrite(ASK) for _ in range(2)]

    with provider(reply) as server:
        assert asyncio.run(twice(server)) == ["the record"] * 2
        assert len(server.connections) == 1


def test_a_model_that_streams_and_a_summarizer_share_a_connection() -> None:
    stream = replace(streamed(*spoken("ok")), keeps=True)
    with provider(stream, CHAT) as server:
        assert isinstance(said(OpenAIModel("m", base_url=f"{server.url}/v1"))[-1], Finished)
        assert openai(server).write(ASK) == "the record"
        assert len(server.connections) == 1
    stream = replace(events(*message_events(text_block("ok"))), keeps=True)
    with provider(stream, MESSAGE) as server:
        assert isinstance(said(AnthropicModel("m", base_url=server.url))[-1], Finished)
        assert anthropic(server).write(ASK) == "the record"
        assert len(server.connections) == 1


@every_sdk
@counts_descriptors
def test_three_hundred_models_of_one_endpoint_take_no_more_descriptors_than_one(
    make: Make, reply: Reply
) -> None:
    with provider(reply) as server:
        make(server).write(ASK)
        before = len(list(DESCRIPTORS.iterdir()))
        models = [make(server) for _ in range(300)]
        for model in models:
            model.write(ASK)
        assert len(list(DESCRIPTORS.iterdir())) == before
        assert len(server.connections) == 1


@counts_descriptors
def test_event_loops_take_their_clients_with_them() -> None:
    with provider(CHAT) as server:
        asyncio.run(openai(server).awrite(ASK))
        before = len(list(DESCRIPTORS.iterdir()))
        for _ in range(20):
            asyncio.run(openai(server).awrite(ASK))
        assert len(list(DESCRIPTORS.iterdir())) <= before + 1


def test_threads_share_a_client() -> None:
    together = threading.Barrier(4)

    def write(_: int) -> str:
        together.wait()
        return openai(server).write(ASK)

    with provider(CHAT) as server, ThreadPoolExecutor(4) as threads:
        openai(server).write(ASK)
        for _ in range(5):
            assert list(threads.map(write, range(4))) == ["the record"] * 4
        assert len(server.connections) <= 4


def test_a_key_that_changes_in_the_environment_is_sent_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with provider(CHAT) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        model = OpenAISummarizer("m")
        for key in ("first", "second"):
            monkeypatch.setenv("OPENAI_API_KEY", key)
            model.write(ASK)
        sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer first", "Bearer second"]


@every_sdk
@pytest.mark.parametrize("is_async", [False, True])
def test_a_kept_connection_that_the_server_closes_is_replaced(
    make: Make, reply: Reply, is_async: bool
) -> None:
    async def twice(server: Provider) -> list[str]:
        return [await make(server).awrite(ASK) for _ in range(2)]

    with provider(reply, Reply(drops=True), reply) as server:
        if is_async:
            written = asyncio.run(twice(server))
        else:
            written = [make(server).write(ASK) for _ in range(2)]
        assert written == ["the record"] * 2
        assert (len(server.requests), len(server.connections)) == (3, 2)


@every_sdk
def test_a_new_connection_that_the_server_closes_is_a_failure(make: Make, reply: Reply) -> None:
    with provider(Reply(drops=True), reply) as server:
        assert type(outcome(lambda: make(server).write(ASK))) is SummarizerMisread
        assert len(server.requests) == 1


SCRIPT = """
import asyncio, os, sys
from holdfast.providers import AnthropicSummarizer, OpenAISummarizer
from holdfast.summary import Ask

ask = Ask(prompt="p", max_tokens=4, purpose="first", step=1, steps=1)
kind, url = sys.argv[1:]
model = OpenAISummarizer("m", base_url=url + "/v1") if kind == "openai" else (
    AnthropicSummarizer("m", base_url=url))
"""


def run(program: str, kind: str, server: Provider) -> tuple[int, str]:
    """Return how a program ends in which every warning is an error, and what it says of that."""
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", SCRIPT + program, kind, server.url],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # On a busy machine the development mode also tells which step took long.
    told = [line for line in ended.stderr.splitlines() if not line.startswith("Executing <")]
    return ended.returncode, "\n".join(told)


@pytest.mark.parametrize(("kind", "reply"), [("openai", CHAT), ("anthropic", MESSAGE)])
def test_nothing_is_left_open_when_a_loop_or_the_process_ends(kind: str, reply: Reply) -> None:
    program = """
for _ in range(2):
    model.write(ask)
    asyncio.run(model.awrite(ask))
import gc; gc.collect()
"""
    with provider(reply) as server:
        assert run(program, kind, server) == (0, "")
        assert len(server.connections) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_makes_a_connection_of_its_own() -> None:
    program = """
model.write(ask)
child = os.fork()
if not child:
    model.write(ask)
    model.write(ask)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
model.write(ask)
"""
    with provider(CHAT) as server:
        assert run(program, "openai", server) == (0, "")
        assert (len(server.requests), len(server.connections)) == (4, 2)


class FakeClient:
    made = 0

    def __init__(self, **_: object) -> None:
        type(self).made += 1
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_clients_that_nobody_uses_are_closed_when_there_are_many() -> None:
    clients, lent = HttpClients(), list[FakeClient]()
    with clients.borrow(FakeClient, ApiEndpoint("in use")) as used:
        for number in range(20):
            with clients.borrow(FakeClient, ApiEndpoint(str(number))) as shared:
                lent.append(shared.client)
        assert [client.is_closed for client in lent] == [True] * 5 + [False] * 15
        assert not used.client.is_closed
        clients.close()
        assert all(client.is_closed for client in lent)
        assert not used.client.is_closed
    clients.close()
    assert used.client.is_closed


def test_a_client_that_has_only_failed_is_not_kept() -> None:
    clients = HttpClients()
    with pytest.raises(KeyError), clients.borrow(FakeClient, ApiEndpoint()) as first:
        raise KeyError
    assert first.client.is_closed
    with clients.borrow(FakeClient, ApiEndpoint()) as second:
        assert second is not first
    with pytest.raises(KeyError), clients.borrow(FakeClient, ApiEndpoint()) as third:
        raise KeyError
    assert third is second
    assert not third.client.is_closed
