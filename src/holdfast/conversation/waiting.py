"""Waiting for models, stores and compactions: on a thread, on an event loop, in the background.

Whatever may take long is a generator that yields what it waits for as values, the effects. `wait`
runs one on the calling thread, `await_` on an event loop, where it holds no thread while a model
thinks. `Background` runs compactions beside the turns of a conversation. Stores and passes have a
pool of threads each, which all conversations of the process share; `in_store` makes a call on the
one for stores. `StoreVisits` makes calls to one store one after the other, on a thread that goes on
while some wait: to wake a thread and to hand Python's lock over take longer than most of what is
written.
"""

from __future__ import annotations

import concurrent.futures
import os
import threading
import time
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, assert_never, runtime_checkable

from holdfast.deadline import in_thread
from holdfast.ports import Blocking, WindowEngine, arun, run
from holdfast.summary import Ask

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

STORE_THREADS = 4
"""Threads that read and write stores for event loops, however many conversations there are."""
PASS_THREADS = 1
"""Threads that compute compactions for event loops and in the background. Python computes on one
at a time anyway, and two would keep whoever stores a message waiting for longer."""

_MOST_VISITS = 64
"""Visits that a thread makes before others have their turn on it."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Summarize:
    """Let the engine's summarizer answer; the reply is the answer."""

    engine: WindowEngine
    ask: Ask
    manual: bool


@dataclass(frozen=True, slots=True)
class Sleep:
    """Let time pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Join:
    """Wait until something is done, whatever comes of it."""

    future: Future[None]


Effect: TypeAlias = Summarize | Sleep | Join | Blocking
Steps: TypeAlias = Generator[Effect, object, Result]


_inside: ContextVar[tuple[WindowEngine, ...]] = ContextVar("_inside", default=())
"""The engines in whose passes this code is called: by a listener, a summarizer, a callback."""


def is_inside(engine: WindowEngine) -> bool:
    """Say whether a pass of the engine calls this; whoever waited for the pass would never end."""
    return any(each is engine for each in _inside.get())


def inside(engine: WindowEngine, steps: Steps[Result]) -> Steps[Result]:
    """Run steps so that `is_inside` is true for whatever foreign code they call."""
    step = partial(next, steps)
    while True:
        token = _inside.set((*_inside.get(), engine))
        try:
            want = step()
        except StopIteration as ended:
            return ended.value
        finally:
            # Not left set over a wait: another thread may go on, and the caller must not see it.
            _inside.reset(token)
        try:
            step = partial(steps.send, (yield want))
        except GeneratorExit:
            steps.close()
            raise
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            step = partial(steps.throw, error)


def wait(steps: Steps[Result]) -> Result:
    """Return what the steps come to; the calling thread waits."""
    return run(steps, _perform)


async def await_(steps: Steps[Result]) -> Result:
    """Return what the steps come to; the event loop goes on meanwhile.

    Reading, computing and writing between two waits is done on the threads for passes.
    """
    return await arun(steps, _aperform, _threads.passes)


async def in_store(call: Callable[[], Result]) -> Result:
    """Return what a call to the store comes to, made on the threads for stores."""
    import asyncio
    import contextvars

    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_threads.stores, context.run, call)


def start_in_store(call: Callable[[], None]) -> None:
    """Let a call be made on a thread for stores; nobody waits for it, or hears that it failed."""
    _threads.workers.submit(call)


def _perform(effect: Effect) -> object:
    match effect:
        case Summarize(engine, ask, manual):
            token = _inside.set((*_inside.get(), engine))
            try:
                return engine.answer(ask, manual=manual)
            finally:
                _inside.reset(token)
        case Sleep(seconds):
            time.sleep(seconds)
        case Join(future):
            concurrent.futures.wait([future])
        case Blocking(call):
            return call()
        case _:
            assert_never(effect)
    return None


async def _aperform(effect: Effect) -> object:
    import asyncio

    match effect:
        case Summarize(engine, ask, manual):
            token = _inside.set((*_inside.get(), engine))
            try:
                return await engine.aanswer(ask, manual=manual)
            finally:
                _inside.reset(token)
        case Sleep(seconds):
            await asyncio.sleep(seconds)
        case Join(future):
            await settled(future)
        case Blocking(call):
            return await in_thread(call, name="holdfast-pass")
        case _:
            assert_never(effect)
    return None


async def settled(future: Future[None], timeout: float | None = None) -> None:
    """Wait until something is done, or for so many seconds.

    `asyncio.wrap_future` would log an error if the event loop is closed by then.
    """
    import asyncio

    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def tell(_: Future[None]) -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(tell)
    with suppress(TimeoutError):
        await asyncio.wait_for(done.wait(), timeout)


class Background:
    """Runs the compactions of one conversation beside its turns, one at a time.

    They run on an event loop: the caller's, or one that all blocking conversations of the process
    share on a daemon thread. A program that ends does not wait for a summary; nothing is lost by
    that, since a compaction is stored in one step at its very end.
    """

    def __init__(self, on_failure: Callable[[BaseException], None]) -> None:
        """Begin idle; no thread is started before there is a job.

        Args:
            on_failure: Told why a job failed, on a thread of its own. It must not raise.
        """
        self._on_failure = on_failure
        self._job: _Job | None = None
        self._starting = threading.Lock()
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop of the caller, where there is one."""

    @property
    def is_running(self) -> bool:
        """Say whether a job is under way."""
        job = self._job
        return job is not None and not job.ended.done() and job.loop.is_running()

    @property
    def job(self) -> Future[None] | None:
        """Return the job under way; one that nothing drives any more is given up."""
        job = self._job
        if job is None or job.ended.done():
            return None
        if not job.loop.is_running():
            # The caller's event loop has stopped: others must not wait for what never goes on.
            with suppress(ValueError):
                job.steps.close()
            _end(job.ended)
            return None
        return job.ended

    def start(self, steps: Callable[[], Steps[object]]) -> bool:
        """Begin a job unless one is under way; says whether it was begun."""
        import asyncio

        with self._starting:
            if self.job is not None:
                return False
            loop = self.loop if self.loop and self.loop.is_running() else _threads.loop
            self._job = job = _Job(steps(), loop)
            run = self._run(job)
            try:
                asyncio.run_coroutine_threadsafe(run, loop)
            except RuntimeError:
                # It has closed in this very moment; the next turn begins the job again.
                run.close()
                _end(job.ended)
                return False
            return True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the job under way; says whether it ended in time."""
        if job := self.job:
            concurrent.futures.wait([job], timeout)
        return not self.is_running

    async def _run(self, job: _Job) -> None:
        try:
            await await_(job.steps)
        except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001 - a job's edge
            # Nobody else would see it, and a task that exits would stop everybody's event loop.
            # A program that ends has given its threads up, and a job that was given up is over:
            # neither is a failure.
            if threading.main_thread().is_alive() and not job.ended.done():
                self._on_failure(error)
        finally:
            _end(job.ended)


@dataclass(frozen=True, slots=True)
class _Job:
    """What runs in the background, and where."""

    steps: Steps[object]
    loop: asyncio.AbstractEventLoop
    ended: Future[None] = field(default_factory=Future[None])


def _end(future: Future[None]) -> None:
    with suppress(concurrent.futures.InvalidStateError):
        future.set_result(None)


class _Workers:
    """Threads that make calls nobody waits for; who was idle last makes the next one.

    Those of a pool wait for one queue: each call wakes a second thread for nothing, and both want
    Python's lock when whoever called goes on.
    """

    def __init__(self, most: int, name: str) -> None:
        """Begin without a thread; there are never more than `most`."""
        self._most, self._name = most, name
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Callable[[], None]]] = []
        self._waiting: deque[Callable[[], None]] = deque()
        self._count = 0

    def submit(self, call: Callable[[], None]) -> None:
        """Let a thread make a call, as soon as one has nothing else to do."""
        with self._lock:
            if self._idle:
                self._idle.pop().put(call)
            elif self._count < self._most:
                threading.Thread(
                    target=self._work, args=(call,), name=self._name, daemon=True
                ).start()
                self._count += 1
            else:
                self._waiting.append(call)

    def _work(self, call: Callable[[], None]) -> None:
        next_one: SimpleQueue[Callable[[], None]] = SimpleQueue()
        while True:
            with suppress(Exception):
                call()
            with self._lock:
                if self._waiting:
                    call = self._waiting.popleft()
                    continue
                self._idle.append(next_one)
            call = next_one.get()


class _Threads:
    """The threads that conversations share; each pool starts them as they are needed."""

    def __init__(self) -> None:
        self.stores = ThreadPoolExecutor(STORE_THREADS, "holdfast-store")
        self.workers = _Workers(STORE_THREADS, "holdfast-store-worker")
        self.passes = ThreadPoolExecutor(PASS_THREADS, "holdfast-pass")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = threading.Lock()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the event loop of the passes that no caller's event loop runs."""
        import asyncio

        with self._starting:
            if self._loop is None:
                self._loop, runs = asyncio.new_event_loop(), threading.Event()
                self._loop.call_soon(runs.set)
                threading.Thread(
                    target=self._loop.run_forever, name="holdfast-background", daemon=True
                ).start()
                runs.wait()
            return self._loop


_threads = _Threads()


def _anew() -> None:
    global _threads
    _threads = _Threads()


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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew)
