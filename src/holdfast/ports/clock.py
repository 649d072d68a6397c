"""Time as a port, so that nothing else asks the machine what time it is."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Tells how much time passed, which day it is and what time."""

    def now(self) -> float:
        """Return seconds from an arbitrary start; they never run backwards."""
        ...

    def today(self) -> str:
        """Return the calendar day as an ISO date, such as `2026-11-15`."""
        ...

    def moment(self) -> int:
        """Return the time of day: whole milliseconds since the epoch, UTC."""
        ...
