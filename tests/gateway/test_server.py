"""How a process is prepared to serve for long."""

import gc
from collections.abc import Generator

import pytest

from holdfast.gateway.server import collect_seldom


@pytest.fixture(autouse=True)
def _as_before() -> Generator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def test_what_is_loaded_is_looked_at_for_garbage_no_more_and_the_rest_seldom() -> None:
    young, middle, _ = gc.get_threshold()
    collect_seldom()
    assert gc.get_freeze_count() > len(gc.get_objects())
    assert gc.get_threshold() == (young, middle, 20)
