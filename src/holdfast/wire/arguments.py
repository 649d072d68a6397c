"""Tool arguments between the two ways providers write them: JSON text and JSON objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from holdfast.wire.fields import Wire

__all__ = ["as_object", "free_text", "is_json", "object_in", "value_of", "wrapped", "written"]

_RAW = "arguments"
_FREE = "input"
_ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Kept, because `json.dumps` makes one for each value."""


def written(value: object) -> str:
    """Return a JSON value as text, every letter as it is."""
    return _ENCODER.encode(value)


def is_json(text: str) -> bool:
    """Say whether the text parses."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def value_of(text: str) -> object:
    """Return the JSON value that the text holds, or the text when it holds none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def object_in(text: str) -> Wire | None:
    """Return the object that the text holds, or nothing when it holds none."""
    value = value_of(text)
    return cast("Wire", value) if isinstance(value, dict) else None


def as_object(text: str) -> Wire:
    """Return arguments as the object that a provider asks for.

    Models send an empty text for no arguments. What is not an object goes into one as it is.
    """
    if not text.strip():
        return {}
    found = object_in(text)
    return {_RAW: text} if found is None else found


def wrapped(text: str) -> str:
    """Return the free text of a custom tool as arguments that every provider accepts."""
    return written({_FREE: text})


def free_text(arguments: str) -> str:
    """Return the free text in wrapped arguments, or the arguments when they are not wrapped."""
    match object_in(arguments):
        case {"input": str() as text}:
            return text
        case _:
            return arguments
