"""Times in every spelling that agents use become milliseconds, and go back as ISO 8601."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.json_access import iso, milliseconds


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-01-02T03:04:05.678Z", 1_767_323_045_678),
        ("2026-01-02T05:04:05.678+02:00", 1_767_323_045_678),
        ("2026-01-02T03:04:05.678", 1_767_323_045_678),
        (1_767_323_045, 1_767_323_045_000),
        (1_767_323_045.678, 1_767_323_045_678),
        (1_767_323_045_678, 1_767_323_045_678),
        ("yesterday", None),
        ("0001-01-01T00:00:00+14:00", None),
        (True, None),
        (0, None),
        (10**400, None),
        (float("inf"), None),
        (float("nan"), None),
        (None, None),
        (["2026-01-02"], None),
    ],
)
def test_a_time_in_any_spelling(value: object, expected: int | None) -> None:
    assert milliseconds(value) == expected


@given(st.integers(1, 253_402_300_799_999))
def test_a_written_time_reads_back(at: int) -> None:
    assert milliseconds(iso(at)) == at
