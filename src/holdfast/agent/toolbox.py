"""The tools of an agent: what they are called with, who approves a call, what comes back.

At the end the tools of the conversation itself: its plan, its memory, what was said in others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from holdfast.errors import ConfigError, HoldfastError
from holdfast.transcript.toolkit import plan_of
from holdfast.wire.json_text import arguments_in
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.conversation import SessionSearch
    from holdfast.transcript import ToolCall


def words(arguments: Arguments, name: str, default: str | None = None) -> str:
    """Return a text among the arguments.

    Raises:
        ToolFailed: when it is missing and has no default, or is no text.
    """
    value = arguments.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str) or not (value.strip() or default is not None):
        raise ToolFailed(f"{name} is missing; it is a text")
    return value


def number(arguments: Arguments, name: str, default: int) -> int:
    """Return a whole number of at least 1 among the arguments.

    Raises:
        ToolFailed: when something else is there.
    """
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().isdigit():
        # Small models write numbers as texts.
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ToolFailed(f"{name} is {value!r}; it is a whole number of at least 1")
    return value


Arguments: TypeAlias = Mapping[str, object]


class ToolFailed(HoldfastError):
    """A tool could not do what was asked; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Permission:
    """What the user is asked before a tool runs."""

    tool: str
    arguments: Arguments
    question: str


Approve: TypeAlias = Callable[[Permission], bool]
"""Asks the user; says whether the tool may run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call is answered with."""

    text: str
    is_error: bool = False


class Tool(Protocol):
    """Something a model may call."""

    @property
    def spec(self) -> ToolSpec:
        """Return what the model is told of it."""
        ...

    def needs_approval(self, arguments: Arguments) -> str:
        """Return what the user is to be asked before this runs; empty when it may run at once."""
        ...

    def run(self, arguments: Arguments) -> str:
        """Do it, and return what the model is told.

        Raises:
            ToolFailed: when it cannot be done.
        """
        ...


class Toolbox:
    """The tools of one agent, by name."""

    def __init__(self, tools: Iterable[Tool] = (), *, approve: Approve = lambda _: False) -> None:
        """Join the tools.

        Args:
            tools: Each with a name of its own.
            approve: Asks the user; without it, whatever needs approval is declined.

        Raises:
            ConfigError: when two tools have the same name.
        """
        self._tools: dict[str, Tool] = {}
        self._approve = approve
        for tool in tools:
            name = tool.spec.name
            if name in self._tools:
                raise ConfigError(f"there are two tools called {name}; one of them must go")
            self._tools[name] = tool

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what the model is told, always in the same order."""
        return tuple(tool.spec for tool in self._tools.values())

    @property
    def recall(self) -> tuple[str, ...]:
        """Return the names of the tools by which the model finds what was folded.

        A tool says so itself, by an attribute `finds_folded` that is true.
        """
        return tuple(
            name for name, tool in self._tools.items() if getattr(tool, "finds_folded", False)
        )

    def answer(self, call: ToolCall) -> Outcome:
        """Return what comes of a call; nothing that a tool does wrong is raised."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return Outcome(f"there is no tool {call.name!r}; there are: {known}", is_error=True)
        arguments = arguments_in(call.arguments)
        if arguments is None:
            wrong = "the arguments are not a whole JSON object; call again with one"
            return Outcome(wrong, is_error=True)
        try:
            question = tool.needs_approval(arguments)
            if question and not self._approve(Permission(call.name, arguments, question)):
                refusal = "the user did not allow this; ask or find another way"
                return Outcome(refusal, is_error=True)
            return Outcome(tool.run(arguments))
        except HoldfastError as error:
            return Outcome(str(error), is_error=True)
        except Exception as error:  # noqa: BLE001 - a tool is somebody else's code
            return Outcome(f"{call.name} failed: {type(error).__name__}: {error}", is_error=True)


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
