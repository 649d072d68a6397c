"""Calls to one store that are made one after the other, those that wait in one transaction.

To wake a thread, to hand Python's lock over and to commit take longer than most of what is written.
So a thread that is there goes on while there is something to do, and what waits is written at once.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable
from weakref import WeakMethod

from holdfast.conversation.waiting import start_in_store
from holdfast.errors import StoreBusy, StoreError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    Together: TypeAlias = Callable[[], AbstractContextManager[None]]

__all__ = ["Checkpoints", "GroupsWrites", "HalfWritten", "SessionLock", "StoreVisits"]

_MOST_VISITS = 64
"""Calls that a thread makes before others have their turn on it."""
_MOST_TOGETHER = 8
"""Calls in one transaction: more save little, and the first of them waits for the last."""
_here = threading.local()
"""Has a `group` while this thread makes calls together."""
Result = TypeVar("Result")


@runtime_checkable
class GroupsWrites(Protocol):
    """A store that writes what several calls of one thread write in one transaction."""

    def together(self) -> AbstractContextManager[None]:
        """Let all that is written within happen at its end, or nothing of it.

        Raises:
            StoreError: at the end, when something within failed: nothing happened then.
        """
        ...


@runtime_checkable
class Checkpoints(Protocol):
    """A store that keeps what was written last beside its file, and moves it from time to time."""

    def checkpoint(self) -> None:
        """Move what waits beside the file into it, while others read and write."""
        ...


class HalfWritten(StoreError):
    """What was written together is in the store, and what belongs to it beside the store is not."""


@dataclass(slots=True)
class _Group:
    """Calls that are made together."""

    touched: set[SessionLock] = field(default_factory=set["SessionLock"])
    """What guards that which is in memory, and may be ahead of the store."""
    is_spoiled: bool = False
    """Whether something could not be done that may be done by a call alone."""

    def check(self) -> None:
        """Refuse to keep what is spoiled."""
        if self.is_spoiled:
            raise StoreBusy("a conversation is in use by another thread")


class SessionLock:
    """A lock that its thread may take again, and that is never waited for within a group.

    Whoever waits there holds the turn to write, for which whoever has the lock may be waiting.
    """

    def __init__(self, forget: Callable[[], None]) -> None:
        """Begin with nobody who holds it.

        Args:
            forget: A method that lets go of what is guarded, called where a group that may have
                changed it did not happen.
        """
        # Whoever has the lock goes with its last user, and not with the next collection.
        self._forget = WeakMethod(forget)
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        """Take it.

        Raises:
            StoreBusy: within a group, when another thread has it; the calls are made alone then.
        """
        group: _Group | None = getattr(_here, "group", None)
        if group is None:
            self._lock.acquire()
        elif self._lock.acquire(blocking=False):
            group.touched.add(self)
        else:
            group.is_spoiled = True
            group.check()

    def __exit__(self, *_: object) -> None:
        """Let go of it."""
        self._lock.release()

    def forget(self) -> None:
        """Let go of what it guards."""
        if forget := self._forget():
            forget()


class StoreVisits:
    """Calls that are made in their order, on a thread for stores that serves all who wait.

    Calls that wait together are made in a group. If one of them fails, or what they wrote cannot be
    kept, nothing of the group has happened, and each is made again alone.
    """

    def __init__(self, together: Together | None = None) -> None:
        """Begin with nothing to do.

        Args:
            together: Lets all that is written within happen, or nothing, as `GroupsWrites` does;
                without it, each call is made alone.
        """
        self._together = together
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
            start_in_store(self._go_on)
        return await ended

    def _go_on(self) -> None:
        for _ in range(0, _MOST_VISITS, _MOST_TOGETHER):
            with self._lock:
                some = [*self._waiting][:_MOST_TOGETHER]
                if not some:
                    self._is_under_way = False
                    return
                for _ in some:
                    self._waiting.popleft()
            if self._together is not None and len(some) > 1:
                _make_together(self._together, some)
            else:
                for visit in some:
                    visit.make()
        start_in_store(self._go_on)


@dataclass(frozen=True, slots=True)
class _Visit:
    """A call, and where its end is waited for."""

    call: Callable[[], object]
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Future[Any]

    def make(self) -> None:
        """Make the call and tell what it comes to."""
        try:
            result = self.call()
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            self.tell(None, error)
        else:
            self.tell(result)

    def tell(self, result: object, error: BaseException | None = None) -> None:
        """Let whoever waits go on; in a loop that was closed meanwhile nobody waits."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._end, result, error)

    def _end(self, result: object, error: BaseException | None) -> None:
        if self.ended.done():
            return
        if error is None:
            self.ended.set_result(result)
        else:
            self.ended.set_exception(error)


def _make_together(together: Together, some: Sequence[_Visit]) -> None:
    """Make calls in one transaction; where that fails, nothing of it counts, make each alone."""
    _here.group = group = _Group()
    try:
        with together():
            results = [visit.call() for visit in some]
            group.check()
    except HalfWritten as error:
        del _here.group
        for visit in some:
            visit.tell(None, error)
    except BaseException:  # noqa: BLE001 - whatever it was, the call itself raises it again
        del _here.group
        for lock in group.touched:
            lock.forget()
        for visit in some:
            visit.make()
    else:
        del _here.group
        for visit, result in zip(some, results, strict=True):
            visit.tell(result)
