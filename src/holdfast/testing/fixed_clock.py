"""A clock that a test moves by hand."""

from __future__ import annotations

__all__ = ["FixedClock"]


class FixedClock:
    """Stands still until it is told to advance."""

    def __init__(self, now: float = 0.0, *, today: str = "2026-01-01") -> None:
        """Start at this moment of this day."""
        self._now = now
        self._today = today

    def now(self) -> float:
        """Return the moment at which the clock stands."""
        return self._now

    def today(self) -> str:
        """Return the day at which the clock stands."""
        return self._today

    def moment(self) -> int:
        """Return the milliseconds that passed since the epoch: those the clock advanced by."""
        return int(self._now * 1000)

    def advance(self, seconds: float) -> None:
        """Let time pass; the day stays what it was."""
        self._now += seconds
