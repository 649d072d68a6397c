"""Lanes: one job at a time, in order, and no thread without a job."""

import threading
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.deadline import Raised, Returned
from holdfast.memory_runtime.timeout_provider import SerialExecutor


def threads(name: str) -> int:
    return sum(each.name == name for each in threading.enumerate())


def test_jobs_are_done_in_order_one_at_a_time() -> None:
    executor, seen, active = SerialExecutor("order"), list[int](), list[int]()

    def job(number: int) -> None:
        active.append(number)
        time.sleep(0.0005 * (number % 3))
        assert active == [number]
        seen.append(number)
        active.clear()

    tickets = [executor.put("count", lambda number=number: job(number)) for number in range(100)]
    assert executor.wait_idle(10)
    assert seen == list(range(100))
    assert {type(ticket.wait(0)) for ticket in tickets} == {Returned}


def test_a_thread_is_there_only_while_there_are_jobs() -> None:
    executor = SerialExecutor("lazy")
    assert threads("lazy") == 0
    gate = threading.Event()
    begun = threading.Event()
    ticket = executor.put("wait", lambda: (begun.set(), gate.wait())[1])
    assert begun.wait(5)
    assert (threads("lazy"), executor.waiting) == (1, 1)
    running = executor.running
    assert running is not None
    assert running.label == "wait"
    gate.set()
    assert ticket.wait(5) == Returned(value=True)
    assert executor.wait_idle(5)
    assert (executor.waiting, executor.running) == (0, None)
    assert executor.put("again", lambda: 2).wait(5) == Returned(2)


def test_whatever_a_job_raises_is_its_outcome_and_the_next_is_done() -> None:
    executor = SerialExecutor("raising")

    def fail() -> None:
        raise SystemExit(3)

    outcome = executor.put("fail", fail).wait(5)
    assert isinstance(outcome, Raised)
    assert isinstance(outcome.error, SystemExit)
    assert executor.put("next", lambda: "done").wait(5) == Returned("done")


def test_a_job_that_was_given_up_is_not_begun_and_what_hangs_is_marked() -> None:
    executor, gate, seen = SerialExecutor("stuck"), threading.Event(), list[str]()
    begun = threading.Event()
    first = executor.put("first", lambda: (begun.set(), gate.wait())[1])
    assert begun.wait(5)
    second = executor.put("second", lambda: seen.append("second"))
    assert second.wait(0.01) is None
    executor.give_up(second)
    running = executor.running
    assert running is not None
    assert (running.label, running.is_given_up) == ("first", True)
    gate.set()
    assert first.wait(5) == Returned(value=True)
    assert executor.wait_idle(5)
    assert seen == []


def test_jobs_that_were_not_begun_can_be_dropped() -> None:
    executor, gate = SerialExecutor("dropping"), threading.Event()
    executor.put("hangs", gate.wait)
    for label in "ab":
        executor.put(label, lambda: None)
    assert not executor.wait_idle(0.01)
    while executor.running is None:  # the thread may not have begun
        time.sleep(0.001)
    assert executor.drop() == ("a", "b")
    gate.set()
    assert executor.wait_idle(5)


@settings(max_examples=20)
@given(pauses=st.lists(st.sampled_from([0.0, 0.0, 0.001]), max_size=12))
def test_no_job_is_lost_however_they_come(pauses: list[float]) -> None:
    executor, seen = SerialExecutor("bursts"), list[int]()
    for number, pause in enumerate(pauses):
        executor.put("count", lambda number=number: seen.append(number))
        time.sleep(pause)
    assert executor.wait_idle(5)
    assert seen == list(range(len(pauses)))


def test_a_thread_whose_jobs_were_given_up_before_it_began_is_still_the_only_one() -> None:
    executor, seen, most = SerialExecutor("single"), list[int](), list[int]()

    def job(number: int) -> None:
        most.append(threads("single"))
        seen.append(number)

    for number in range(200):
        executor.give_up(executor.put("given up", lambda number=number: job(-number)))
        executor.put("count", lambda number=number: job(number))
    assert executor.wait_idle(10)
    assert [number for number in seen if number > 0] == list(range(1, 200))
    assert max(most) <= 2  # one may be on its way out
