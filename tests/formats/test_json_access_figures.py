"""Numbers that session files write, and what is none."""

import pytest

from holdfast.formats.json_access import count, usage_in, whole
from holdfast.session import Usage

NAMES = ("in", "out", "read", "write")


@pytest.mark.parametrize(
    ("value", "counted"), [(3, 3), (0, 0), (-1, 0), (True, 0), (2.5, 0), ("3", 0), (1 << 60, 0)]
)
def test_only_a_whole_number_counts(value: object, counted: int) -> None:
    assert count(value) == counted


def test_usage_is_one_call_with_its_price() -> None:
    fields = {"in": 1, "out": 2, "read": 3, "write": 4}
    assert usage_in(fields, NAMES, 0.5) == Usage(1, 1, 2, 3, 4, 0.5)


@pytest.mark.parametrize("cost", [None, "1", True, -1, float("nan"), float("inf"), 10**400, {}])
def test_what_is_no_price_costs_nothing(cost: object) -> None:
    assert usage_in({"in": 1}, NAMES, cost) == Usage(1, 1)
    assert usage_in({}, NAMES, cost) is None


def test_a_whole_number_is_neither_true_nor_a_fraction() -> None:
    assert [whole(value) for value in (7, 0, -1, True, 1.5, "7", None)] == [
        7,
        0,
        -1,
        None,
        None,
        None,
        None,
    ]
