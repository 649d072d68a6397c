"""JSON as text: tool arguments, objects that a model wrote into a reply, and what UTF-8 can hold.

Providers write tool arguments as JSON text or as JSON objects. Models write JSON with slips: a
comma too many, brackets left open, Python's quotes and constants, words around the object. What is
correct is read by the standard library alone; the rest is mended by `json_repair`. Python and JSON
can hold half of a surrogate pair, UTF-8 cannot: one such sign would make every later request fail
before it is sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from holdfast.transcript.arguments import parsed

if TYPE_CHECKING:
    from holdfast.wire.common import Wire

_RAW = "arguments"
_FREE = "input"
_ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Kept, because `json.dumps` makes one for each value."""
_CLOSERS = ("}", "]", '"', "'", "`")
"""What arguments end with that were not cut off."""
_DECODER = json.JSONDecoder()
_Value = TypeVar("_Value")


def written(value: object) -> str:
    """Return a JSON value as text, every letter as it is."""
    return _ENCODER.encode(value)


def is_json(text: str) -> bool:
    """Say whether the text parses."""
    try:
        parsed(text)
    except (ValueError, RecursionError):
        return False
    return True


def value_of(text: str) -> object:
    """Return the JSON value that the text holds, or the text when it holds none."""
    try:
        return parsed(text)
    except (ValueError, RecursionError):
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


def arguments_in(text: str) -> Wire | None:
    """Return the arguments of a call that a model wrote, or nothing when they are no object.

    Slips are mended, but for arguments that were cut off: what is missing of them may matter.
    """
    if not text.strip():
        return {}
    found = object_in(text)
    is_whole = text.rstrip().endswith(_CLOSERS)
    return read_object(text) if found is None and is_whole else found


def read_object(text: str) -> Wire | None:
    """Return the first object in what a model wrote, its slips mended, or nothing."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        found: object = _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return _mended(text[start:])
    return cast("Wire", found)


def _mended(text: str) -> Wire | None:
    # Rarely needed, and slow to load.
    from json_repair import loads

    try:
        found: object = loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    values = cast("list[object]", found) if isinstance(found, list) else [found]
    # An object without anything in it is what is left of what is none.
    return next((cast("Wire", each) for each in values if isinstance(each, dict) and each), None)


def encodable(value: _Value) -> _Value:
    """Return a text, or a value as JSON has them, with a replacement sign for each lone half.

    Two halves that stand together become the sign that they are. What can be sent already is
    returned as it is.
    """
    return cast("_Value", _encodable(value))


def _encodable(value: object) -> object:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        return {_encodable(name): _encodable(each) for name, each in fields.items()}
    if isinstance(value, list | tuple):
        return [_encodable(each) for each in cast("list[object]", value)]
    return value
