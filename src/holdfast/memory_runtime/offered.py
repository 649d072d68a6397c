"""What a provider says of itself, read on its own thread: its name and its tools.

It may be written by anybody. A name may hang, a tool may be no tool, and a schema may be something
that no request can carry.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.memory import plain
from holdfast.memory_runtime.lane import Lane, Returned
from holdfast.wire.json_text import encodable
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.ports.memory import MemoryProvider

__all__ = ["NotATool", "Offer", "TooMuch", "name_of", "offers_of", "plain_value"]

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LONGEST_NAME = 60
_LONGEST_SPEC = 16_000
"""Characters of a tool's description and schema: they are paid for with every request."""


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


def name_of(provider: MemoryProvider, seconds: float) -> str:
    """Return what a provider calls itself; the name of its class, where it does not say in time."""
    kind = type(provider).__name__
    try:
        outcome = Lane(f"holdfast-memory-{kind}-name").put("name", lambda: provider.name)
    except RuntimeError:
        return kind
    match outcome.wait(seconds):
        case Returned(str() as name):
            said = " ".join(encodable(plain(str.__str__(name))).split())
            return said[:_LONGEST_NAME] or kind
        case _:
            return kind


def offers_of(provider: MemoryProvider) -> tuple[Offer, ...]:
    """Return the tools of a provider as plain values; called on its thread."""
    return tuple(_offer(each) for each in cast("Iterable[object]", provider.tools()))


def plain_value(value: object) -> object:
    """Return what a provider returned; a text of its own kind as an ordinary one.

    Called on its thread: a kind of text may hang or fail in everything that is done to it.
    """
    return str.__str__(value) if isinstance(value, str) else value


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
