"""Foreign code with a deadline: it ends in time, only as a value, on threads that are kept."""

import asyncio
import contextvars
import threading
import time

import pytest

from holdfast import deadline
from holdfast.deadline import (
    DedicatedThread,
    Ending,
    Hung,
    Raised,
    Returned,
    SelfCancelled,
    await_within,
    call_within,
    in_thread,
    sentence_of,
)


def ours() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name.startswith("holdfast-")]


def test_a_call_comes_back_as_a_value_with_the_callers_context() -> None:
    here: contextvars.ContextVar[str] = contextvars.ContextVar("here")
    here.set("yes")
    assert call_within(10, here.get, name="holdfast-t") == Returned("yes")
    error = SystemExit("no")

    def leave() -> None:
        raise error

    assert call_within(10, leave, name="holdfast-t") == Raised(error)


def test_calls_one_after_the_other_share_a_thread() -> None:
    threads = set[int]()
    for _ in range(50):
        ending = call_within(10, threading.get_ident, name="holdfast-t")
        assert isinstance(ending, Returned)
        threads.add(ending.value)  # pyright: ignore[reportArgumentType] - what get_ident returned
        time.sleep(0.001)
    assert len(threads) < 10


def test_threads_without_work_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_IDLE_SECONDS", 0.05)
    before, together = len(ours()), threading.Barrier(30)
    callers = [
        threading.Thread(
            target=call_within, args=(30, together.wait), kwargs={"name": "holdfast-t"}
        )
        for _ in range(30)
    ]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    end = time.monotonic() + 20
    while len(ours()) > before + 8 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(ours()) <= before + 8


def test_calls_that_hang_do_not_take_threads_without_bound() -> None:
    release = threading.Event()
    endings = [call_within(0.02, release.wait, name="holdfast-stuck") for _ in range(20)]
    stuck = [each for each in ours() if each.name == "holdfast-stuck"]
    try:
        assert endings[:16] == [Hung("no answer within 0.02 s")] * 16
        assert endings[16:] == [Hung("16 earlier calls still hang")] * 4
        assert len(stuck) == 16
        assert call_within(10, lambda: 1, name="holdfast-other") == Returned(1)
    finally:
        release.set()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if call_within(5, lambda: 1, name="holdfast-stuck") == Returned(1):
            break
    else:
        pytest.fail("calls that ended still count")


def test_an_awaitable_comes_back_as_a_value() -> None:
    async def cancels() -> None:
        raise asyncio.CancelledError

    async def hangs() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await asyncio.sleep(0.05)
            raise

    async def fails() -> None:
        raise error

    async def run() -> None:
        assert await await_within(10, lambda: asyncio.sleep(0, "yes")) == Returned("yes")
        assert await await_within(10, fails) == Raised(error)
        assert await await_within(0.02, hangs) == Hung("no answer within 0.02 s")
        ending = await await_within(10, cancels)
        assert isinstance(ending, Raised)
        assert isinstance(ending.error, SelfCancelled)

    error = ValueError("no")
    asyncio.run(run())


def test_a_blocking_call_is_awaited() -> None:
    def stop() -> None:
        raise StopIteration

    async def run() -> None:
        assert await in_thread(lambda: "yes", name="holdfast-t") == "yes"
        with pytest.raises(RuntimeError, match="StopIteration"):
            await in_thread(stop, name="holdfast-t")

    asyncio.run(run())


def test_a_dedicated_thread_is_one_thread_until_a_call_hangs() -> None:
    thread, release = DedicatedThread("holdfast-own"), threading.Event()
    idents = {thread.call_within(10, threading.get_ident) for _ in range(3)}
    assert len(idents) == 1
    assert thread.call_within(0.02, release.wait) == Hung("no answer within 0.02 s")
    assert thread.call_within(10, threading.get_ident) not in idents
    release.set()


def test_what_an_error_says_is_foreign_code_too() -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise SystemExit

    assert sentence_of(ValueError(" two\n lines ")) == "two lines"
    assert sentence_of(Unspeakable()) == ""
    assert Raised(Unspeakable()).reason == "Unspeakable"


def test_calls_of_event_loops_share_a_bounded_number_of_threads() -> None:
    running: list[int] = []

    def count() -> int:
        time.sleep(0.5)
        running.append(sum(each.name == "holdfast-many" for each in ours()))
        return len(running)

    async def all_at_once() -> list[Ending]:
        calls = [
            await_within(2, lambda: in_thread(count, name="holdfast-many")) for _ in range(200)
        ]
        return await asyncio.gather(*calls)

    endings = asyncio.run(all_at_once())
    # Waiting for a thread is no part of the time that a call may take.
    assert all(isinstance(each, Returned) for each in endings)
    assert max(running) <= 32


def test_calls_that_hang_in_an_event_loop_leave_room_for_others() -> None:
    release = threading.Event()

    async def all_at_once() -> tuple[list[Ending], Ending]:
        hanging = [
            await_within(0.2, lambda: in_thread(release.wait, name="holdfast-hung"))
            for _ in range(60)
        ]
        others = await_within(10, lambda: in_thread(lambda: 1, name="holdfast-well"))
        *ended, other = await asyncio.gather(*hanging, others)
        return ended, other

    try:
        ended, other = asyncio.run(all_at_once())
        assert ended == [Hung("no answer within 0.2 s")] * 60
        assert other == Returned(1)
        assert sum(each.name == "holdfast-hung" for each in ours()) <= 48
    finally:
        release.set()


def test_a_cancelled_call_gives_its_turn_to_the_next() -> None:
    release = threading.Event()

    async def cancelled() -> int:
        tasks = [
            asyncio.create_task(in_thread(release.wait, name=f"holdfast-c{each % 8}"))
            for each in range(64)
        ]
        await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        return await asyncio.wait_for(in_thread(lambda: 1, name="holdfast-next"), 10)

    try:
        assert asyncio.run(cancelled()) == 1
    finally:
        release.set()
