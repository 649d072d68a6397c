"""An event loop on a thread of its own, for clients that belong to one loop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["LoopThread"]

_Answer = TypeVar("_Answer")
_PATIENCE = 2.0
"""Seconds that a close waits for what is under way."""


class LoopThread:
    """Runs coroutines for callers on any thread; the thread starts with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._turn = threading.Lock()

    def run(self, work: Coroutine[object, object, _Answer], timeout: float) -> _Answer:
        """Return what the coroutine returns.

        Raises:
            TimeoutError: when it took longer; it is cancelled then.
        """
        waiting = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return waiting.result(timeout)
        except TimeoutError:
            waiting.cancel()
            raise

    def close(self, last: Callable[[], Coroutine[object, object, None]]) -> None:
        """Run a last coroutine where the others ran, and end the thread; nothing if none did."""
        with self._turn:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_ending(last), loop)
        thread.join(_PATIENCE)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._turn:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_live, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop


def _live(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _ending(last: Callable[[], Coroutine[object, object, None]]) -> None:
    """Cancel what is still under way, run the last of all, and stop the loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    try:
        if others:
            await asyncio.wait(others, timeout=_PATIENCE / 2)
        await asyncio.wait_for(last(), _PATIENCE / 2)
    finally:
        asyncio.get_running_loop().stop()
