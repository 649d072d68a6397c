"""The agent: a conversation, a model, tools and memory, joined to the loop of a turn.

Read in this order: `events`, `toolbox`, `arguments`, `planning`, `folders`, `workplace`,
`file_search`, `commands`, `recalling`, `drafts`, `watching`, `asking`, `backoff`, `turn`,
`delegating`; `rehearsal` holds the words of a demonstration.

Each name is loaded when it is first used: the search for files is a program of its own and needs
none of the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.agent.asking import Caching
    from holdfast.agent.commands import RunCommand
    from holdfast.agent.delegating import Delegate
    from holdfast.agent.planning import Plan
    from holdfast.agent.recalling import Memory, PastSessions, memory_tools
    from holdfast.agent.toolbox import Permission, Tool, Toolbox, ToolFailed
    from holdfast.agent.turn import Agent, Habits
    from holdfast.agent.workplace import ListFiles, ReadFile, SearchFiles, Workplace

__all__ = [
    "Agent",
    "Caching",
    "Delegate",
    "Habits",
    "ListFiles",
    "Memory",
    "PastSessions",
    "Permission",
    "Plan",
    "ReadFile",
    "RunCommand",
    "SearchFiles",
    "Tool",
    "ToolFailed",
    "Toolbox",
    "Workplace",
    "memory_tools",
]

_HOMES = {
    "Agent": "turn",
    "Caching": "asking",
    "Delegate": "delegating",
    "Habits": "turn",
    "ListFiles": "workplace",
    "Memory": "recalling",
    "PastSessions": "recalling",
    "Permission": "toolbox",
    "Plan": "planning",
    "ReadFile": "workplace",
    "RunCommand": "commands",
    "SearchFiles": "workplace",
    "Tool": "toolbox",
    "ToolFailed": "toolbox",
    "Toolbox": "toolbox",
    "Workplace": "workplace",
    "memory_tools": "recalling",
}


def __getattr__(name: str) -> object:
    """Load a name from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
