"""Foreign code with a deadline: what it returns, that it raises or that it hangs is a value.

Summarizers, plug-ins and memory providers are anybody's code. It runs on daemon threads, which are
kept for the next call. Python cannot stop a thread, so a call that hangs is abandoned: nothing
waits for it any more, not even the end of the program.
"""

from __future__ import annotations

import contextvars
import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable

_Answer = TypeVar("_Answer")

_IDLE_SECONDS = 5.0
"""How long a thread without work waits for some."""
_IDLE_THREADS = 8
"""How many threads without work are kept."""
_MOST_ABANDONED = 16
"""Calls of one name that may hang at once; a service that is down must not take all threads."""
_MOST_AWAITED = 32
"""Calls of event loops that run at once; the others wait for their turn."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The call came back."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The call raised, whatever it was."""

    error: BaseException

    @property
    def reason(self) -> str:
        """Return what the error says; its kind, where it says nothing."""
        return sentence_of(self.error) or type(self.error).__name__


@dataclass(frozen=True, slots=True)
class Hung:
    """The call did not come back in time, and is not waited for any more."""

    reason: str


Ending: TypeAlias = Returned | Raised | Hung


class SelfCancelled(Exception):
    """What was awaited cancelled its own call."""


def call_within(seconds: float, call: Callable[[], object], *, name: str) -> Ending:
    """Return what a call comes to on another thread, within so many seconds.

    Args:
        seconds: How long it may take.
        call: What is called; it sees the context variables of the caller.
        name: Whose code it is: the name of the thread meanwhile.
    """
    with _changing:
        if _abandoned[name] >= _MOST_ABANDONED:
            return Hung(f"{_MOST_ABANDONED} earlier calls still hang")
    answers: SimpleQueue[Returned | Raised] = SimpleQueue()
    context = contextvars.copy_context()
    is_given_up = False

    def run() -> None:
        answer = context.run(_ending, call)
        with _changing:
            answers.put(answer)
            if is_given_up:
                _abandoned[name] -= 1

    try:
        run_on_thread(run, name=name)
    except RuntimeError as error:
        # The system has no thread to give.
        return Raised(error)
    with suppress(Empty):
        return answers.get(timeout=seconds)
    with _changing:
        with suppress(Empty):
            return answers.get_nowait()
        is_given_up = True
        _abandoned[name] += 1
    return _hung(seconds)


async def await_within(seconds: float, begin: Callable[[], Awaitable[object]]) -> Ending:
    """Return what an awaitable comes to, within so many seconds.

    A coroutine that ignores its cancellation is abandoned like a thread that hangs, which is why
    this waits beside the task instead of inside `asyncio.wait_for`. The time counts from when
    `in_thread` has a thread for the call, if it calls that.
    """
    import asyncio

    limit = _Limit(seconds, asyncio.get_running_loop().time)

    async def run() -> Returned | Raised:
        _limit.set(limit)
        try:
            return Returned(await begin())
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - a task that exits would stop the event loop
            return Raised(error)

    task = asyncio.create_task(run())
    try:
        while not task.done():
            if (left := limit.left()) <= 0:
                return _hung(seconds)
            await asyncio.wait({task}, timeout=left)
        return Raised(SelfCancelled()) if task.cancelled() else task.result()
    finally:
        task.cancel()


async def in_thread(call: Callable[[], _Answer], *, name: str) -> _Answer:
    """Return what a blocking call returns, without blocking the event loop.

    `asyncio.to_thread` would do but for a call that hangs: the loop's executor is joined when the
    program ends, which then hangs too. However many calls there are at once, a few threads make
    them. One that is not waited for any more gives its turn away.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Answer] = loop.create_future()
    context = contextvars.copy_context()

    def settle(ending: Returned | Raised) -> None:
        if future.done():
            return
        match ending:
            case Returned(value):
                future.set_result(value)  # pyright: ignore[reportArgumentType] - what the call returned
            case Raised(error):
                # A future refuses the one error that ends generators.
                is_stop = isinstance(error, StopIteration)
                future.set_exception(RuntimeError("it raised StopIteration") if is_stop else error)

    def finish(ending: Returned | Raised) -> None:
        # A loop that has closed meanwhile has nobody left who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, ending)

    turn = _Turn(name, lambda: context.run(_ending, call), finish)
    # What the call itself waits for is no excuse: others may wait for its turn.
    context.run(_limit.set, None)
    try:
        turn.take()
        return await future
    finally:
        turn.give_up()


class _Limit:
    """How long something may take, not counting the time in which it waits for its turn."""

    def __init__(self, seconds: float, now: Callable[[], float]) -> None:
        self._seconds = seconds
        # The clock by which the event loop wakes whoever waits, and no other.
        self._now = now
        self._end = now() + seconds
        self.turn: _Turn | None = None

    def left(self) -> float:
        if self.turn is not None and self.turn.is_waiting:
            return self._seconds
        return self._end - self._now()

    def begin(self) -> None:
        self._end = self._now() + self._seconds


_limit: contextvars.ContextVar[_Limit | None] = contextvars.ContextVar("_limit", default=None)


class _Turn:
    """The turn of one call among those that event loops wait for."""

    def __init__(
        self,
        name: str,
        call: Callable[[], Returned | Raised],
        finish: Callable[[Returned | Raised], None],
    ) -> None:
        self._name, self._call, self._finish = name, call, finish
        self._is_running = self._is_abandoned = self._is_over = False
        self._limit = _limit.get()
        if self._limit is not None:
            self._limit.turn = self

    @property
    def is_waiting(self) -> bool:
        """Say whether the call only has to wait for others, which end or are given up in time."""
        return not self._is_running and not self._is_blocked

    @property
    def _is_blocked(self) -> bool:
        return _abandoned[self._name] >= _MOST_ABANDONED

    def take(self) -> None:
        """Begin when it is this one's turn."""
        with _changing:
            _turns.append(self)
            turn = _next_turn()
        if turn is not None:
            turn.run()

    def begin(self) -> bool:
        """Say whether this call may begin, which it then does; the lock is held."""
        if self._is_blocked:
            return False
        self._is_running = True
        if self._limit is not None:
            self._limit.begin()
        return True

    def run(self) -> None:
        """Make the call on a thread, and then on the same thread those whose turn it is next."""

        def work() -> None:
            turn: _Turn | None = self
            while turn is not None:
                turn = turn.make()

        try:
            run_on_thread(work, name=self._name)
        except RuntimeError as error:
            # The system has no thread to give.
            if (following := self._end(Raised(error))) is not None:
                following.run()

    def make(self) -> _Turn | None:
        """Make the call here; returns the one whose turn it is then."""
        threading.current_thread().name = self._name
        return self._end(self._call())

    def _end(self, ending: Returned | Raised) -> _Turn | None:
        """Tell how the call ended; returns the one whose turn it is then."""
        global _awaited
        with _changing:
            self._is_over = True
        self._finish(ending)
        with _changing:
            if self._is_abandoned:
                _abandoned[self._name] -= 1
            else:
                _awaited -= 1
            return _next_turn()

    def give_up(self) -> None:
        """Hand the turn on although the call may still run; where it is over, do nothing."""
        global _awaited
        with _changing:
            if self in _turns:
                _turns.remove(self)
            if not self._is_running or self._is_over:
                return
            self._is_abandoned = True
            _abandoned[self._name] += 1
            _awaited -= 1
            following = _next_turn()
        if following is not None:
            following.run()


def _next_turn() -> _Turn | None:
    """Return a call that waited and begins now, if there is one; the lock is held."""
    global _awaited
    if _awaited >= _MOST_AWAITED:
        return None
    turn = next((each for each in _turns if each.begin()), None)
    if turn is not None:
        _turns.remove(turn)
        _awaited += 1
    return turn


class DedicatedThread:
    """Runs calls on one thread, one after the other: what they open there they may use there.

    The thread starts with the first call. A call that hangs keeps it; the next gets another.
    """

    def __init__(self, name: str) -> None:
        """Name the thread."""
        self._name = name
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def call_within(self, seconds: float, call: Callable[[], object]) -> Ending:
        """Return what a call comes to, within so many seconds."""
        if self._thread is None or not self._thread.is_alive():
            # Also after a fork, in which threads do not go along.
            self._begin()
        answers: SimpleQueue[Returned | Raised] = SimpleQueue()
        context = contextvars.copy_context()
        self._jobs.put(lambda: answers.put(context.run(_ending, call)))
        try:
            return answers.get(timeout=seconds)
        except Empty:
            self._jobs.put(None)
            self._thread = None
            return _hung(seconds)

    def _begin(self) -> None:
        self._jobs = SimpleQueue()
        self._thread = threading.Thread(
            target=_do_jobs, args=(self._jobs,), name=self._name, daemon=True
        )
        self._thread.start()
        weakref.finalize(self, self._jobs.put, None).atexit = False


def _do_jobs(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()
        # Whoever is waiting for the next job holds on to nothing of the last.
        del job


def run_on_thread(job: Callable[[], None], *, name: str) -> None:
    """Do a job on a thread that waits for work, or on a new one; it must not raise.

    Raises:
        RuntimeError: when the system has no thread to give.
    """
    with _changing:
        if _idle:
            _idle.pop().jobs.put((name, job))
            return
    _Worker(name, job)


class _Worker:
    """A thread that waits for more work after a job, and ends when none comes."""

    def __init__(self, name: str, job: Callable[[], None]) -> None:
        self.jobs: SimpleQueue[tuple[str, Callable[[], None]]] = SimpleQueue()
        self.jobs.put((name, job))
        self.thread = threading.Thread(target=self._work, name=name, daemon=True)
        self.thread.start()

    def _work(self) -> None:
        while True:
            try:
                self.thread.name, job = self.jobs.get(timeout=_IDLE_SECONDS)
            except Empty:
                with _changing:
                    if self not in _idle:
                        # Work was found for it in this moment.
                        continue
                    _idle.remove(self)
                    return
            job()
            del job
            self.thread.name = "holdfast-idle"
            with _changing:
                if len(_idle) >= _IDLE_THREADS:
                    return
                _idle.append(self)


_changing = threading.RLock()
_idle: list[_Worker] = []
_abandoned: Counter[str] = Counter()
"""How many calls of a name still hang."""
_turns: list[_Turn] = []
"""Calls of event loops that wait for their turn, the first one first."""
_awaited = 0
"""How many calls of event loops run and are waited for."""


def _forget_threads() -> None:
    """Begin anew after a fork: threads do not go along, and one of them may have had the lock."""
    global _changing, _awaited
    _changing = threading.RLock()
    _idle.clear()
    _abandoned.clear()
    _turns.clear()
    _awaited = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _ending(call: Callable[[], object]) -> Returned | Raised:
    try:
        return Returned(call())
    except BaseException as error:  # noqa: BLE001 - foreign code: whoever waits judges its error
        return Raised(error)


def _hung(seconds: float) -> Hung:
    return Hung(f"no answer within {seconds:g} s")


def sentence_of(error: BaseException) -> str:
    """Return what an error says in one line; "" where that raises, since it is foreign code."""
    try:
        return " ".join(str.__str__(str(error)).split())
    except BaseException:  # noqa: BLE001 - somebody else's error, which may fail in anything
        return ""
