"""A chat is put together from the settings, and taken apart again."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.agent.events import Done
from holdfast.compaction import Policy
from holdfast.config import Settings
from holdfast.config.settings import ContextSettings, ModelSettings
from holdfast.engines import ChatEngine, EngineDeps
from holdfast.errors import ConfigError, UnknownSession
from holdfast.ports import MemoryProvider
from holdfast.session import EndReason, Fork, Session
from holdfast.testing import FixedClock
from holdfast.transcript import Transcript
from holdfast.wiring.assembly import WINDOW
from holdfast.wiring.chats import PROMPT, ChatOptions, Chats
from holdfast.wiring.conversations import Conversation
from tests.engines.seen import SeenContext
from tests.providers.local import local_model
from tests.providers.provider import Provider, Reply, provider
from tests.providers.streams import chunk, spoken, streamed

YES = streamed(*spoken("Yes."))


@contextmanager
def chats(
    home: Path,
    *replies: Reply,
    memory: bool = True,
    tools: bool = True,
    settings: Settings | None = None,
    **more: Any,
) -> Generator[tuple[Chats, Provider]]:
    """Open chats with a server on the loopback."""
    with provider(*(replies or (YES,))) as server:
        names = ModelSettings.__dataclass_fields__
        model = {key: more.pop(key) for key in tuple(more) if key in names}
        named = ModelSettings(name="m", base_url=f"{server.url}/v1", **model)
        settings = replace(settings or Settings(), model=named)
        allow = more.pop("allow", lambda _: False)
        options = ChatOptions(approve=allow, memory=memory, tools=tools, directory=home, **more)
        opened = Chats(settings, {"HOLDFAST_HOME": str(home)}, options)
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


@pytest.mark.parametrize(("merges", "sent"), [(True, 2), (False, 3)])
def test_a_strict_server_gets_no_two_messages_of_one_role_in_a_row(
    tmp_path: Path, *, merges: bool, sent: int
) -> None:
    with chats(tmp_path, memory=False, merge_roles=merges) as (opened, server):
        chat = opened.begin("")
        chat.add_user("One")
        list(opened.agent(chat).turn("Two"))
        messages = server.requests[-1].fields["messages"]
    assert len(messages) == sent
    assert messages[-1]["content"] == ("One\n\nTwo" if merges else "Two")


def test_memory_and_project_take_at_most_their_share_of_a_small_window(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs everywhere.\n" * 500, "utf-8")
    with chats(tmp_path, context_length=2_048) as (opened, _):
        chat = opened.begin("")
        assert chat.status().tokens < 900
        prompt = str(chat.messages()[0]["content"])
        assert "does not fit into this model's window" in prompt
        assert prompt.count("\n</reference>") == prompt.count("\n<reference") == 1


def test_a_resumed_conversation_keeps_its_model_and_window(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        chat.add_user("Hi")
        opened.switch(chat, "other", 8_000)
        assert (chat.status().model, chat.status().context_length) == ("other", 8_000)
        assert opened.model.endpoint.startswith("http://127.0.0.1:")
    with chats(tmp_path, context_length=50_000) as (opened, _):
        now = opened.open(chat.id).status()
        assert (now.model, now.context_length) == ("other", 8_000)
        assert (opened.model.name, opened.window) == ("other", 8_000)
        with pytest.raises(UnknownSession):
            opened.open("nosuch")
        assert opened.model.name == "other"


def test_a_model_that_is_named_for_it_is_what_it_goes_on_with(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        opened.switch(chat, "other", 8_000)
    with chats(tmp_path, names_model=True) as (opened, _):
        resumed = opened.begin(chat.id)
        assert (resumed.status().model, resumed.status().context_length) == ("m", WINDOW)
        assert (resumed.session.model, resumed.session.context_length) == ("m", WINDOW)


def _filled(opened: Chats) -> Conversation:
    chat = opened.begin("")
    for number in range(12):
        chat.add_user(f"Note {number}: " + "8443 " * 600)
        chat.add_assistant("Noted. " + "8443 " * 200)
    return chat


def test_nothing_is_folded_for_a_smaller_window_unless_somebody_says_so(tmp_path: Path) -> None:
    asked: list[str] = []

    def says_no(question: str) -> bool:
        asked.append(question)
        return False

    with chats(tmp_path) as (opened, _):
        chat = _filled(opened)
        before = chat.messages()
    small: dict[str, Any] = {"context_length": 4_096, "names_model": True, "names_window": True}
    with chats(tmp_path, fold=says_no, **small) as (opened, _):
        with pytest.raises(ConfigError, match=r"too large for the 4,096 that m takes; --fold"):
            opened.begin(chat.id)
        assert len(asked) == 1
        assert opened.store.session(chat.id).context_length == WINDOW
        assert opened.open(chat.id).messages() == before
    with chats(tmp_path, fold=lambda _: True, **small) as (opened, _):
        folded = opened.begin(chat.id)
        assert folded.status().tokens < 4_096
        assert len(folded.compactions()) == 1


def test_a_model_that_cannot_be_had_is_a_sentence_and_changes_nothing(tmp_path: Path) -> None:
    settings = Settings()
    opened = Chats(settings, {"HOLDFAST_HOME": str(tmp_path)}, ChatOptions(approve=lambda _: False))
    for model, reason in {
        "claude-opus-5": "there is no credential; set ANTHROPIC_API_KEY, or",
        "gpt-5": "there is no credential; set OPENAI_API_KEY, or",
        "kimi-k2": "nobody is known to serve it; name a server that does with --base-url, or",
    }.items():
        begun = opened.store.create(Session(id=model, source="import:x", started=1, model=model))
        with pytest.raises(ConfigError, match=f"was held with {model}, .*: {reason}"):
            opened.open(begun.id)
        assert opened.store.session(begun.id) == begun
    opened.close()


def test_a_name_with_a_prefix_is_that_of_the_server_as_typed(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, server):
        chat = opened.begin("")
        opened.switch(chat, "anthropic/claude-opus-4.6")
        assert (opened.model.dialect, opened.model.endpoint) == ("openai", f"{server.url}/v1")
        with pytest.raises(ConfigError, match="there is no local model"):
            opened.switch(chat, "local/nosuch")
        assert opened.model.name == "anthropic/claude-opus-4.6"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gpt-5", "there is no credential; set OPENAI_API_KEY"),
        ("anthropic/claude-opus-5", "there is no credential; set ANTHROPIC_API_KEY"),
        ("gtp-5", "nobody is known to serve it"),
    ],
)
def test_a_model_is_checked_when_somebody_switches_to_it(
    name: str, reason: str, tmp_path: Path
) -> None:
    local_model(1_024).close()
    told = f"{name} cannot be had here: {reason}.*smollm2 stays"
    environ = {"HOLDFAST_HOME": str(tmp_path)}
    opened = Chats(Settings(), environ, ChatOptions(approve=lambda _: False))
    try:
        chat = opened.begin("")
        with pytest.raises(ConfigError, match=told):
            opened.switch(chat, name)
        assert opened.model.name == "smollm2"
    finally:
        opened.close()


def test_an_aside_is_not_heard_by_the_conversation(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, server):
        chat = opened.begin("")
        chat.add_user("One")
        chat.add_assistant("Two")
        before = chat.messages()
        events = list(opened.side_question(chat, "Why?"))
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


def test_beginning_anew_keeps_the_goal_and_ends_the_other_which_can_be_gone_back_to(
    tmp_path: Path,
) -> None:
    with chats(tmp_path, context_length=50_000) as (opened, _):
        chat = opened.begin("")
        chat.add_user("Hi")
        chat.goal = "Ship it"
        fresh = opened.begin_anew(chat)
        now = fresh.session
        assert (now.goal, len(fresh.messages()), now.context_length) == ("Ship it", 1, 50_000)
        assert (now.parent, now.fork) == (chat.id, Fork.RESET)
        assert (chat.session.end_reason, chat.session.is_live) == (EndReason.RESET, False)
        again = opened.open(chat.id)
        assert (again.id, again.session.is_live, again.log[-1].message.text) == (
            *(chat.id, True),
            "Hi",
        )
        assert opened.open(fresh.id).id == fresh.id


def test_a_new_beginning_in_which_nothing_was_said_is_forgotten(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        chat.add_user("Hi")
        chat.goal = "Ship it"
        fresh = opened.begin_anew(chat)
        assert opened.forget_if_unused(fresh)
        assert [each.id for each in opened.store.lineage(chat.id)] == [chat.id]
        assert opened.open(chat.id).session.is_live


def test_a_branch_ends_the_other_unless_it_is_kept_and_memory_follows(tmp_path: Path) -> None:
    told = Told()
    with chats(tmp_path) as (opened, _):
        assert opened.memory is not None
        opened.memory.attach(told)
        chat = opened.begin("")
        chat.add_user("Hi")
        beside = opened.branch(chat, "Beside", keep_parent=True)
        assert chat.session.is_live
        other = opened.branch(opened.open(chat.id), "Other")
        assert (other.title, other.session.parent) == ("Other", chat.id)
        assert chat.session.end_reason is EndReason.BRANCHED
        # What was branched off from does not change any more: going back branches once more.
        back = opened.open(chat.id)
        assert (back.session.parent, back.session.fork) == (chat.id, Fork.BRANCH)
        assert back.messages() == chat.messages()
        assert chat.session.end_reason is EndReason.BRANCHED
    assert told.calls == [
        (chat.id, beside.id, "branch"),
        (beside.id, chat.id, "resume"),
        (chat.id, other.id, "branch"),
        (other.id, back.id, "resume"),
    ]


def test_a_compaction_has_a_price_only_where_prices_are_known(tmp_path: Path) -> None:
    with chats(tmp_path) as (opened, _):
        chat = opened.begin("")
        list(opened.agent(chat).turn("Hi"))
        assert opened.compaction_estimate(chat) is None


class Told(MemoryProvider):
    """Writes down what it is told of sessions."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def on_session_switch(self, old: str, new: str, reason: str, *, rewound: bool = False) -> None:
        self.calls.append((old, new, reason, *(["rewound"] if rewound else [])))

    def on_session_end(self, messages: Transcript) -> None:
        self.calls.append(tuple(message.text for message in messages))


def test_memory_hears_of_a_window_that_was_turned_back_and_forth(tmp_path: Path) -> None:
    told = Told()
    with chats(tmp_path) as (opened, _):
        assert opened.memory is not None
        opened.memory.attach(told)
        chat = opened.begin("")
        chat.add_user("Hi")
        chat.add_assistant("Yes?")
        assert not chat.undo()
        assert not chat.redo()
        chat.rewind(0)
        chat.rewind()
        chat.undo()
        chat.redo()
    assert told.calls == [
        (chat.id, chat.id, reason, "rewound") for reason in ("rewind", "undo", "redo")
    ]


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
    seen = SeenContext()
    with chats(tmp_path, tools=tools) as (opened, _):
        chat = opened.begin("")
        opened.agent(chat)
        setup = EngineDeps(clock=FixedClock(), algorithm=seen)
        chat.live.deps = replace(chat.live.deps, engine=ChatEngine(Policy(), setup))
        chat.add_user("Hello")
        chat.compress()
    assert seen.recall == [recall]


@pytest.mark.parametrize(
    ("limits", "least", "most"),
    [({}, 3_000, 5_000), ({"run_command": 700}, 300, 700), ({"*": 40_000}, 20_000, 40_000)],
)
def test_a_command_of_a_chat_is_shown_within_its_limit_and_stored_whole(
    tmp_path: Path, limits: dict[str, int], least: int, most: int
) -> None:
    settings = replace(Settings(), context=ContextSettings(tool_limits=limits))
    command = json.dumps({"command": "seq 100000 120000"})
    function = {"name": "run_command", "arguments": command}
    calls = [{"index": 0, "id": "c1", "type": "function", "function": function}]
    asked = streamed(chunk(role="assistant", tool_calls=calls), chunk("tool_calls"))
    with chats(tmp_path, asked, YES, settings=settings, memory=False, allow=lambda _: True) as (
        opened,
        _,
    ):
        chat = opened.begin("")
        *_, last = opened.agent(chat).turn("Count.")
        assert isinstance(last, Done)
        (answer,) = (each for each in chat.log if each.message.results)
        assert least < answer.tokens <= most
        (whole,) = chat.store.whole(answer.id).results
        assert whole.text.count("\n") == 20_001
