"""Calls to one store that are made one after the other, on a thread that goes on while some wait.

To wake a thread and to hand Python's lock over take longer than most of what is written.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from holdfast.conversation.waiting import start_in_store

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

_MOST_VISITS = 64
"""Calls that a thread makes before others have their turn on it."""
Result = TypeVar("Result")


@runtime_checkable
class Checkpoints(Protocol):
    """A store that keeps what was written last beside its file, and moves it from time to time."""

    def checkpoint(self) -> None:
        """Move what waits beside the file into it, while others read and write."""
        ...


class StoreVisits:
    """Calls that are made in their order, on a thread for stores that serves all who wait."""

    def __init__(self) -> None:
        """Begin with nothing to do."""
        self._waiting: deque[_Visit] = deque()
        self._lock = threading.Lock()
        self._is_under_way = False

    async def make(self, call: Callable[[], Result]) -> Result:
        """Return what a call comes to; it is made even if nobody waits for it any more."""
        import asyncio
        import contextvars

        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Result] = loop.create_future()
        visit = _Visit(partial(contextvars.copy_context().run, call), loop, ended)
        with self._lock:
            self._waiting.append(visit)
            begins, self._is_under_way = not self._is_under_way, True
        if begins:
            self._begin()
        return await ended

    def _begin(self) -> None:
        try:
            start_in_store(self._go_on)
        except BaseException:
            # The system has no thread to give: who waits next tries again, and makes these too.
            self._is_under_way = False
            raise

    def _go_on(self) -> None:
        for _ in range(_MOST_VISITS):
            with self._lock:
                if not self._waiting:
                    self._is_under_way = False
                    return
                visit = self._waiting.popleft()
            visit.make()
        self._begin()


@dataclass(frozen=True, slots=True)
class _Visit:
    """A call, and where its end is waited for."""

    call: Callable[[], object]
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Future[Any]

    def make(self) -> None:
        """Make the call and tell what it comes to."""
        result, error = None, None
        try:
            result = self.call()
        except BaseException as raised:  # noqa: BLE001 - raised again where it is waited for
            error = raised
        # In a loop that was closed meanwhile nobody waits.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._end, result, error)

    def _end(self, result: object, error: BaseException | None) -> None:
        if self.ended.done():
            return
        if error is None:
            self.ended.set_result(result)
        else:
            self.ended.set_exception(error)
