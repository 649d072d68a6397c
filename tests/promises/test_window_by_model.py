"""The model's name sets the window on every surface, and a session remembers what it learned."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.config import Settings
from holdfast.config.settings import ModelSettings
from holdfast.wiring import Compressor
from holdfast.wiring import models as catalog
from holdfast.wiring.assembly import WINDOW
from holdfast.wiring.asynchronous import AsyncConversation
from holdfast.wiring.conversations import Conversation
from holdfast.wiring.engines import load_engine
from holdfast.wiring.registry import Conversations
from tests.cli.running import run

GPT_5 = 400_000
OVERFLOW = "This model's maximum context length is 8192 tokens. However, you sent 9000 tokens."


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    catalog.known_window.cache_clear()
    catalog.say_assumed.cache_clear()
    yield tmp_path
    catalog.known_window.cache_clear()
    catalog.say_assumed.cache_clear()


def of_conversation(**options: Any) -> int:
    with Conversation.open(store="memory:", **options) as opened:
        return opened.status().context_length


def of_registry(**options: Any) -> int:
    with Conversations("memory:", **options) as opened:
        return opened.open("ada").status().context_length


def of_loop(**options: Any) -> int:
    import asyncio

    async def run_loop() -> int:
        async with await AsyncConversation.open(store="memory:", **options) as opened:
            return (await opened.status()).context_length

    return asyncio.run(run_loop())


def of_compressor(**options: Any) -> int:
    return Compressor(**options).policy.context_length


def of_engine(**options: Any) -> int:
    return load_engine("truncate", **options).context_length


SURFACES = pytest.mark.parametrize(
    "window", [of_conversation, of_registry, of_loop, of_compressor, of_engine]
)


@SURFACES
@pytest.mark.parametrize("is_listed", [True, False])
def test_a_models_name_sets_the_window_with_the_catalog_and_without(
    window: Callable[..., int], monkeypatch: pytest.MonkeyPatch, *, is_listed: bool
) -> None:
    if not is_listed:
        monkeypatch.setattr(catalog, "find_spec", lambda _: None)
    assert window(model="gpt-5") == GPT_5
    assert window(model="claude-3-5-sonnet-20241022") == 200_000
    assert window(model="gpt-4o-2024-08-06") == 128_000
    assert window(model="gpt-5", context_length=9_000) == 9_000


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_name_is_found_behind_its_owner_region_and_date(
    monkeypatch: pytest.MonkeyPatch, *, is_listed: bool
) -> None:
    if not is_listed:
        monkeypatch.setattr(catalog, "find_spec", lambda _: None)
    names = {
        "meta-llama/llama-3.3-70b-instruct": 131_072,
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0": 200_000,
        "anthropic/claude-opus-4": 200_000,
        "smollm2": catalog.LOCAL_WINDOW,
        "nosuch": None,
    }
    assert {name: catalog.known_window(name) for name in names} == names


@SURFACES
def test_a_window_that_is_not_known_is_said_once(
    window: Callable[..., int], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    assert [window(model="nosuch") for _ in range(2)] == [WINDOW, WINDOW]
    said = [each.getMessage() for each in caplog.records if "not known" in each.getMessage()]
    assert len(said) == 1
    assert said[0].startswith("The window of nosuch is not known: 200,000 tokens are assumed.")
    caplog.clear()
    assert window() == WINDOW
    assert not caplog.records


def test_a_window_that_is_configured_is_that_of_the_configured_model() -> None:
    own = replace(Settings(), model=ModelSettings(name="nosuch", context_length=50_000))
    assert of_conversation(settings=own) == 50_000
    assert of_conversation(settings=own, model="gpt-5") == GPT_5


def test_a_session_keeps_the_window_that_it_was_opened_with(tmp_path: Path) -> None:
    place = tmp_path / "talk.db"
    first = replace(Settings(), model=ModelSettings(name="gpt-5", context_length=50_000))
    later = replace(Settings(), model=ModelSettings(name="gpt-5", context_length=90_000))
    with Conversation.open(store=place, settings=first) as opened:
        stored = opened.id
    with Conversation.open(stored, store=place, settings=later) as opened:
        assert opened.status().context_length == 50_000
    with Conversation.open(stored, store=place, settings=later, model="gpt-4o") as opened:
        assert opened.status().context_length == 128_000


def test_what_an_error_taught_is_known_to_the_session_and_to_every_command(home: Path) -> None:
    place = home / "talk.db"
    with Conversation.open(store=place, model="gpt-5") as opened:
        opened.add_user("Hello")
        assert opened.status().context_length == GPT_5
        opened.recover(OVERFLOW)
        assert opened.status().context_length == 8_192
        stored = opened.id
    with Conversation.open(stored, store=place) as opened:
        assert (opened.status().context_length, opened.session.context_length) == (8_192, 8_192)
    # Another conversation with the same model at the same address knows it too.
    with Conversation.open(store=place, model="gpt-5") as opened:
        assert opened.status().context_length == 8_192


@pytest.fixture
def stored(home: Path) -> str:
    with Conversation.open(model="gpt-5") as opened:
        opened.add_user("Hello")
        return opened.id


def limits(*arguments: str) -> int:
    told = json.loads(run(*arguments, "--json").text)
    return told.get("window", told)["context_length"]


def test_commands_look_at_a_session_with_its_own_window(
    stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_MODEL_NAME", "gpt-4o")
    monkeypatch.setenv("HOLDFAST_MODEL_CONTEXT_LENGTH", "77000")
    for command in (("inspect", stored), ("sessions", "show", stored)):
        assert limits(*command) == GPT_5
        assert limits(*command, "--context-length", "9000") == 9_000
        assert limits(*command, "--model", "gpt-4o") == 77_000
        assert limits(*command, "--model", "claude-3-opus") == 77_000


def test_a_file_that_names_its_model_is_inspected_with_its_window(tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}
    file.write_text(json.dumps(request), "utf-8")
    assert limits("inspect", str(file)) == 128_000
    assert limits("inspect", str(file), "--model", "gpt-5") == GPT_5
