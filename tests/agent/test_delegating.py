"""Sub-agents work in a session of their own, are seen while they work, and end."""

from collections.abc import Callable

import pytest

from holdfast.agent import Agent, Delegate, Toolbox
from holdfast.agent.events import Event
from holdfast.conversation import StoredConversation
from holdfast.errors import ModelDenied
from holdfast.ports import Listing
from holdfast.session import EndReason, Fork
from holdfast.wiring import Conversation
from tests.agent.scripted import Echo, ScriptedModel, call, calls, kinds, words


def children(chat: Conversation) -> list[StoredConversation]:
    lineage = chat.store.lineage(chat.id)
    return [StoredConversation(chat.live.deps, each) for each in lineage if each.parent == chat.id]


def delegate(
    chat: Conversation, model: ScriptedModel, effect: Callable[[], object] = lambda: None
) -> Delegate:
    return Delegate(chat, model, lambda _: Toolbox([Echo(effect=effect)]))


def test_a_task_is_done_in_a_child_session_and_its_last_words_come_back(
    chat: Conversation,
) -> None:
    model = ScriptedModel(
        [
            calls(call("d", "delegate", task="Count the stations", title="count")),
            calls(call("e", "echo", at=1)),
            words("There are 60."),
            words("It says 60."),
        ]
    )
    events = list(Agent(chat, model, Toolbox([delegate(chat, model)])).turn("How many?"))
    assert kinds(events) == ["ToolCallRequested", "Answered", "TextStreamed", "Done"]
    assert "There are 60." in str(events[1])
    (child,) = children(chat)
    session = child.session
    assert (session.source, session.fork, session.end_reason, session.title) == (
        "subagent",
        Fork.DELEGATION,
        EndReason.SUBAGENT,
        "count",
    )
    task = model.prompts[1].body.messages
    assert [message["role"] for message in task] == ["system", "user"]
    assert task[1]["content"] == "Count the stations"
    assert [spec.name for spec in model.prompts[1].tools] == ["echo"]
    assert len(chat.log) == 4


def test_a_sub_agent_is_in_the_live_state_for_as_long_as_it_works(chat: Conversation) -> None:
    seen: list[tuple[str, ...]] = []
    model = ScriptedModel([calls(call("e", "echo")), words("Done.")])
    tool = delegate(chat, model, lambda: seen.append(chat.live.deps.engine.host.agents))
    assert tool.run({"task": "Count the stations"}) == "Done."
    assert seen == [("Count the stations",)]
    assert chat.live.deps.engine.host.agents == ()


def test_a_sub_agent_that_fails_is_an_error_for_the_model_and_has_ended(
    chat: Conversation,
) -> None:
    model = ScriptedModel([[ModelDenied("no key")]])
    answer = Toolbox([delegate(chat, model)]).answer(call("d", "delegate", task="Go"))
    assert (answer.text, answer.is_error) == ("the sub-agent stopped: no key", True)
    (child,) = children(chat)
    assert child.session.end_reason is EndReason.SUBAGENT
    assert chat.live.deps.engine.host.agents == ()


def test_an_interruption_ends_the_sub_agent_and_keeps_its_work(chat: Conversation) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    model = ScriptedModel([calls(call("e", "echo"), text="I begin.")])
    with pytest.raises(KeyboardInterrupt):
        delegate(chat, model, interrupt).run({"task": "Go"})
    (child,) = children(chat)
    assert child.session.end_reason is EndReason.SUBAGENT
    assert [entry.message.role for entry in child.log] == ["user", "assistant", "tool"]


def test_what_a_sub_agent_does_can_be_watched(chat: Conversation) -> None:
    watched: list[Event] = []
    model = ScriptedModel([words("Done.")])
    tool = Delegate(chat, model, lambda _: Toolbox(), on_event=watched.append)
    tool.run({"task": "Go"})
    assert kinds(watched) == ["TextStreamed", "Done"]
    assert len(chat.store.sessions(Listing())) >= 1
