"""The tools of an agent: what they are called with, who approves a call, what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from holdfast.errors import ConfigError, HoldfastError
from holdfast.wire.json_text import arguments_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.transcript import ToolCall
    from holdfast.wire.tool_specs import ToolSpec


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


def _nobody(permission: Permission) -> bool:
    del permission
    return False


class Toolbox:
    """The tools of one agent, by name."""

    def __init__(self, tools: Iterable[Tool] = (), *, approve: Approve = _nobody) -> None:
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
