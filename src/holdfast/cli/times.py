"""Times on a command line: what people write in flags, and how long ago something was."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from holdfast.recall.moments import MOMENTS, moment

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["now_ms", "parse_moment", "read_moment"]

_LONGEST_SHOWN = 40


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
