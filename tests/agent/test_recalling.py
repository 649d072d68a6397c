"""What a model may look up: past conversations, and what memory offers."""

import json
from collections.abc import Mapping
from dataclasses import replace

from holdfast.agent import Agent, PastSessions, Toolbox, memory_tools
from holdfast.agent.toolbox import Outcome
from holdfast.compaction import Policy
from holdfast.conversation import SessionSearch
from holdfast.engines import ChatEngine, EngineDeps
from holdfast.recall.arguments import session_search_tool
from holdfast.testing import FixedClock
from holdfast.wire.tool_specs import ToolSpec, write_tools
from holdfast.wiring import Conversation
from tests.agent.scripted import Echo, ScriptedModel, call
from tests.engines.seen import SeenContext


class Offering:
    """A memory with one tool."""

    def begin_turn(self, words: str, turn: int) -> None:
        raise AssertionError(words, turn)

    def recall(self, query: str) -> str:
        raise AssertionError(query)

    def after_turn(self, user: str, assistant: str) -> None:
        raise AssertionError((user, assistant))

    def tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("memory", "Remember."),)

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        return f"{name} {dict(arguments)}"


def test_the_tools_of_memory_are_the_agent_s() -> None:
    box = Toolbox(memory_tools(Offering()))
    assert box.specs == (ToolSpec("memory", "Remember."),)
    assert box.answer(call("a", "memory", action="add")) == Outcome("memory {'action': 'add'}")


def test_past_sessions_are_found_from_the_conversation_that_lost_them(chat: Conversation) -> None:
    chat.add_user("The harbor listens on 8443.")
    chat.add_assistant("Noted.")
    for number in range(12):
        chat.add_user(f"Question {number}: {'what about the tide stations? ' * 8}")
        chat.add_assistant(f"Answer {number}: {'each once a minute. ' * 8}")
    chat.compress()
    tool = PastSessions(lambda: SessionSearch(chat.store, chat.live.deps.clock, session_id=chat.id))
    answer = Toolbox([tool]).answer(call("a", "session_search", query="Question 4"))
    assert not answer.is_error
    assert "Question 4" in json.dumps(json.loads(answer.text))


def test_the_search_is_told_as_the_library_tells_it(chat: Conversation) -> None:
    spec = PastSessions(lambda: SessionSearch(chat.store, chat.live.deps.clock)).spec
    assert write_tools([spec], "openai") == [session_search_tool("openai")]
    assert write_tools([spec], "anthropic") == [session_search_tool("anthropic")]


def test_a_summary_may_name_the_search_only_while_the_model_is_offered_it(
    chat: Conversation,
) -> None:
    seen = SeenContext()
    setup = EngineDeps(clock=FixedClock(), algorithm=seen)
    chat.live.deps = replace(chat.live.deps, engine=ChatEngine(Policy(context_length=8_000), setup))
    chat.add_user("Hello")
    past = PastSessions(lambda: SessionSearch(chat.store, chat.live.deps.clock))
    for tools in ([past, Echo()], [Echo()], []):
        Agent(chat, ScriptedModel([]), Toolbox(tools))
        chat.compress()
    assert seen.recall == [("session_search",), (), ()]
