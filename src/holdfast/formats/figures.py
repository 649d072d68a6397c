"""Counts and prices as session files write them: whatever is no such number reads as nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.session import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["count", "dollars", "usage_in", "whole"]

_MOST = 1 << 53
_DEAREST = 1e9


def count(value: object) -> int:
    """Return the value when it is a whole number that counts something, else 0."""
    # A JSON number is a plain `int`; true and false are of a type of their own.
    return value if type(value) is int and 0 <= value < _MOST else 0


def whole(value: object) -> int | None:
    """Return the value when it is a whole number, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def usage_in(
    fields: Mapping[str, object], names: Sequence[str], cost: object = None
) -> Usage | None:
    """Return what one answer cost; None where nothing says so.

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
    """Return the value when it is a price, else nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if 0 <= value < _DEAREST else 0.0
