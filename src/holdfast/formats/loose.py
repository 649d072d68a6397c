"""Looks into JSON of unknown shape: a missing or misshapen value reads as an empty one.

Session files change with almost every release of their agents, so no reader may rely on a shape.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "as_json",
    "is_array",
    "is_object",
    "kind_of",
    "mapping",
    "mappings",
    "parsed",
    "sequence",
    "string",
]

_EMPTY: Mapping[str, object] = MappingProxyType({})
_ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Kept, because `json.dumps` makes one for each value."""


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Say whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Say whether a value is a JSON array."""
    return isinstance(value, list)


def mapping(value: object) -> Mapping[str, object]:
    """Return the value when it is a JSON object, else an empty mapping."""
    # Not `is_object`: this is asked many times for every line of a file.
    return value if isinstance(value, dict) else _EMPTY  # pyright: ignore[reportUnknownVariableType]


def sequence(value: object) -> Sequence[object]:
    """Return the value when it is a JSON array, else an empty sequence."""
    return value if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType]


def mappings(value: object) -> Sequence[Mapping[str, object]]:
    """Return the JSON objects of an array, without what else it holds."""
    return [each for each in sequence(value) if is_object(each)]


def string(value: object) -> str:
    """Return the value when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def kind_of(value: object) -> str:
    """Return what a JSON value is, in words for a message."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"


def parsed(text: object) -> object:
    """Return the JSON value that a text holds, as agents store one in another; None for none."""
    if not isinstance(text, str | bytes):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def as_json(value: object) -> str:
    """Return tool arguments as JSON text: text passes unchanged, nothing is an empty object."""
    if isinstance(value, str):
        return value or "{}"
    return "{}" if value is None else _ENCODER.encode(value)
