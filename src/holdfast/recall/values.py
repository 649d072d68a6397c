"""What a search is narrowed by, moments as people write them among it, and what it finds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.transcript import Role


class MatchTier(IntEnum):
    """How a match was found, best first: a lower tier is asked when the higher ones gave little."""

    WORDS = 1
    """It holds everything that was asked for, as words."""
    PARTS = 2
    """It holds everything, some of it inside longer words."""
    SOME = 3
    """It, or what was said right beside it, holds some of the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a search is narrowed by; the default is everything that is not in the trash."""

    roles: tuple[Role, ...] = ()
    sources: tuple[str, ...] = ()
    """Only these; empty means all. `import:` stands for every import."""
    exclude_sources: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since the epoch, included."""
    until: int | None = None
    """Milliseconds since the epoch, included."""
    sessions: tuple[str, ...] = ()
    lineages: tuple[str, ...] = ()
    """Ids of root sessions: only what belongs to their trees."""
    exclude_lineages: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    include_trashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message that a search found."""

    message_id: int
    session_id: str
    root_id: str
    position: int
    role: Role
    at: int
    score: float
    """Comparable within one tier of one search."""
    tier: MatchTier


_IMPORTED = "import:"


def meant_sources(names: Iterable[str]) -> tuple[str, ...]:
    """Return the sources that names stand for.

    An agent's name stands for what was imported from it, and `import` for every import.
    """
    found: list[str] = []
    for name in names:
        found.append(name)
        if ":" not in name:
            found.append(_IMPORTED if name == "import" else f"{_IMPORTED}{name}")
    return tuple(found)


def agent_of(source: str) -> str:
    """Return the agent that a session was imported from; empty for one that was begun here."""
    return source.removeprefix(_IMPORTED) if source.startswith(_IMPORTED) else ""


MOMENTS = "a date (2026-11-15), a date and time (2026-11-15T09:30), 7d, 12h, 2 weeks, yesterday"
"""What can be read, for messages to people."""

_UNITS = {
    "s": 1,
    "second": 1,
    "sec": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "h": 3600,
    "hour": 3600,
    "d": 86_400,
    "day": 86_400,
    "w": 7 * 86_400,
    "week": 7 * 86_400,
    "mo": 30 * 86_400,
    "month": 30 * 86_400,
    "y": 365 * 86_400,
    "year": 365 * 86_400,
}
_AGO = re.compile(r"(?P<count>\d{1,6})\s*(?P<unit>[a-z]+?)s?(?:\s+ago)?", re.ASCII)
_PERIOD = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d\d))?", re.ASCII)
_DAY = re.compile(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d(?:-?\d)?", re.ASCII | re.IGNORECASE)
_ALL_DAY = timedelta(days=1, milliseconds=-1)
_DAYS_BACK = {"today": 0, "yesterday": 1}


def moment(text: str, now: datetime, *, end: bool = False) -> datetime | None:
    """Return the moment that a text means, or nothing if it means none.

    A result without a zone is on the clock of the place where it was written. A month is 30 days
    and a year 365 when they are counted back from now.

    Args:
        text: What was written.
        now: The moment it was written at, with its zone.
        end: Whether a day, month or year means its last moment rather than its first.
    """
    written = " ".join(text.split()).lower()
    try:
        found = _counted(written, now) or _period(written, now, end=end)
        return found or datetime.fromisoformat(written.upper())
    except (ValueError, OverflowError):
        return None


def _counted(text: str, now: datetime) -> datetime | None:
    if text == "now":
        return now
    match = _AGO.fullmatch(text)
    seconds = _UNITS.get(match["unit"]) if match else None
    return now - timedelta(seconds=int(match["count"]) * seconds) if match and seconds else None


def _period(text: str, now: datetime, *, end: bool) -> datetime | None:
    """Return the first or the last moment of a day, a month or a year."""
    if match := _PERIOD.fullmatch(text):
        year, month = int(match["year"]), int(match["month"] or 1)
        first = datetime(year, month, 1)
        # Four days after the 28th of any month it is the next one.
        last = datetime(year, month if match["month"] else 12, 28)
        if not end:
            return first
        return (last + timedelta(days=4)).replace(day=1) - timedelta(milliseconds=1)
    if text in _DAYS_BACK:
        day = datetime.combine(now.date(), time()) - timedelta(days=_DAYS_BACK[text])
    elif _DAY.fullmatch(text):
        day = datetime.fromisoformat(text.upper())
    else:
        return None
    return day + _ALL_DAY if end else day
