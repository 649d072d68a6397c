"""Foreign code on a thread of its own: it ends in time, and only as a value."""

import contextvars
import gc
import threading
import time

from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.plugin_thread import Busy, PluginThread
from tests.engines.plugins import Tail


def arrived(deadline: float = 10.0) -> PluginThread:
    guest = PluginThread("tail", Tail, deadline=deadline)
    assert isinstance(guest.arrive(), Returned)
    return guest


def reason_of(ending: object) -> str:
    assert isinstance(ending, Raised)
    return ending.reason


def test_all_calls_run_on_one_thread_that_is_not_the_callers() -> None:
    guest = arrived()
    threads = {guest.run(threading.get_ident) for _ in range(3)}
    assert len(threads) == 1
    assert Returned(threading.get_ident()) not in threads


def test_a_call_sees_the_callers_context() -> None:
    here: contextvars.ContextVar[str] = contextvars.ContextVar("here")
    here.set("yes")
    assert arrived().run(here.get) == Returned("yes")


def test_whatever_is_raised_is_a_value() -> None:
    def leave() -> None:
        raise SystemExit

    guest = arrived()
    assert (
        reason_of(guest.ask(lambda _: 1 // 0))
        == "ZeroDivisionError: integer division or modulo by zero"
    )
    assert reason_of(guest.run(leave)) == "SystemExit"
    assert guest.ask(lambda engine: engine.name) == Returned("tail")


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("not this either")


def test_an_error_that_cannot_be_shown_is_a_value_at_once() -> None:
    def fail(_: object) -> None:
        raise Unspeakable

    guest = arrived(deadline=60)
    started = time.monotonic()
    assert reason_of(guest.ask(fail)) == "Unspeakable"
    assert time.monotonic() - started < 30
    assert guest.ask(lambda engine: engine.name) == Returned("tail")


def test_a_reason_can_be_printed() -> None:
    def fail() -> None:
        raise ValueError("half \ud800")

    assert reason_of(arrived().run(fail)) == "ValueError: half \ufffd"


def test_a_call_that_hangs_is_given_up_and_the_next_has_another_thread() -> None:
    guest, release = arrived(), threading.Event()
    started = time.monotonic()
    assert guest.ask(lambda _: release.wait(30), seconds=0.1) == Hung("no answer within 0.1 s")
    assert time.monotonic() - started < 5
    assert guest.ask(lambda engine: engine.name) == Returned("tail")
    release.set()


def test_one_call_at_a_time() -> None:
    guest, inside, release = arrived(), threading.Event(), threading.Event()

    def slow(_: object) -> bool:
        inside.set()
        return release.wait(30)

    thread = threading.Thread(target=guest.ask, args=(slow,))
    thread.start()
    assert inside.wait(10)
    assert guest.ask(lambda engine: engine.name) == Busy()
    release.set()
    assert guest.ask(lambda engine: engine.name, patience=10) == Returned("tail")
    thread.join(10)


def test_its_thread_ends_with_it() -> None:
    guest = PluginThread("ends-with-it", Tail, deadline=10)
    guest.arrive()
    (thread,) = [each for each in threading.enumerate() if each.name.endswith("ends-with-it")]
    del guest
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()


def test_what_is_no_engine_does_not_arrive() -> None:
    class Half:
        name = "half"

        def compress(self) -> None: ...

        def should_compress(self) -> None: ...

    assert (
        reason_of(PluginThread("half", Half, deadline=10).arrive())
        == "a Half is no engine: it lacks update_from_response"
    )
