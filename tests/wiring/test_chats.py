"""A chat is put together from the settings, and taken apart again."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.agent.events import Done
from holdfast.compaction import Policy
from holdfast.config import Settings
from holdfast.config.settings import ModelSettings
from holdfast.engines import ChatEngine, EngineDeps
from holdfast.errors import ConfigError, UnknownSession
from holdfast.ports import MemoryProvider
from holdfast.session import Fork
from holdfast.testing import FixedClock
from holdfast.transcript import Transcript
from holdfast.wiring.chats import PROMPT, WINDOW, Chats, Wishes
from tests.engines.seen import SeenMeans
from tests.providers.provider import Provider, Reply, provider
from tests.providers.streams import spoken, streamed

YES = streamed(*spoken("Yes."))


@contextmanager
def chats(
    home: Path, *replies: Reply, memory: bool = True, tools: bool = True, **model: object
) -> Generator[tuple[Chats, Provider]]:
    """Open chats with a server on the loopback."""
    with provider(*(replies or (YES,))) as server:
        named = ModelSettings(name="m", base_url=f"{server.url}/v1", **model)  # type: ignore[arg-type]
        settings = replace(Settings(), model=named)
        wishes = Wishes(approve=lambda _: False, memory=memory, tools=tools, directory=home)
        opened = Chats(settings, {"HOLDFAST_HOME": str(home)}, wishes)
        try:
            yield opened, server
        finally:
            assert opened.close() == ()


def test_a_conversation_begins_with_the_prompt_memory_and_the_project(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.", "utf-8")
    with chats(tmp_path) as (opened, _):
        (system,) = opened.begin("").messages()
        assert str(system["content"]).startswith(PROMPT)
        assert "Use tabs." in str(system["content"])
        (own,) = opened.begin("", "You are a pirate.").messages()
        assert str(own["content"]).startswith("You are a pirate.")
        assert opened.window == WINDOW
    with chats(tmp_path, memory=False) as (opened, _):
        assert opened.begin("").messages() == [{"role": "system", "content": PROMPT}]


def test_memory_and_project_take_at_most_their_share_of_a_small_window(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs everywhere.\n" * 500, "utf-8")
    with chats(tmp_path, context_length=2_048) as (opened, _):
        chat = opened.begin("")
        assert chat.status().tokens < 900
        prompt = str(chat.messages()[0]["content"])
        assert "does not fit into this model's window" in prompt
        assert prompt.count("\n</reference>") == prompt.count("\n<reference") == 1


def test_who_resumes_with_another_model_goes_on_with_that_one(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        chat.add_user("Hi")
        opened.switch(chat, "other", 8_000)
        assert (chat.status().model, chat.status().context_length) == ("other", 8_000)
        assert opened.model.endpoint.startswith("http://127.0.0.1:")
    with chats(tmp_path) as (opened, _):
        assert opened.open(chat.id).status().model == "m"
        with pytest.raises(UnknownSession):
            opened.open("nosuch")


def test_a_name_with_a_prefix_leaves_the_server_of_ones_own(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        opened.switch(chat, "anthropic/claude-opus-4-6")
        assert (opened.model.dialect, opened.model.endpoint) == ("anthropic", "")
        with pytest.raises(ConfigError, match="there is no local model"):
            opened.switch(chat, "local/nosuch")
        assert opened.model.name == "claude-opus-4-6"


def test_an_aside_is_not_heard_by_the_conversation(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, server):
        chat = opened.begin("")
        chat.add_user("One")
        chat.add_assistant("Two")
        before = chat.messages()
        events = list(opened.aside(chat, "Why?"))
        assert [event.reply for event in events if isinstance(event, Done)] == ["Yes."]
        assert chat.messages() == before
        assert server.requests[-1].fields["messages"][-1] == {"role": "user", "content": "Why?"}
        (child,) = [each for each in opened.store.lineage(chat.id) if each.parent == chat.id]
        assert (child.fork, child.is_live) == (Fork.REVIEW, False)


def test_only_a_conversation_in_which_nothing_was_said_is_forgotten(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        empty, talked, named, forked = (opened.begin("") for _ in range(4))
        talked.add_user("Hi")
        named.goal = "Ship it"
        forked.branch(keep_parent=True)
        forgotten = [opened.forget_if_unused(each) for each in (empty, talked, named, forked)]
        assert forgotten == [True, False, False, False]
        with pytest.raises(UnknownSession):
            opened.store.session(empty.id)


def test_beginning_anew_keeps_the_goal_and_leaves_the_other_open(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        chat.add_user("Hi")
        chat.goal = "Ship it"
        fresh = opened.begin_anew(chat)
        assert (fresh.goal, len(fresh.messages()), chat.session.is_live) == ("Ship it", 1, True)
        assert opened.open(chat.id).id == chat.id


def test_a_compaction_has_a_price_only_where_prices_are_known(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        list(opened.agent(chat).turn("Hi"))
        assert opened.forecast(chat) is None


class Told(MemoryProvider):
    """Writes down what it is told of sessions."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def on_session_switch(self, old: str, new: str, reason: str) -> None:
        self.calls.append((old, new, reason))

    def on_session_end(self, messages: Transcript) -> None:
        self.calls.append(tuple(message.text for message in messages))


def test_memory_hears_of_every_session_and_of_the_end(tmp_path: Path) -> None:
    told = Told()
    with chats(tmp_path) as (opened, _):
        assert opened.memory is not None
        opened.memory.attach(told)
        chat = opened.begin("")
        chat.add_user("Hi")
        fresh = opened.begin_anew(chat)
        again = opened.open(chat.id)
        opened.ended(again)
    assert told.calls == [(chat.id, fresh.id, "reset"), (fresh.id, chat.id, "resume"), ("Hi",)]


def test_what_was_remembered_in_one_session_is_in_the_prompt_of_the_next(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        assert opened.memory is not None
        chat = opened.begin("")
        opened.memory.call("memory", {"action": "add", "content": "The port is 8443."})
        assert "8443" not in str(chat.messages())
        assert "The port is 8443." in str(opened.begin_anew(chat).messages())


@pytest.mark.parametrize(("tools", "recall"), [(True, ("session_search",)), (False, ())])
def test_a_summary_in_a_chat_may_name_the_search_where_the_model_has_it(
    tmp_path: Path, *, tools: bool, recall: tuple[str, ...]
) -> None:
    seen = SeenMeans()
    with chats(tmp_path, tools=tools) as (opened, _):
        chat = opened.begin("")
        opened.agent(chat)
        setup = EngineDeps(clock=FixedClock(), algorithm=seen)
        chat.live.deps = replace(chat.live.deps, engine=ChatEngine(Policy(), setup))
        chat.add_user("Hello")
        chat.compress()
    assert seen.recall == [recall]
