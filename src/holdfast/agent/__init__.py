"""The agent: a conversation, a model, tools and memory, joined to the loop of a turn.

Read in this order: `events`, `toolbox`, `workplace`, `file_search`, `turn`, `delegating`.

Each name is loaded when it is first used: the search for files is a program of its own and needs
none of the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.agent.delegating import Delegate
    from holdfast.agent.toolbox import (
        Memory,
        PastSessions,
        Permission,
        Plan,
        Tool,
        Toolbox,
        ToolFailed,
        memory_tools,
    )
    from holdfast.agent.turn import Agent, Caching, Habits
    from holdfast.agent.workplace import ListFiles, ReadFile, RunCommand, SearchFiles, Workplace

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
    "turn": ("Agent", "Caching", "Habits"),
    "delegating": ("Delegate",),
    "workplace": ("ListFiles", "ReadFile", "RunCommand", "SearchFiles", "Workplace"),
    "toolbox": (
        "Memory",
        "PastSessions",
        "Permission",
        "Plan",
        "Tool",
        "ToolFailed",
        "Toolbox",
        "memory_tools",
    ),
}
"""The names that each module defines."""


def __getattr__(name: str) -> object:
    """Load a name from the module that defines it."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
