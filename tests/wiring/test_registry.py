"""Many conversations in one process: found by key, shared while used, let go when idle."""

import asyncio
import gc
import os
import threading
from pathlib import Path

import pytest

from holdfast.config import Settings
from holdfast.config.settings import CompressionSettings
from holdfast.conversation import SESSION_VARIABLE, current_session
from holdfast.errors import ConfigError
from holdfast.wiring.asynchronous import AsyncConversation
from holdfast.wiring.conversations import Conversation
from holdfast.wiring.registry import Conversations


def test_a_key_finds_what_was_said_under_it(tmp_path: Path) -> None:
    with Conversations(tmp_path / "store.db") as conversations:
        conversations.open("ada").add_user("My port is 4242.")
        conversations.open("bob").add_user("Hello.")
    with Conversations(tmp_path / "store.db") as conversations:
        again = conversations.open("ada")
        assert [message["content"] for message in again.messages()] == ["My port is 4242."]


def test_a_key_survives_rotations_and_goes_on_in_the_latest_session(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    options = {"store": store, "strategy": "rotation", "context_length": 6_000}
    with Conversation.open(key="ada", **options) as one:  # type: ignore[arg-type]
        for number in range(30):
            one.add_user(f"Question {number}: " + "word " * 60)
            one.add_assistant(f"Answer {number}.")
        first = one.id
        assert one.compact().outcome == "folded"
        assert one.id != first
    with Conversation.open(key="ada", store=store) as again:
        assert again.id == one.id


def test_two_that_begin_one_key_at_once_get_one_conversation(tmp_path: Path) -> None:
    ids: list[str] = []
    barrier = threading.Barrier(8)

    def begin() -> None:
        barrier.wait()
        with Conversation.open(key="ada", store=tmp_path / "store.db") as chat:
            ids.append(chat.id)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(ids) == 8
    assert len(set(ids)) == 1


def test_an_id_and_a_key_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="by its id or by its key"):
        Conversation.open("20260101_000000_abcdef", key="ada", store=tmp_path / "store.db")
    with pytest.raises(ConfigError, match="key is empty"):
        Conversation.open(key=" ", store=tmp_path / "store.db")


@pytest.mark.parametrize("key", [None, "", " ", 42, b"ada", ["ada"]])
def test_what_is_no_key_opens_no_conversation(key: object) -> None:
    with Conversations("memory:") as conversations:
        with pytest.raises(ConfigError, match="such as 'user-42'"):
            conversations.open(key)  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="such as 'user-42'"):
            asyncio.run(conversations.aopen(key))  # type: ignore[arg-type]
        assert not conversations.sessions.list()
    if key is not None:
        with pytest.raises(ConfigError, match="such as 'user-42'"):
            Conversation.open(key=key, store="memory:")  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match="such as 'user-42'"):
            asyncio.run(AsyncConversation.open(key=key, store="memory:"))  # type: ignore[arg-type]


def test_two_callers_of_one_key_share_it_and_idle_ones_go(tmp_path: Path) -> None:
    with Conversations(tmp_path / "store.db", most=2) as conversations:
        one = conversations.open("one")
        assert conversations.open("one") is one
        for key in ("two", "three", "four"):
            conversations.open(key)
        gc.collect()
        assert len(conversations) == 3
        assert conversations.open("one") is one


def test_of_many_long_ones_only_as_much_is_kept_as_a_budget_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.wiring.registry._MOST_TOKENS", 6_000)
    monkeypatch.setattr("holdfast.wiring.registry._FEW", 2)

    def kept(words: int) -> int:
        with Conversations(tmp_path / f"{words}.db") as conversations:
            for number in range(20):
                conversations.open(str(number)).add_user("word " * words)
            gc.collect()
            found = len(conversations)
            for number in range(20):
                assert len(conversations.open(str(number)).messages()) == 1
            return found

    assert kept(10) == 20
    assert 2 < kept(1_000) < 10
    assert kept(50_000) == 2


def test_nothing_of_the_process_is_touched(tmp_path: Path) -> None:
    before = os.environ.get(SESSION_VARIABLE), current_session()
    with Conversations(tmp_path / "store.db", strategy="rotation") as conversations:
        chat = conversations.open("one")
        chat.add_user("hello")
        chat.compact()
        assert (os.environ.get(SESSION_VARIABLE), current_session()) == before
    with pytest.raises(ConfigError, match="holds one conversation"):
        Conversations(tmp_path / "store.db", active=True)


def test_two_tenants_have_settings_of_their_own(tmp_path: Path) -> None:
    early = Settings(compression=CompressionSettings(threshold=0.3))
    late = Settings(compression=CompressionSettings(threshold=0.8))
    with (
        Conversations(tmp_path / "a.db", settings=early, context_length=100_000) as first,
        Conversations(tmp_path / "b.db", settings=late, context_length=100_000) as second,
    ):
        thresholds = [each.open("x").status().threshold for each in (first, second)]
    assert thresholds[0] < thresholds[1]


def test_an_event_loop_has_the_same_conversations(tmp_path: Path) -> None:
    async def talked() -> None:
        with Conversations(tmp_path / "store.db") as conversations:
            chat = await conversations.aopen("ada")
            await chat.add_user("hello")
            assert conversations.open("ada") is chat.sync
            assert await chat.messages() == [{"role": "user", "content": "hello"}]

    asyncio.run(talked())


def test_the_blocking_and_the_awaiting_surface_have_the_same_names() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    only_blocking = {
        # Parts and properties: an event loop awaits methods of the same name, or uses `sync`.
        "PATIENCE", "compactor", "ending", "lineage", "live", "recall", "release", "requested",
        "store",
    }  # fmt: skip
    blocking = public(Conversation) - only_blocking
    awaiting = public(AsyncConversation) - {"sync", "set_goal", "set_title", "log"}
    assert blocking == awaiting


def test_a_key_whose_session_ended_is_opened_again(tmp_path: Path) -> None:
    with Conversations(tmp_path / "store.db") as conversations:
        first = conversations.open("ada")
        first.add_user("Hello")
        first.end()
        again = conversations.open("ada")
        again.add_user("It is me")
        assert again.id == first.id
        following = again.new()
        assert conversations.open("ada").id == following.id
        conversations.open("ada").add_user("Something else")
        assert conversations.open("ada") is conversations.open("ada")


def test_closing_waits_for_all_passes_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def wait(_: Conversation, timeout: float | None = None) -> bool:
        waits.append(timeout or 0.0)
        return False

    monkeypatch.setattr(Conversation, "wait", wait)
    with Conversations(tmp_path / "store.db") as conversations:
        kept = [conversations.open(key) for key in ("one", "two", "three")]
    assert len(kept) == len(waits) == 3
    assert Conversation.PATIENCE >= waits[0] > waits[1] > waits[2]
