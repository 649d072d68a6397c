"""Calls that wait for one store are made together, and one that fails does the others no harm."""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

import pytest

from holdfast.conversation.visits import HalfWritten, SessionLock, StoreVisits
from holdfast.errors import StoreBusy, StoreError


class Book:
    """Keeps what was written when all that was written together is kept."""

    def __init__(self) -> None:
        self.kept: list[list[str]] = []
        self.written: list[str] = []

    @contextmanager
    def together(self) -> Generator[None]:
        self.written = []
        yield
        self.kept.append(self.written)

    def write(self, text: str) -> str:
        self.written.append(text)
        return text


async def together(
    group: Callable[[], AbstractContextManager[None]], *calls: Callable[[], object]
) -> list[object]:
    """Return what calls come to that wait while another one is made."""
    visits, begun, gate = StoreVisits(group), threading.Event(), threading.Event()

    def hold_up() -> None:
        begun.set()
        gate.wait()

    first = asyncio.ensure_future(visits.make(hold_up))
    await asyncio.to_thread(begun.wait)
    waiting = [asyncio.ensure_future(visits.make(each)) for each in calls]
    await asyncio.sleep(0)
    gate.set()
    await first
    return await asyncio.gather(*waiting, return_exceptions=True)


def test_calls_that_wait_are_made_in_their_order_and_kept_at_once() -> None:
    book = Book()
    calls = [lambda text=text: book.write(text) for text in "abc"]
    assert asyncio.run(together(book.together, *calls)) == ["a", "b", "c"]
    assert book.kept == [["a", "b", "c"]]


def test_where_one_fails_each_is_made_alone_and_hears_its_own_end() -> None:
    book, alone = Book(), list[str]()

    def write(text: str) -> str:
        alone.append(text)
        return book.write(text)

    def fail() -> None:
        raise StoreError("this one")

    ends = asyncio.run(together(book.together, lambda: write("a"), fail, lambda: write("b")))
    assert book.kept == []
    assert (ends[0], str(ends[1]), ends[2]) == ("a", "this one", "b")
    assert alone == ["a", "a", "b"]


def test_calls_are_not_made_again_when_only_the_second_half_was_not_written() -> None:
    made: list[str] = []

    @contextmanager
    def half() -> Generator[None]:
        yield
        raise HalfWritten("the index was not written")

    ends = asyncio.run(together(half, lambda: made.append("a"), lambda: made.append("b")))
    assert made == ["a", "b"]
    assert [type(each) for each in ends] == [HalfWritten, HalfWritten]


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


class Guarded:
    """Something in memory that may be ahead of a store."""

    def __init__(self) -> None:
        self.lock = SessionLock(self.forget)
        self.ahead = False

    def forget(self) -> None:
        self.ahead = False

    def change(self) -> str:
        with self.lock:
            self.ahead = True
        return "changed"


def test_what_a_group_changed_in_memory_is_forgotten_when_it_did_not_happen() -> None:
    one, seen = Guarded(), list[bool]()

    def look_and_fail() -> None:
        seen.append(one.ahead)
        raise StoreError("no")

    ends = asyncio.run(together(Book().together, one.change, look_and_fail))
    # Both were made together, then one after the other.
    assert (ends[0], str(ends[1]), seen) == ("changed", "no", [True, True])
    assert one.ahead


def test_a_group_waits_for_no_conversation_that_another_thread_holds() -> None:
    one, book = Guarded(), Book()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with one.lock:
            held.set()
            done.wait()

    @contextmanager
    def group() -> Generator[None]:
        with book.together():
            try:
                yield
            except StoreBusy:
                # Whoever holds it may wait for the turn to write, which is given back here.
                done.set()
                raise

    threading.Thread(target=hold).start()
    held.wait()
    assert asyncio.run(together(group, one.change, lambda: book.write("a"))) == ["changed", "a"]
    assert book.kept == []


def test_a_call_that_passes_over_a_held_conversation_is_not_kept_either() -> None:
    one, book = Guarded(), Book()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with one.lock:
            held.set()
            done.wait()

    def change_or_not() -> str:
        try:
            return one.change()
        except StoreBusy:
            done.set()
            return "not now"

    threading.Thread(target=hold).start()
    held.wait()
    ends = asyncio.run(together(book.together, change_or_not, lambda: book.write("a")))
    assert (ends, book.kept) == (["changed", "a"], [])


@pytest.mark.parametrize("count", [1, 8, 9, 100])
def test_every_call_is_made_once_however_many_wait(count: int) -> None:
    book = Book()
    calls = [lambda text=text: book.write(text) for text in map(str, range(count))]
    ends = asyncio.run(together(book.together, *calls))
    assert ends == [str(each) for each in range(count)]
