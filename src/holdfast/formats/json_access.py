"""Looks into JSON of unknown shape: a missing or misshapen value reads as an empty one.

Session files change with almost every release of their agents, so no reader may rely on a shape.
That holds for values of every kind, for counts and prices, and for times, which become
milliseconds since the epoch.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from holdfast.session import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JsonObject: TypeAlias = "Mapping[str, object]"
"""The fields of a JSON object, whatever they hold."""

_EMPTY: JsonObject = MappingProxyType({})
_ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Kept, because `json.dumps` makes one for each value."""


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Say whether a value is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Say whether a value is a JSON array."""
    return isinstance(value, list)


def mapping(value: object) -> JsonObject:
    """Return the value when it is a JSON object, else an empty mapping."""
    # Not `is_object`: this is asked many times for every line of a file.
    return value if isinstance(value, dict) else _EMPTY  # pyright: ignore[reportUnknownVariableType]


def sequence(value: object) -> Sequence[object]:
    """Return the value when it is a JSON array, else an empty sequence."""
    return value if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType]


def mappings(value: object) -> Sequence[JsonObject]:
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
    """Decode a text that holds JSON, as agents store one in another; None when it does not."""
    if not isinstance(text, str | bytes):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def as_json(value: object) -> str:
    """Return tool arguments as JSON text: text passes unchanged, None is an empty object."""
    if isinstance(value, str):
        return value or "{}"
    return "{}" if value is None else _ENCODER.encode(value)


_MOST = 1 << 53
_DEAREST = 1e9


def count(value: object) -> int:
    """Return the value when it is a whole number from 0 to below 2**53, else 0."""
    # A JSON number is a plain `int`; true and false are of a type of their own.
    return value if type(value) is int and 0 <= value < _MOST else 0


def whole(value: object) -> int | None:
    """Return the value when it is a whole number, however large or below zero; else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def usage_in(fields: JsonObject, names: Sequence[str], cost: object = None) -> Usage | None:
    """Return the tokens and the price that an agent wrote for one answer; None where it wrote none.

    Args:
        fields: What the agent wrote.
        names: Where it wrote tokens sent, received, read from a cache and written to one.
        cost: What it wrote as the price in dollars.
    """
    counts = [
        # The same as `count`, for the one place where it is asked for every answer.
        value if type(value) is int and 0 <= value < _MOST else 0
        for value in map(fields.get, names)
    ]
    price = 0.0 if cost is None else dollars(cost)
    return Usage(1, *counts, cost=price) if price or any(counts) else None


def dollars(value: object) -> float:
    """Return the value when it is a price, else 0.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < _DEAREST else 0.0


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LATEST = 253_402_300_799_999
"""The last millisecond that has four digits for its year."""
_SECONDS_END = 100_000_000_000
"""A smaller number counts seconds: as milliseconds it would be a time before 1974."""


def iso(at: int) -> str:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    text = (_EPOCH + _MILLISECOND * min(max(at, 0), _LATEST)).isoformat(timespec="milliseconds")
    return f"{text.removesuffix('+00:00')}Z"


def milliseconds(value: object) -> int | None:
    """Return a time in milliseconds since the epoch; None for a value that is no time.

    Text is a date as ISO 8601 writes it, in UTC where it names no zone. A number counts seconds
    or milliseconds since the epoch, whichever makes it a time in which agents existed.
    """
    found: int | None = None
    if isinstance(value, str):
        try:
            date = datetime.fromisoformat(value)
            zoned = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
            found = (zoned - _EPOCH) // _MILLISECOND
        except (ValueError, OverflowError):
            return None
    elif not isinstance(value, bool) and isinstance(value, int | float):
        if isinstance(value, float) and not math.isfinite(value * 1000):
            found = None
        else:
            found = round(value if value >= _SECONDS_END else value * 1000)
    return found if found is not None and 0 < found <= _LATEST else None
