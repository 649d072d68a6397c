"""Lets the codec of a provider read one message of a session file, and never raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.transcript import Message

__all__ = ["decoded"]


def decoded(dialect: str, message: Mapping[str, object]) -> tuple[Message, ...] | str:
    """Return the messages that one message of a provider stands for, or why it cannot be read.

    A message that says nothing is left out.
    """
    try:
        found = DIALECTS[dialect].decode(Body([dict(message)]))
    except DecodeError as error:
        return f"{error.path}: {error.problem}"
    return tuple(each for each in found if each.parts)
