"""What people write for a moment is read, and what means none is not."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall.values import moment

NOW = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("now", NOW),
        ("7d", NOW - timedelta(days=7)),
        ("12h", NOW - timedelta(hours=12)),
        (" 30 M ", NOW - timedelta(minutes=30)),
        ("3 days ago", NOW - timedelta(days=3)),
        ("1 hour", NOW - timedelta(hours=1)),
        ("2 weeks", NOW - timedelta(weeks=2)),
        ("6mo", NOW - timedelta(days=180)),
        ("1y", NOW - timedelta(days=365)),
        ("today", datetime(2026, 11, 16)),
        ("Yesterday", datetime(2026, 11, 15)),
        ("2026-11-15", datetime(2026, 11, 15)),
        ("20261115", datetime(2026, 11, 15)),
        ("2026-12", datetime(2026, 12, 1)),
        ("2026", datetime(2026, 1, 1)),
        ("2026-11-15 09:30", datetime(2026, 11, 15, 9, 30)),
        ("2026-11-15t09:30z", datetime(2026, 11, 15, 9, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read(text: str, wanted: datetime) -> None:
    assert moment(text, NOW) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("yesterday", datetime(2026, 11, 15, 23, 59, 59, 999_000)),
        ("2026-11-15", datetime(2026, 11, 15, 23, 59, 59, 999_000)),
        ("2026-12", datetime(2026, 12, 31, 23, 59, 59, 999_000)),
        ("2025", datetime(2025, 12, 31, 23, 59, 59, 999_000)),
        ("2026-11-15T09:30", datetime(2026, 11, 15, 9, 30)),
        ("7d", NOW - timedelta(days=7)),
    ],
)
def test_the_end_of_a_day_month_or_year_is_its_last_moment(text: str, wanted: datetime) -> None:
    assert moment(text, NOW, end=True) == wanted


@pytest.mark.parametrize(
    "text", ["", "soon", "d", "7", "7x", "-3d", "2026-02-30", "2026-13", "999999y", "9999-12-31x"]
)
def test_what_means_no_moment_is_none(text: str) -> None:
    assert moment(text, NOW) is None


@given(st.text())
def test_no_text_makes_it_fail(text: str) -> None:
    assert moment(text, NOW) is None or isinstance(moment(text, NOW), datetime)
