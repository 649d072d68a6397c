"""The machine's clock."""

import re

from holdfast.ports import Clock
from holdfast.system import SystemClock


def test_time_does_not_run_backwards() -> None:
    clock: Clock = SystemClock()
    moments = [clock.now() for _ in range(100)]
    assert moments == sorted(moments)


def test_the_day_is_an_iso_date() -> None:
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", SystemClock().today())
