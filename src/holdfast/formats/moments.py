"""Times as session files write them, and as milliseconds since the epoch."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

__all__ = ["iso", "moment"]

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


def moment(value: object) -> int | None:
    """Return a time in milliseconds since the epoch; None for what is none.

    Text is a date as ISO 8601 writes it, in UTC where it names no zone. A number counts seconds
    or milliseconds since the epoch, whichever makes it a time in which agents existed.
    """
    found: int | None = None
    if isinstance(value, str):
        found = _from_text(value)
    elif not isinstance(value, bool) and isinstance(value, int | float):
        found = _from_number(value)
    return found if found is not None and 0 < found <= _LATEST else None


def _from_number(value: float) -> int | None:
    if isinstance(value, float) and not math.isfinite(value * 1000):
        return None
    return round(value if value >= _SECONDS_END else value * 1000)


def _from_text(text: str) -> int | None:
    try:
        found = datetime.fromisoformat(text)
        zoned = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        return (zoned - _EPOCH) // _MILLISECOND
    except (ValueError, OverflowError):
        return None
