"""The tools that a chat gives its model: a small set that asks before it changes anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.agent import (
    Delegate,
    ListFiles,
    PastSessions,
    Plan,
    ReadFile,
    RunCommand,
    SearchFiles,
    Toolbox,
    Workplace,
    memory_tools,
)
from holdfast.wiring.searching import search_in

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.agent import Memory, Tool
    from holdfast.agent.toolbox import Arguments
    from holdfast.conversation import StoredConversation
    from holdfast.ports import ChatModel, Store
    from holdfast.wire.tool_specs import ToolSpec

CORE_TOOLS = (
    "read_file",
    "list_files",
    "search_files",
    "run_command",
    "session_search",
    "plan",
    "delegate",
)
"""Names that no memory provider may take for a tool of its own."""
COMMAND_LIMIT = {"run_command": 5_000}
"""Tokens of a command's output that the window shows where nothing is configured."""
_MOST_PRINTED = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What tools are made from."""

    store: Store
    model: ChatModel
    directory: Path
    approve: Callable[[str], bool]
    """Asks the user whether something may be done."""
    memory: Memory | None = None


class EngineTool:
    """One of the tools that a plug-in engine offers, such as one that expands what it folded."""

    def __init__(self, chat: StoredConversation, spec: ToolSpec) -> None:
        """Answer calls of this tool from the engine of this conversation."""
        self.spec = spec
        self._chat = chat

    def needs_approval(self, arguments: Arguments) -> str:
        """Return "": an engine works on the conversation alone."""
        del arguments
        return ""

    def run(self, arguments: Arguments) -> str:
        """Return what the engine answers, as JSON."""
        return self._chat.call_engine_tool(self.spec.name, arguments)


def toolbox_for(chat: StoredConversation, kit: Kit) -> Toolbox:
    """Return the tools of a conversation; a sub-agent's are the same, but for `delegate`."""

    def for_child(child: StoredConversation) -> Toolbox:
        return _box(_work(child, kit), kit)

    remembered = memory_tools(kit.memory) if kit.memory else ()
    tools = [*_work(chat, kit), *remembered, Delegate(chat, kit.model, for_child)]
    # A plug-in engine offers tools too, but for names that are taken.
    taken = [tool.spec.name for tool in tools]
    offered = (EngineTool(chat, spec) for spec in chat.engine_tools(reserved=taken))
    return _box([*tools, *offered], kit)


def _work(chat: StoredConversation, kit: Kit) -> list[Tool]:
    place = Workplace(kit.directory)
    past = PastSessions(lambda: search_in(kit.store, current=chat.id))
    files = [ReadFile(place), ListFiles(place), SearchFiles(place)]
    # The window shows what the tool's limit allows; the store has what a command printed.
    return [*files, RunCommand(place, most=_MOST_PRINTED), past, Plan()]


def _box(tools: list[Tool], kit: Kit) -> Toolbox:
    return Toolbox(tools, approve=lambda permission: kit.approve(permission.question))
