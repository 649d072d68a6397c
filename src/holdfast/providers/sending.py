"""Sends what a request can carry: one sign that UTF-8 cannot hold must not end a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["sent"]

_Answer = TypeVar("_Answer")


def sent(send: Callable[[dict[str, object]], _Answer], fields: dict[str, object]) -> _Answer:
    """Send the fields of a request, with a replacement for each sign that cannot be encoded.

    Looking at every word of a long conversation before each request would cost more than the one
    in thousands that fails before anything leaves the machine.
    """
    try:
        return send(fields)
    except UnicodeEncodeError:
        return send(encodable(fields))
