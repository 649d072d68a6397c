"""Times on the command line: read as people write them, shown as people say them."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import click
import pytest

from holdfast.cli.flags import now_ms, parse_moment
from holdfast.views.words import ago, clock_time

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
NOW = round(datetime(2026, 11, 16, 9, 30, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture(autouse=True)
def berlin() -> Iterator[None]:
    """Let the machine be in a zone with daylight saving."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Europe/Berlin"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def utc(*parts: int) -> int:
    year, month, day, hour = parts
    return round(datetime(year, month, day, hour, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7d", NOW - 7 * DAY),
        ("12h", NOW - 12 * HOUR),
        ("2026-11-15", utc(2026, 11, 14, 23)),
        ("2026-07-01", utc(2026, 6, 30, 22)),
        ("9999-12-31", utc(9999, 12, 30, 23)),
        ("yesterday", utc(2026, 11, 14, 23)),
        ("2026-11-15T10:00", utc(2026, 11, 15, 9)),
        ("2026-11-15T10:00Z", utc(2026, 11, 15, 10)),
    ],
)
def test_a_moment_is_local_unless_it_names_its_zone(text: str, wanted: int) -> None:
    assert parse_moment(text, NOW) == wanted


def test_the_end_of_a_day_is_local_too() -> None:
    assert parse_moment("2026-11-15", NOW, end=True) == utc(2026, 11, 15, 23) - 1


@pytest.mark.parametrize("text", ["soon", "", "x" * 1_000, "0001-01-01"])
def test_what_is_no_time_says_what_can_be_written(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is no time; write a date") as raised:
        parse_moment(text, NOW)
    assert len(raised.value.message) < 200


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (-MINUTE, "in the future"),
        (0, "just now"),
        (4 * SECOND, "just now"),
        (5 * SECOND, "5 seconds ago"),
        (MINUTE, "1 minute ago"),
        (59 * MINUTE, "59 minutes ago"),
        (HOUR, "1 hour ago"),
        (25 * HOUR, "1 day ago"),
        (30 * DAY, "30 days ago"),
        (31 * DAY, "1 month ago"),
        (200 * DAY, "6 months ago"),
        (400 * DAY, "1 year ago"),
        (4_000 * DAY, "10 years ago"),
    ],
)
def test_how_long_ago_is_said_in_one_unit(passed: int, words: str) -> None:
    assert ago(NOW - passed, NOW) == words


def test_a_moment_is_shown_on_the_local_clock() -> None:
    assert clock_time(NOW) == "2026-11-16 10:30"
    assert clock_time(10**20) == "at an unknown time"
    assert abs(now_ms() - time.time() * 1000) < MINUTE
