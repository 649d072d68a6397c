"""The tools of the providers by name, each with its owner; no two have one name."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, cast

from holdfast.deadline import Returned
from holdfast.errors import ConfigError
from holdfast.memory_runtime.offered import NotATool, TooMuch, offers_of
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.memory_runtime.guarded import Guarded
    from holdfast.memory_runtime.offered import Offer

__all__ = ["Toolshelf"]

_AGENT = "the agent"


class Toolshelf:
    """Takes the tools of one provider after the other, all of a provider's or none."""

    def __init__(self, reserved: Iterable[str]) -> None:
        """Begin with the names that no provider may take."""
        self._reserved = frozenset(reserved)
        self._tools: dict[str, tuple[Guarded, ToolSpec]] = {}

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools in the order in which they came."""
        return tuple(spec for _, spec in self._tools.values())

    def owner(self, name: str) -> Guarded | None:
        """Return whose tool it is."""
        return self._tools[name][0] if name in self._tools else None

    def take(self, guarded: Guarded, seconds: float) -> None:
        """Ask a provider for its tools, within the time, and take them.

        A tool that no request can carry is set aside, and the status says so.

        Raises:
            ConfigError: when it offers what is no tool, or a name that is taken.
        """
        answer = guarded.ask("tools", lambda: offers_of(guarded.provider), seconds)
        listed = cast("tuple[Offer, ...]", answer.value if isinstance(answer, Returned) else ())
        found: dict[str, tuple[Guarded, ToolSpec]] = {}
        for offer in listed:
            match offer:
                case NotATool(shown):
                    raise ConfigError(
                        f"memory provider {guarded.name} is refused: {shown} is not a tool"
                    )
                case TooMuch(name, reason):
                    guarded.troubles.was_refused(f"tool {name}", reason)
                case ToolSpec(name=name):
                    if owner := self._holder(name, found):
                        raise ConfigError(
                            f"memory provider {guarded.name} is refused: its tool {name} would "
                            f"hide the tool {name} of {owner}; rename it"
                        )
                    found[name] = (guarded, offer)
                case _:
                    assert_never(offer)
        self._tools |= found

    def _holder(self, name: str, found: dict[str, tuple[Guarded, ToolSpec]]) -> str:
        if name in self._reserved:
            return _AGENT
        holders = {**self._tools, **found}
        return holders[name][0].name if name in holders else ""
