"""Who writes the record, on every surface: the summary model, the conversation's own, or none."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI

from holdfast.config import Settings
from holdfast.config.settings import Auxiliary, ModelSettings, SummaryModel
from holdfast.errors import ConfigError, SummarizerUnavailable
from holdfast.wiring import Compressor, compress
from holdfast.wiring.asynchronous import AsyncConversation
from holdfast.wiring.chats import ChatOptions, Chats
from holdfast.wiring.conversations import Conversation
from holdfast.wiring.engines import load_engine
from holdfast.wiring.registry import Conversations
from tests.engines.asks import CHATTER
from tests.promises.conversations import record, session
from tests.providers.provider import Provider, chat, error, message, provider

WINDOW = 12_000
MESSAGES = session(40)
RECORD = record()
WRITTEN = ("chunked", "model")


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test find a configuration, a store or a credential of whoever runs it."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def configured(
    *, main: Provider | None = None, separate: Provider | None = None, provider: str = "auto"
) -> Settings:
    """Return settings with models at servers on the loopback."""
    here = ModelSettings(
        name="main-model" if main else None, base_url=f"{main.url}/v1" if main else None
    )
    beside = SummaryModel(
        model="small-model" if separate else None,
        base_url=f"{separate.url}/v1" if separate else None,
        provider=provider,
    )
    return replace(Settings(), model=here, auxiliary=Auxiliary(compression=beside))


def origin(report: Any) -> tuple[str, str]:
    return report.figures.summary.origin, report.figures.summary.model


def by_conversation(**options: Any) -> Any:
    with Conversation.open(store="memory:", context_length=WINDOW, **options) as opened:
        opened.add(MESSAGES)
        return opened.compress()


def by_registry(**options: Any) -> Any:
    with Conversations("memory:", context_length=WINDOW, **options) as conversations:
        opened = conversations.open("ada")
        opened.add(MESSAGES)
        return opened.compress()


def by_loop(**options: Any) -> Any:
    async def run() -> Any:
        async with await AsyncConversation.open(
            store="memory:", context_length=WINDOW, **options
        ) as opened:
            await opened.add(MESSAGES)
            return await opened.compress()

    return asyncio.run(run())


def by_compressor(**options: Any) -> Any:
    return Compressor(context_length=WINDOW, **options).compress(MESSAGES, force=True).report


CONVERSATIONS = pytest.mark.parametrize("surface", [by_conversation, by_registry, by_loop])
SURFACES = pytest.mark.parametrize(
    "surface", [by_conversation, by_registry, by_loop, by_compressor]
)


@CONVERSATIONS
def test_a_conversation_whose_model_is_at_a_server_has_its_record_written_by_it(
    surface: Callable[..., Any],
) -> None:
    with provider(chat(RECORD)) as main:
        report = surface(settings=configured(main=main))
        assert origin(report)[0] in WRITTEN
        assert origin(report)[1] == "main-model"
        assert main.requests


@SURFACES
def test_a_summary_model_that_fails_is_followed_by_the_conversations_own(
    surface: Callable[..., Any],
) -> None:
    with provider(error(404, "no such model")) as small, provider(chat(RECORD)) as main:
        report = surface(settings=configured(main=main, separate=small))
        assert origin(report)[1] == "main-model"
        assert any("small-model failed" in each for each in report.warnings)


@SURFACES
def test_when_both_fail_the_record_is_made_without_a_model_and_says_so(
    surface: Callable[..., Any],
) -> None:
    with provider(error(500, "oops")) as small, provider(error(500, "broken")) as main:
        report = surface(settings=configured(main=main, separate=small))
        assert report.outcome == "folded"
        assert origin(report) == ("deterministic", "")
        assert any("broken" in each and "covers" in each for each in report.warnings)


@SURFACES
def test_main_asks_the_conversations_own_model_and_nobody_else(surface: Callable[..., Any]) -> None:
    with provider(chat(RECORD)) as small, provider(chat(RECORD)) as main:
        report = surface(settings=configured(main=main, separate=small, provider="main"))
        assert origin(report)[1] == "main-model"
        assert not small.requests


@SURFACES
def test_none_asks_no_model_whatever_is_configured(surface: Callable[..., Any]) -> None:
    with provider(chat(RECORD)) as small, provider(chat(RECORD)) as main:
        report = surface(settings=configured(main=main, separate=small, provider="none"))
        assert origin(report) == ("deterministic", "")
        assert (small.requests, main.requests, report.warnings) == ([], [], ())


@SURFACES
def test_a_name_alone_sends_nothing_even_where_a_credential_is_found(
    surface: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(chat(RECORD)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-host")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        report = surface(model="gpt-5")
        assert origin(report) == ("deterministic", "")
        assert (server.requests, report.warnings) == ([], ())
        chosen = Auxiliary(compression=SummaryModel(provider="main"))
        report = surface(model="gpt-5", settings=replace(Settings(), auxiliary=chosen))
        assert origin(report)[1] == "gpt-5"


@SURFACES
def test_a_client_is_what_the_model_is_asked_with(surface: Callable[..., Any]) -> None:
    with provider(chat(RECORD)) as server:
        client = OpenAI(base_url=f"{server.url}/v1", api_key="k")
        report = surface(model="gpt-5", client=client)
        assert origin(report)[1] == "gpt-5"
        assert server.requests[0].fields["model"] == "gpt-5"
    with provider(message({"type": "text", "text": RECORD})) as server:
        report = surface(model="claude-opus-4", client=Anthropic(base_url=server.url, api_key="k"))
        assert origin(report)[1] == "claude-opus-4"


def test_an_async_client_is_awaited() -> None:
    with provider(chat(RECORD)) as server:
        report = by_loop(
            model="gpt-5", client=AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k")
        )
        assert origin(report)[1] == "gpt-5"


def test_a_client_that_is_none_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="client is a int; allowed: a client of the OpenAI"):
        compress(MESSAGES, client=3, model="gpt-5")
    with pytest.raises(ConfigError, match="without a model"):
        compress(MESSAGES, client=OpenAI(api_key="k"))


def test_an_engine_by_name_takes_a_client_too() -> None:
    with provider(chat(RECORD)) as server:
        client = OpenAI(base_url=f"{server.url}/v1", api_key="k")
        engine = load_engine(model="gpt-5", context_length=WINDOW, client=client)
        engine.compress(MESSAGES)
        assert server.requests


def test_a_model_that_cannot_write_a_record_is_noticed_once_and_not_asked_again() -> None:
    with (
        provider(chat(CHATTER)) as main,
        Conversation.open(
            store="memory:", context_length=WINDOW, settings=configured(main=main)
        ) as opened,
    ):
        opened.add(MESSAGES)
        assert opened.status().summarizer == "main-model"
        first = opened.compress()
        asked = len(main.requests)
        assert asked == 2
        assert sum("cannot write a record" in each for each in first.warnings) == 1
        assert "cannot write a record" in opened.status().warning
        opened.add(MESSAGES)
        second = opened.compress()
        assert (second.outcome, second.warnings, len(main.requests)) == ("folded", (), asked)
        assert (opened.status().summarizer, opened.status().warning) == ("", "")


def test_a_model_with_a_tiny_window_is_not_asked_unless_it_is_chosen() -> None:
    with provider(chat(RECORD)) as main:
        small = replace(configured(main=main).model, context_length=6_000)
        settings = replace(configured(main=main), model=small)
        with Conversation.open(store="memory:", settings=settings) as opened:
            opened.add(MESSAGES)
            assert origin(opened.compress()) == ("deterministic", "")
            assert (main.requests, opened.status().summarizer) == ([], "")
        chosen = replace(settings, auxiliary=configured(main=main, provider="main").auxiliary)
        with Conversation.open(store="memory:", settings=chosen) as opened:
            assert opened.status().summarizer == "main-model"


def test_a_switch_of_models_switches_who_writes_the_record(tmp_path: Path) -> None:
    with provider(chat(RECORD)) as server:
        client = OpenAI(base_url=f"{server.url}/v1", api_key="k")
        with Conversation.open(store="memory:", model="gpt-5", client=client) as opened:
            opened.add(MESSAGES)
            opened.switch_model("gpt-4.1", 6_000)
            assert server.requests[0].fields["model"] == "gpt-5"
            assert opened.status().summarizer == "gpt-4.1"
            assert opened.branch(keep_parent=True).status().summarizer == "gpt-4.1"


def test_in_a_chat_its_model_writes_the_record(tmp_path: Path) -> None:
    with provider(chat(RECORD)) as main, provider(error(404, "no such model")) as small:
        options = ChatOptions(approve=lambda _: False, memory=False, directory=tmp_path)
        for settings in (configured(main=main), configured(main=main, separate=small)):
            sized = replace(settings, model=replace(settings.model, context_length=WINDOW))
            chats = Chats(sized, {"HOLDFAST_HOME": str(tmp_path)}, options)
            opened = chats.begin("")
            opened.add(MESSAGES)
            assert origin(opened.compress())[1] == "main-model"
            chats.close()
        assert small.requests
        silent = configured(main=main, provider="none")
        sized = replace(silent, model=replace(silent.model, context_length=WINDOW))
        chats = Chats(sized, {"HOLDFAST_HOME": str(tmp_path)}, options)
        opened = chats.begin("")
        opened.add(MESSAGES)
        assert origin(opened.compress()) == ("deterministic", "")
        chats.close()


def failing(_: str) -> str:
    raise SummarizerUnavailable("the server is on fire")


@pytest.mark.parametrize("strategy", ["in_place", "rotation"])
@pytest.mark.parametrize("ahead", [False, True])
def test_a_failed_summarizer_in_an_automatic_pass_is_in_status_json_and_log(
    strategy: Any, *, ahead: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "talk.db"
    options: Any = {"store": place, "context_length": 6_000, "strategy": strategy}
    with Conversation.open(summarizer=failing, ahead_of_time=ahead, **options) as opened:
        for each in MESSAGES:
            opened.add(each)
            opened.messages()
            opened.wait()
        status = opened.status()
        stored = opened.id
    assert "on fire" in status.warning
    assert "the deterministic record covers" in status.warning
    assert "on fire" in json.dumps(status.as_json()["warning"])
    assert "on fire" in str(status)
    assert sum("on fire" in each.getMessage() for each in caplog.records) >= 1
    with Conversation.open(stored, **options) as again:
        assert "on fire" in again.status().warning


def test_a_failed_summarizer_is_seen_by_an_event_loop_too(tmp_path: Path) -> None:
    async def run() -> str:
        async with await AsyncConversation.open(
            store=tmp_path / "talk.db", context_length=6_000, summarizer=failing
        ) as opened:
            for each in MESSAGES:
                await opened.add(each)
                await opened.messages()
            return (await opened.status()).warning

    assert "on fire" in asyncio.run(run())
