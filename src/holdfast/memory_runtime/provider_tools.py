"""The tools of the providers by name, each with its owner; no two have one name.

A provider may be written by anybody: a tool may be no tool, and a schema may be something that no
request can carry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never, cast

from holdfast.deadline import Returned
from holdfast.errors import ConfigError
from holdfast.wire.json_text import encodable
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.memory_runtime.timeout_provider import TimeoutProvider
    from holdfast.ports.memory import MemoryProvider

__all__ = ["NotATool", "Offer", "TooMuch", "ToolRegistry", "offers_of"]

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_SPEC = 16_000
"""Characters of a tool's description and schema: they are paid for with every request."""

_AGENT = "the agent"


@dataclass(frozen=True, slots=True)
class NotATool:
    """Something that is not a tool at all."""

    shown: str


@dataclass(frozen=True, slots=True)
class TooMuch:
    """A tool that no request can carry."""

    name: str
    reason: str


Offer: TypeAlias = ToolSpec | NotATool | TooMuch


def offers_of(provider: MemoryProvider) -> tuple[Offer, ...]:
    """Return the tools of a provider as plain values; called on its thread."""
    return tuple(_offer(each) for each in cast("Iterable[object]", provider.tools()))


def _offer(given: object) -> Offer:
    if not isinstance(given, ToolSpec):
        return NotATool(_shown(given))
    name, about = cast("object", given.name), cast("object", given.description)
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(str.__str__(name)):
        return NotATool(_shown(given))
    name = str.__str__(name)
    if not isinstance(about, str) or not isinstance(cast("object", given.parameters), Mapping):
        return TooMuch(name, "its description is no text, or its schema no object")
    about = encodable(str.__str__(about))
    try:
        schema = json.dumps(dict(given.parameters), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return TooMuch(name, "its schema is no JSON")
    size = len(about) + len(schema)
    if size > _LONGEST_SPEC:
        return TooMuch(name, f"it takes {size:,} characters, and {_LONGEST_SPEC:,} are allowed")
    return ToolSpec(name, about, encodable(json.loads(schema)))


def _shown(value: object) -> str:
    try:
        return repr(value)[:80]
    except Exception:  # noqa: BLE001 - somebody else's object, which may fail to say what it is
        return type(value).__name__


class ToolRegistry:
    """Takes the tools of one provider after the other, all of a provider's or none."""

    def __init__(self, reserved: Iterable[str]) -> None:
        """Begin with the names that no provider may take."""
        self._reserved = frozenset(reserved)
        self._tools: dict[str, tuple[TimeoutProvider, ToolSpec]] = {}

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools in the order in which they came."""
        return tuple(spec for _, spec in self._tools.values())

    def owner(self, name: str) -> TimeoutProvider | None:
        """Return whose tool it is."""
        return self._tools[name][0] if name in self._tools else None

    def take(self, guarded: TimeoutProvider, seconds: float) -> None:
        """Ask a provider for its tools, within the time, and take them.

        A tool that no request can carry is set aside, and the status says so.

        Raises:
            ConfigError: when it offers what is no tool, or a name that is taken.
        """
        answer = guarded.ask("tools", lambda: offers_of(guarded.provider), seconds)
        listed = cast("tuple[Offer, ...]", answer.value if isinstance(answer, Returned) else ())
        found: dict[str, tuple[TimeoutProvider, ToolSpec]] = {}
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

    def _holder(self, name: str, found: dict[str, tuple[TimeoutProvider, ToolSpec]]) -> str:
        if name in self._reserved:
            return _AGENT
        holders = {**self._tools, **found}
        return holders[name][0].name if name in holders else ""
