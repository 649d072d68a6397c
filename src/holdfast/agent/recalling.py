"""What a model may look up: past conversations, and what a memory provider offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, cast

from holdfast.recall.tool_schema import session_search_tool
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Arguments
    from holdfast.conversation import SessionSearch

__all__ = ["Memory", "MemoryTool", "PastSessions", "memory_tools"]


class Memory(Protocol):
    """What a turn needs from whoever remembers beyond the conversation; none of it may hang."""

    def begin_turn(self, words: str) -> None:
        """Take note of what the user said."""
        ...

    def recall(self, query: str) -> str:
        """Return what is known that bears on it, within a deadline; empty where nothing is."""
        ...

    def after_turn(self, user: str, assistant: str) -> None:
        """Take in an exchange, in the background."""
        ...

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the model is given."""
        ...

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a call of one of them."""
        ...


class MemoryTool:
    """One of the tools that memory offers."""

    def __init__(self, memory: Memory, spec: ToolSpec) -> None:
        """Answer calls of this tool from this memory."""
        self.spec = spec
        self._memory = memory

    def needs_approval(self, arguments: Arguments) -> str:
        """Return nothing: memory has its own rules about what it takes."""
        del arguments
        return ""

    def run(self, arguments: Arguments) -> str:
        """Return what memory answers."""
        return self._memory.call(self.spec.name, arguments)


def memory_tools(memory: Memory) -> tuple[MemoryTool, ...]:
    """Return everything that memory offers to the model."""
    return tuple(MemoryTool(memory, spec) for spec in memory.tools())


class PastSessions:
    """The `session_search` tool: what was said before, also what was compacted away."""

    finds_folded = True

    def __init__(self, search: Callable[[], SessionSearch]) -> None:
        """Search with what this returns, made anew for each call: a rotation changes the id."""
        self._search = search

    @property
    def spec(self) -> ToolSpec:
        """Return what the model is told of it."""
        written = session_search_tool("anthropic")
        return ToolSpec(
            str(written["name"]),
            str(written["description"]),
            cast("Mapping[str, object]", written["input_schema"]),
        )

    def needs_approval(self, arguments: Arguments) -> str:
        """Return nothing: reading one's own past needs nobody's leave."""
        del arguments
        return ""

    def run(self, arguments: Arguments) -> str:
        """Return what was found, as JSON."""
        return self._search().call(arguments)
