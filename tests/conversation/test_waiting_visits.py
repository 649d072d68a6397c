"""Calls that wait for one store are made one after the other, and one that fails harms no other."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from holdfast.conversation.waiting import StoreVisits
from holdfast.errors import StoreError


async def waiting(*calls: Callable[[], object]) -> list[object]:
    """Return what calls come to that wait while another one is made."""
    visits, begun, gate = StoreVisits(), threading.Event(), threading.Event()

    def hold_up() -> None:
        begun.set()
        gate.wait()

    first = asyncio.ensure_future(visits.make(hold_up))
    await asyncio.to_thread(begun.wait)
    others = [asyncio.ensure_future(visits.make(each)) for each in calls]
    await asyncio.sleep(0)
    gate.set()
    await first
    return await asyncio.gather(*others, return_exceptions=True)


@pytest.mark.parametrize("count", [1, 3, 100])
def test_every_call_is_made_once_and_in_order_however_many_wait(count: int) -> None:
    made: list[int] = []
    threads: set[int] = set()

    def call(number: int) -> int:
        made.append(number)
        threads.add(threading.get_ident())
        return number

    ends = asyncio.run(waiting(*(lambda at=at: call(at) for at in range(count))))
    assert ends == made == list(range(count))
    assert len(threads) <= 2


def test_one_that_fails_is_heard_of_where_it_is_waited_for() -> None:
    def fail() -> None:
        raise StoreError("this one")

    before, failed, after = asyncio.run(waiting(lambda: "a", fail, lambda: "b"))
    assert (before, str(failed), after) == ("a", "this one", "b")


def test_a_call_whose_waiter_has_gone_is_made_all_the_same() -> None:
    made: list[str] = []

    async def run() -> None:
        visits, gate = StoreVisits(), threading.Event()
        first = asyncio.ensure_future(visits.make(gate.wait))
        gone = asyncio.ensure_future(visits.make(lambda: made.append("a")))
        await asyncio.sleep(0)
        gone.cancel()
        gate.set()
        await first
        await visits.make(lambda: None)

    asyncio.run(run())
    assert made == ["a"]


def test_where_no_thread_can_be_had_the_next_one_tries_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(call: Callable[[], None]) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> str:
        visits = StoreVisits()
        with monkeypatch.context() as without:
            without.setattr("holdfast.conversation.waiting.start_in_store", refuse)
            with pytest.raises(RuntimeError, match="new thread"):
                await visits.make(lambda: "first")
        return await asyncio.wait_for(visits.make(lambda: "second"), 10)

    assert asyncio.run(run()) == "second"
