"""The machine: its clock, its processes, its files."""

from __future__ import annotations

import time


class SystemClock:
    """Tells the machine's time; a changed wall clock or a leap does not move `now`."""

    def now(self) -> float:
        """Return seconds from an arbitrary start; they never run backwards."""
        return time.monotonic()

    def today(self) -> str:
        """Return the calendar day where the machine is, as an ISO date."""
        return time.strftime("%Y-%m-%d")

    def moment(self) -> int:
        """Return whole milliseconds since the epoch, UTC."""
        return time.time_ns() // 1_000_000
