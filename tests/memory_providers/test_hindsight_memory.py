"""The official Hindsight client against a real HTTP server that answers like the service."""

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from holdfast.errors import ConfigError, MemoryUnavailable, MissingExtra
from holdfast.memory_providers.hindsight_memory import HindsightBank, HindsightMemory
from holdfast.testing.builders import assistant, user
from tests.memory_providers.service import FAILURES, PATIENCE, Answer, Service, service

RETAIN = "/v1/default/banks/ada/memories"
RECALL = f"{RETAIN}/recall"
REFLECT = "/v1/default/banks/ada/reflect"
KEY = "hs-not-a-real-key"
TAKEN = Answer({"success": True, "bank_id": "ada", "items_count": 1, "async": True})
FOUND = Answer(
    {
        "results": [
            {"id": "1", "text": "Lives in Austin", "occurred_start": "2026-10-22T04:40:22Z"},
            {"id": "2", "text": "Uses port 8443", "mentioned_at": "2026-11-03T00:00:00+00:00"},
            {"id": "3", "text": "Likes tea"},
        ]
    }
)
THOUGHT = Answer({"text": "She would like tea."})


@contextmanager
def hindsight(
    *, timeout: float = 20.0, **answers: Answer
) -> Generator[tuple[HindsightMemory, Service]]:
    """Yield a provider at a server with these answers, and the server."""
    paths = {RETAIN: TAKEN, RECALL: FOUND, REFLECT: THOUGHT}
    names = {"retain": RETAIN, "recall": RECALL, "reflect": REFLECT}
    with service(paths | {names[name]: answer for name, answer in answers.items()}) as server:
        bank = HindsightBank(base_url=f"{server.url}/", bank="ada", key=KEY, timeout=timeout)
        memory = HindsightMemory(bank)
        try:
            yield memory, server
        finally:
            memory.shutdown()


def test_nothing_is_sent_and_no_thread_runs_before_the_first_use() -> None:
    with hindsight() as (memory, server):
        assert [each.name for each in memory.tools()] == ["hindsight_recall", "hindsight_reflect"]
        assert memory.prefetch(" ") == ""
        memory.sync("", "")
        assert server.asked == []
        assert "holdfast-hindsight" not in {each.name for each in threading.enumerate()}


def test_what_is_known_comes_as_dated_lines() -> None:
    with hindsight() as (memory, server):
        assert memory.prefetch("Where do I live?") == (
            "- 2026-10-22: Lives in Austin\n- 2026-11-03: Uses port 8443\n- Likes tea"
        )
        (sent,) = server.requests(RECALL)
        assert (sent["query"], sent["budget"], sent["max_tokens"]) == (
            "Where do I live?",
            "low",
            2_000,
        )
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_an_exchange_is_one_item_without_secrets() -> None:
    secret = "ghp_" + "R7kq2ZxW9bTn4VsL8mYcP3dHf6JgA1eQuI0o"
    with hindsight() as (memory, server):
        memory.sync(f"My token is {secret}", "Noted.")
        (sent,) = server.requests(RETAIN)
    (item,) = sent["items"]
    assert item["content"].startswith("user: My token is ")
    assert item["content"].endswith("\n\nassistant: Noted.")
    assert sent["async"] is True
    assert secret not in json.dumps(sent)


def test_a_fold_brings_only_what_no_exchange_has_brought() -> None:
    with hindsight() as (memory, server):
        memory.sync("The port is 8443.", "Understood.")
        window = (user("An older ask."), user("The port is 8443."), assistant("Understood."))
        assert memory.on_pre_compress(window) == ""
        memory.on_pre_compress(window)
        assert [each["items"][0]["content"] for each in server.requests(RETAIN)[1:]] == [
            "user: An older ask."
        ]


def test_the_model_may_recall_and_reflect() -> None:
    with hindsight() as (memory, server):
        answer = json.loads(memory.call("hindsight_recall", {"query": "tea", "limit": 1}))
        assert answer == {"results": [{"text": "Lives in Austin", "day": "2026-10-22"}]}
        assert memory.call("hindsight_reflect", {"query": "What drink?"}) == "She would like tea."
        assert server.requests(REFLECT)[0]["query"] == "What drink?"
        with pytest.raises(NotImplementedError, match="hindsight has no tool"):
            memory.call("hindsight_forget", {})


def test_nothing_known_is_no_text() -> None:
    with hindsight(recall=Answer({"results": []})) as (memory, _):
        assert memory.prefetch("anything") == ""


@pytest.mark.parametrize("where", ["retain", "recall"])
@pytest.mark.parametrize("name", FAILURES)
def test_each_failure_is_one_request_and_a_sentence_and_the_next_call_works(
    name: str, where: str
) -> None:
    answer, says = FAILURES[name]
    good = {"retain": (RETAIN, TAKEN), "recall": (RECALL, FOUND)}[where]
    with hindsight(timeout=PATIENCE.get(name, 20.0), **{where: answer}) as (memory, server):
        with pytest.raises(MemoryUnavailable, match=f"^hindsight .*{says}") as raised:
            memory.sync("a", "b") if where == "retain" else memory.prefetch("where?")
        assert len(server.asked) == 1
        assert raised.value.retry_after == (7.0 if name == "429" else None)
        server.answers[good[0]] = good[1]
        assert "Austin" in memory.prefetch("where?")
        memory.sync("a", "b")


def test_it_is_used_from_many_threads_and_from_inside_a_loop() -> None:
    async def inside(memory: HindsightMemory) -> str:
        return memory.prefetch("where?")

    with hindsight() as (memory, server), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(memory.prefetch, ["where?"] * 12))
        found.append(asyncio.run(inside(memory)))
        assert ["Austin" in each for each in found] == [True] * 13
        assert len(server.asked) == 13


def test_a_shutdown_ends_the_thread_even_while_a_request_hangs() -> None:
    with hindsight(recall=Answer({}, delay=2.0)) as (memory, server):
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(memory.prefetch, "?")
            while not server.asked:
                threading.Event().wait(0.01)
            memory.shutdown()
            raised = waiting.exception(5)
        assert str(raised) == "hindsight cannot be reached: it was shut down"
        assert "holdfast-hindsight" not in {each.name for each in threading.enumerate()}


def test_a_server_that_is_down_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        memory = HindsightMemory(HindsightBank(base_url=url, bank="ada"))
        with pytest.raises(MemoryUnavailable, match=r"^hindsight cannot be reached"):
            memory.prefetch("where?")
        memory.shutdown()


def test_a_missing_address_names_the_setting() -> None:
    with pytest.raises(ConfigError, match=r"memory\.base_url is not set"):
        HindsightMemory(HindsightBank(base_url="", bank="ada"))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hindsight_client", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[hindsight\]'"):
        HindsightMemory(HindsightBank(base_url="http://127.0.0.1:1", bank="ada"))
