"""Times on a command line: what people write in flags, and how long ago something was."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from holdfast.recall.moments import MOMENTS, moment

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ago", "clock_time", "now_ms", "parse_moment", "read_moment", "shortly_ago"]

_LONGEST_SHOWN = 40
_STEPS = ((60, 1, "second"), (3600, 60, "minute"), (86_400, 3600, "hour"), (0, 86_400, "day"))
_RECENT_DAYS = 30


def parse_moment(text: str, now_ms: int, *, end: bool = False) -> int:
    """Return the moment that a text means, in milliseconds since the epoch.

    Dates without a zone are local. Counts such as `7d` and `12h` go back from now.

    Args:
        text: What was written, such as `2026-11-15`, `7d` or `yesterday`.
        now_ms: The time that it is now.
        end: Whether a day, month or year means its last moment, as `--until` wants it.

    Raises:
        click.BadParameter: when the text means no moment; it says what can be read.
    """
    try:
        now = datetime.fromtimestamp(now_ms / 1000).astimezone()
        found = moment(text, now, end=end)
        if found is not None:
            return round(found.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        # A year that the machine's clock does not know.
        pass
    raise click.BadParameter(f"{text[:_LONGEST_SHOWN]!r} is no time; write {MOMENTS}")


def read_moment(
    *, end: bool = False
) -> Callable[[click.Context, click.Parameter, str | None], int | None]:
    """Return a callback that makes milliseconds of an option's text."""

    def read(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
        if text is None:
            return None
        try:
            return parse_moment(text, now_ms(), end=end)
        except click.BadParameter as error:
            raise click.BadParameter(error.message, context, option) from None

    return read


def now_ms() -> int:
    """Return the time that it is now."""
    from holdfast.system.system_clock import SystemClock

    return SystemClock().moment()


def ago(at: int, now: int) -> str:
    """Return how long ago a moment was, such as `3 hours ago`."""
    seconds = (now - at) // 1000
    if seconds < 0:
        return "in the future"
    if seconds < 5:
        return "just now"
    below, size, unit = next(step for step in _STEPS if seconds < step[0] or not step[0])
    count = seconds // size
    if not below and count > _RECENT_DAYS:
        count, unit = (count // 30, "month") if count < 365 else (count // 365, "year")
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def shortly_ago(at: int, now: int) -> str:
    """Return how long ago a moment was in few columns: `3 hours ago` is `3h ago`."""
    words = ago(at, now)
    count, _, rest = words.partition(" ")
    if not count.isdigit():
        return words
    unit, _, last = rest.partition(" ")
    return f"{count}{'mo' if unit.startswith('mo') else unit[0]} {last}"


def clock_time(at: int) -> str:
    """Return a moment as local date and time, such as `2026-11-15 09:30`."""
    try:
        return datetime.fromtimestamp(at / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
