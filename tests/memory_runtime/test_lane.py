"""Lanes: one job at a time, in order, and no thread without a job."""

import threading
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.deadline import Raised, Returned
from holdfast.memory_runtime.lane import Lane


def threads(name: str) -> int:
    return sum(each.name == name for each in threading.enumerate())


def test_jobs_are_done_in_order_one_at_a_time() -> None:
    lane, seen, active = Lane("order"), list[int](), list[int]()

    def job(number: int) -> None:
        active.append(number)
        time.sleep(0.0005 * (number % 3))
        assert active == [number]
        seen.append(number)
        active.clear()

    tickets = [lane.put("count", lambda number=number: job(number)) for number in range(100)]
    assert lane.wait_idle(10)
    assert seen == list(range(100))
    assert {type(ticket.wait(0)) for ticket in tickets} == {Returned}


def test_a_thread_is_there_only_while_there_are_jobs() -> None:
    lane = Lane("lazy")
    assert threads("lazy") == 0
    gate = threading.Event()
    begun = threading.Event()
    ticket = lane.put("wait", lambda: (begun.set(), gate.wait())[1])
    assert begun.wait(5)
    assert (threads("lazy"), lane.waiting) == (1, 1)
    running = lane.running
    assert running is not None
    assert running.label == "wait"
    gate.set()
    assert ticket.wait(5) == Returned(value=True)
    assert lane.wait_idle(5)
    assert (lane.waiting, lane.running) == (0, None)
    assert lane.put("again", lambda: 2).wait(5) == Returned(2)


def test_whatever_a_job_raises_is_its_outcome_and_the_next_is_done() -> None:
    lane = Lane("raising")

    def fail() -> None:
        raise SystemExit(3)

    outcome = lane.put("fail", fail).wait(5)
    assert isinstance(outcome, Raised)
    assert isinstance(outcome.error, SystemExit)
    assert lane.put("next", lambda: "done").wait(5) == Returned("done")


def test_a_job_that_was_given_up_is_not_begun_and_what_hangs_is_marked() -> None:
    lane, gate, seen = Lane("stuck"), threading.Event(), list[str]()
    begun = threading.Event()
    first = lane.put("first", lambda: (begun.set(), gate.wait())[1])
    assert begun.wait(5)
    second = lane.put("second", lambda: seen.append("second"))
    assert second.wait(0.01) is None
    lane.give_up(second)
    running = lane.running
    assert running is not None
    assert (running.label, running.is_given_up) == ("first", True)
    gate.set()
    assert first.wait(5) == Returned(value=True)
    assert lane.wait_idle(5)
    assert seen == []


def test_jobs_that_were_not_begun_can_be_dropped() -> None:
    lane, gate = Lane("dropping"), threading.Event()
    lane.put("hangs", gate.wait)
    for label in "ab":
        lane.put(label, lambda: None)
    assert not lane.wait_idle(0.01)
    while lane.running is None:  # the thread may not have begun
        time.sleep(0.001)
    assert lane.drop() == ("a", "b")
    gate.set()
    assert lane.wait_idle(5)


@settings(max_examples=20)
@given(pauses=st.lists(st.sampled_from([0.0, 0.0, 0.001]), max_size=12))
def test_no_job_is_lost_however_they_come(pauses: list[float]) -> None:
    lane, seen = Lane("bursts"), list[int]()
    for number, pause in enumerate(pauses):
        lane.put("count", lambda number=number: seen.append(number))
        time.sleep(pause)
    assert lane.wait_idle(5)
    assert seen == list(range(len(pauses)))


def test_a_thread_whose_jobs_were_given_up_before_it_began_is_still_the_only_one() -> None:
    lane, seen, most = Lane("single"), list[int](), list[int]()

    def job(number: int) -> None:
        most.append(threads("single"))
        seen.append(number)

    for number in range(200):
        lane.give_up(lane.put("given up", lambda number=number: job(-number)))
        lane.put("count", lambda number=number: job(number))
    assert lane.wait_idle(10)
    assert [number for number in seen if number > 0] == list(range(1, 200))
    assert max(most) <= 2  # one may be on its way out
