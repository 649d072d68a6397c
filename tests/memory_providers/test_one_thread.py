"""numpy computes on one thread inside, and as before afterwards."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from holdfast.memory_providers.embedding import one_thread

LIBRARIES = list((Path(np.__file__).parent.parent / "numpy.libs").glob("*openblas*"))
pytestmark = pytest.mark.skipif(not LIBRARIES, reason="numpy stands on another library here")


def threads() -> int:
    """Return how many threads the library uses now, asked past the module."""
    import ctypes

    return ctypes.CDLL(str(LIBRARIES[0])).scipy_openblas_get_num_threads64_()


def test_inside_there_is_one_thread_and_outside_what_was() -> None:
    before = threads()
    with one_thread():
        assert threads() == 1
        with one_thread():
            assert threads() == 1
        assert threads() == 1
    assert threads() == before


def test_an_error_inside_restores_what_was() -> None:
    before = threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 // 0
    assert threads() == before


def test_many_at_once_leave_it_as_it_was() -> None:
    before = threads()

    def work(_: int) -> int:
        with one_thread():
            return threads()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(200))) == {1}
    assert threads() == before
