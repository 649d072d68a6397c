"""Tools of the conversation itself: its plan, and what was said in others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, cast

from holdfast.agent.toolbox import ToolFailed
from holdfast.transcript.toolkit import plan_of
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Arguments
    from holdfast.conversation import SessionSearch

_STATUSES = ("pending", "in_progress", "completed", "cancelled")
_SPEC = ToolSpec(
    "plan",
    "Keep the plan of a task with several steps: pass the whole list each time it changes. It "
    "stays in view however long the conversation gets.",
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "description": "What is to be done."},
                        "status": {"type": "string", "enum": list(_STATUSES)},
                    },
                    "required": ["content", "status"],
                },
            }
        },
        "required": ["items"],
    },
)


class Plan:
    """Takes a plan, and says how far it is."""

    @property
    def spec(self) -> ToolSpec:
        """Return what the model is told of it."""
        return _SPEC

    def needs_approval(self, arguments: Arguments) -> str:
        """Return "": a plan changes nothing outside the conversation."""
        del arguments
        return ""

    def run(self, arguments: Arguments) -> str:
        """Return how far the plan is."""
        items = plan_of(json.dumps(dict(arguments), default=str))
        if not items:
            raise ToolFailed("items is missing; it is a list of {content, status}")
        done = sum(item.is_done for item in items)
        following = next((item.text for item in items if not item.is_done), "")
        rest = f"; next: {following}" if following else ""
        return f"{done} of {len(items)} done{rest}"


class Memory(Protocol):
    """What a turn needs from whoever remembers beyond the conversation; none of it may hang."""

    def begin_turn(self, words: str, turn: int) -> None:
        """Take note of what the user said, and which turn of the conversation it begins."""
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
        """Return "": memory has its own rules about what it takes."""
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
        self._spec: ToolSpec | None = None

    @property
    def spec(self) -> ToolSpec:
        """Return what the model is told of it; the same all along, or caches would not hold."""
        if self._spec is None:
            written = self._search().tool("anthropic")
            self._spec = ToolSpec(
                str(written["name"]),
                str(written["description"]),
                cast("Mapping[str, object]", written["input_schema"]),
            )
        return self._spec

    def needs_approval(self, arguments: Arguments) -> str:
        """Return "": reading one's own past needs nobody's leave."""
        del arguments
        return ""

    def run(self, arguments: Arguments) -> str:
        """Return what was found, as JSON."""
        return self._search().call(arguments)
