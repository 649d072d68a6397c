"""The `delegate` tool: a sub-agent works on one task in a session of its own.

The parent's window holds the task and the result, and nothing of the work between them. The work
is a session in the store like any other, and can be read and searched.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.agent.events import Done, Event, Stopped
from holdfast.agent.toolbox import ToolFailed, words
from holdfast.agent.turn import Agent, Habits
from holdfast.session import EndReason
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Arguments, Toolbox
    from holdfast.conversation import StoredConversation
    from holdfast.ports import ChatModel

_SPEC = ToolSpec(
    "delegate",
    "Give one task to a sub-agent that has the same tools and none of this conversation. It works "
    "on its own and answers with the result. Say everything it has to know.",
    {
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "What to do, with all that is needed."},
            "title": {"type": "string", "description": "A few words to know it by."},
        },
        "required": ["task"],
    },
)
_PROMPT = (
    "You work on one task for another agent. Use the tools, do what the task says, and end with "
    "the result in plain words: it is all that the other agent will see."
)
_LABEL = 120


class Delegate:
    """Runs sub-agents for a conversation; a sub-agent has no `delegate` of its own."""

    def __init__(
        self,
        chat: StoredConversation,
        model: ChatModel,
        tools_for: Callable[[StoredConversation], Toolbox],
        *,
        habits: Habits = Habits(),  # noqa: B008 - a frozen value
        on_event: Callable[[Event], None] = lambda _: None,
    ) -> None:
        """Join the parts.

        Args:
            chat: The conversation that delegates.
            tools_for: Returns the tools of a sub-agent; without this one.
            on_event: Told what happens in the sub-agent's turn.
        """
        self._chat = chat
        self._model = model
        self._tools_for = tools_for
        self._habits = habits
        self._on_event = on_event

    @property
    def spec(self) -> ToolSpec:
        """Return what the model is told of it."""
        return _SPEC

    def needs_approval(self, arguments: Arguments) -> str:
        """Return "": what the sub-agent does asks for itself."""
        del arguments
        return ""

    def run(self, arguments: Arguments) -> str:
        """Return the sub-agent's last words."""
        task = words(arguments, "task")
        title = words(arguments, "title", " ".join(task.split())[:_LABEL])
        child = self._chat.delegate(task, title=title)
        child.set_system(_PROMPT)
        try:
            with self._running(title):
                agent = Agent(child, self._model, self._tools_for(child), habits=self._habits)
                turn = agent.answer()
                try:
                    for event in turn:
                        self._on_event(event)
                        if isinstance(event, Done):
                            return event.reply.strip() or "the sub-agent ended without a word"
                        if isinstance(event, Stopped):
                            raise ToolFailed(f"the sub-agent stopped: {event.reason}")
                finally:
                    # An interruption stops the sub-agent too, and keeps what it had said.
                    turn.close()
                raise ToolFailed("the sub-agent ended without an answer")
        finally:
            child.end(EndReason.SUBAGENT)

    @contextmanager
    def _running(self, title: str) -> Generator[None]:
        """Show the sub-agent in the live state for as long as it works."""
        engine = self._chat.live.deps.engine
        engine.host = replace(engine.host, agents=(*engine.host.agents, title))
        try:
            yield
        finally:
            left = list(engine.host.agents)
            left.remove(title)
            engine.host = replace(engine.host, agents=tuple(left))
