"""Opening a conversation: anew, again, at its newest end, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.compaction import Policy
from holdfast.engines import ChatEngine, EngineDeps
from holdfast.errors import ConfigError, SessionEnded, UnknownSession
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing import FixedClock
from holdfast.wiring import Conversation
from tests.engines.seen import SeenContext


def test_a_conversation_is_resumed_with_all_that_was_said(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, active=False, title="Bills") as chat:
        chat.add_user("one")
        before = chat.messages()
    with Conversation.open(chat.id, store=path, active=False) as again:
        assert (again.title, again.messages()) == ("Bills", before)


def test_it_goes_on_in_the_latest_leaf(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, active=False) as chat:
        chat.add_user("one")
        leaf = chat.branch().branch()
        leaf.delegate("aside")
    with Conversation.open(chat.id, store=path, active=False) as again:
        assert again.id == leaf.id


def test_a_closed_conversation_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, active=False) as chat:
        chat.add_user("one")
        chat.end()
    with Conversation.open(chat.id, store=path, active=False) as again:
        again.add_user("two")
        assert len(again.messages()) == 2


def test_what_is_in_the_trash_or_unknown_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Conversation.open(store=path, active=False) as chat:
        chat.add_user("one")
        chat.store.trash([chat.id], 1)
    with pytest.raises(SessionEnded, match=f"sessions restore {chat.id}"):
        Conversation.open(chat.id, store=path)
    with pytest.raises(UnknownSession):
        Conversation.open("20260101_000000_ffffff", store=path)


def test_an_unknown_strategy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'in_place' or 'rotation'"):
        Conversation.open(store=tmp_path / "store.db", strategy="bogus")  # type: ignore[arg-type]


def test_a_store_that_was_handed_in_stays_open(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    with Conversation.open(store=store, active=False) as chat:
        chat.add_user("one")
    assert store.session(chat.id).size == 1
    store.close()


def test_a_misspelled_option_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="context_lenght; did you mean context_length"):
        Conversation.open(store=tmp_path / "a.db", context_lenght=8_000)  # type: ignore[call-arg]
    assert not (tmp_path / "a.db").exists()


def test_the_configured_store_and_habits_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_STORE_URL", str(tmp_path / "mine.db"))
    monkeypatch.setenv("HOLDFAST_COMPRESSION_AHEAD_OF_TIME", "true")
    monkeypatch.setenv("HOLDFAST_COMPRESSION_STRATEGY", "rotation")
    monkeypatch.setenv("HOLDFAST_COMPRESSION_ENABLED", "false")
    with Conversation.open(active=False) as chat:
        options = chat.live.deps.options
        assert chat.store.name == str(tmp_path / "mine.db")
        assert (options.ahead_of_time, options.strategy, options.automatic) == (
            True,
            "rotation",
            False,
        )
    with Conversation.open(active=False, strategy="in_place", automatic=True) as chat:
        assert (chat.live.deps.options.strategy, chat.live.deps.options.automatic) == (
            "in_place",
            True,
        )


def test_a_host_names_the_tools_that_find_folded_turns_and_branches_have_them_too(
    tmp_path: Path,
) -> None:
    seen = SeenContext()
    engine = ChatEngine(Policy(), EngineDeps(clock=FixedClock(), algorithm=seen))
    for opening in ({"recall": ("session_search",)}, {}):
        with Conversation.open(store=tmp_path / "store.db", active=False, **opening) as chat:  # type: ignore[arg-type]
            chat.live.deps = replace(chat.live.deps, engine=engine, another_engine=lambda: engine)
            chat.add_user("Hello")
            chat.compress()
            chat.branch().compress()
    assert seen.recall == [("session_search",), ("session_search",), (), ()]


def test_a_secret_of_the_settings_reaches_no_summarizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    config = "redaction:\n  extra_patterns: ['CUST-[0-9]{6}']\n"
    (tmp_path / "config.yaml").write_text(config, "utf-8")
    prompts: list[str] = []

    def write(prompt: str) -> str:
        prompts.append(prompt)
        return "## Goal\n- a report for customer CUST-445566"

    opened = Conversation.open(
        store=tmp_path / "store.db", active=False, context_length=16_000, summarizer=write
    )
    with opened as chat:
        for number in range(60):
            chat.add_user(f"Look at CUST-123456, page {number}. " + "It is long. " * 40)
            chat.add_assistant(f"Page {number} is about CUST-123456.")
        chat.compress()
        window = str(chat.messages())
    assert prompts
    assert not [prompt for prompt in prompts if "CUST-123456" in prompt]
    assert "CUST-445566" not in window


def test_tool_limits_are_configured_by_name_and_a_caller_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    limits = 'context:\n  tool_limits:\n    bash: 300\n    grep: 400\n    "*": 500\n'
    (tmp_path / "config.yaml").write_text(limits, "utf-8")
    own = {"grep": 100_000}
    with Conversation.open(store=tmp_path / "store.db", tool_limits=own) as chat:
        shown: dict[str, int] = {}
        for name in ("bash", "grep", "read"):
            chat.add_user("go on")
            asked = {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
            chat.add([{"role": "assistant", "tool_calls": [asked]}])
            chat.add_tool_result(name, "some words of output " * 4_000)
            shown[name] = chat.log[-1].tokens
            assert len(chat.store.whole(chat.log[-1].id).results[0].text) == 84_000
    assert shown["bash"] <= 300 < shown["read"] <= 500 < 10_000 < shown["grep"]


def test_a_stored_conversation_keeps_its_model_and_window(tmp_path: Path) -> None:
    place = tmp_path / "store.db"

    def opened(id_: str | None = None, **opening: object) -> tuple[str, str, int, str]:
        with Conversation.open(id_, store=place, active=False, **opening) as chat:  # type: ignore[arg-type]
            now = chat.status()
            return chat.id, now.model, now.context_length, chat.session.model

    id_, *first = opened(model="gpt-5", context_length=32_000)
    assert first == ["gpt-5", 32_000, "gpt-5"]
    assert opened(id_)[1:] == ("gpt-5", 32_000, "gpt-5")
    assert opened(id_, context_length=64_000)[1:] == ("gpt-5", 64_000, "gpt-5")
    assert opened(id_)[1:] == ("gpt-5", 64_000, "gpt-5")
    # The window of another model says nothing of this one.
    assert opened(id_, model="nobodys")[1:] == ("nobodys", 200_000, "nobodys")
    assert opened(id_)[1:] == ("nobodys", 200_000, "nobodys")
