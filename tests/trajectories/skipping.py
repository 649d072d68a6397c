"""An event loop whose clock jumps to the next thing that is due, so that tests wait for nothing."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import TypeVar

Result = TypeVar("Result")


class _Selector(selectors.SelectSelector):
    """Lets time pass instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "everybody waits, and nothing is due"
        self.now += max(timeout, 0.0)
        return super().select(0)


class SkippingLoop(asyncio.SelectorEventLoop):
    """Begins at 0 seconds, and has no time that passes by itself."""

    def __init__(self) -> None:
        self._skipping = _Selector()
        super().__init__(self._skipping)

    def time(self) -> float:
        """Return the seconds that were waited for."""
        return self._skipping.now


def run(work: Coroutine[None, None, Result]) -> Result:
    """Return what a coroutine returns, without waiting."""
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        return runner.run(work)


def now() -> float:
    """Return the time of the loop that runs."""
    return round(asyncio.get_running_loop().time(), 3)
