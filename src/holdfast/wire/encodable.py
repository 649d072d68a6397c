"""Text that a request can carry.

Python and JSON can hold half of a surrogate pair, UTF-8 cannot: one such sign in a conversation
would make every later request fail before it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

__all__ = ["encodable"]

_Value = TypeVar("_Value")


def encodable(value: _Value) -> _Value:
    """Return a text, or a value as JSON has them, with a replacement sign for each lone half.

    Two halves that stand together become the sign that they are. What can be sent already is
    returned as it is.
    """
    return cast("_Value", _encodable(value))


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        return {_encodable(name): _encodable(each) for name, each in fields.items()}
    if isinstance(value, list | tuple):
        return [_encodable(each) for each in cast("list[object]", value)]
    return value


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
