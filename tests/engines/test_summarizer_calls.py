"""A foreign summarizer that hangs, lies or dies costs its timeout and nothing more."""

import asyncio
import contextvars
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import cast

import pytest

from holdfast.engines import SummarizerFallback
from holdfast.engines.summarizer_fallback import acall, call
from holdfast.providers import CallableSummarizer
from holdfast.summary import Answer, Ask, Declined, Failure, Written
from holdfast.testing import FixedClock, ScriptedSummarizer
from tests.engines.asks import ASK, RECORD, WAYS, Asking

every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
SILENCE = Declined(Failure.TRANSIENT, "slow is unavailable: no answer within 0.05 s")


class Stub:
    """A summarizer that runs a function for each side, which need not return text."""

    def __init__(self, write: Callable[[], object]) -> None:
        self.name = "slow"
        self.window = None
        self._write = write

    def write(self, ask: Ask) -> str:
        assert ask == ASK
        return cast("str", self._write())

    async def awrite(self, ask: Ask) -> str:
        return self.write(ask)


def hanging(name: str = "slow") -> tuple[CallableSummarizer, threading.Event]:
    """Return a summarizer that blocks until the event is set."""
    released = threading.Event()

    def write(prompt: str) -> str:
        released.wait(30)
        return RECORD

    return CallableSummarizer(write, name=name), released


def both(summarizer: Stub, timeout: float = 5.0) -> list[Answer]:
    return [call(summarizer, ASK, timeout), asyncio.run(acall(summarizer, ASK, timeout))]


@every_way
def test_a_summary_model_that_hangs_is_replaced_by_the_main_model(way: Asking) -> None:
    slow, released = hanging()
    main = ScriptedSummarizer([RECORD], name="main")
    chain = SummarizerFallback(main, slow, clock=FixedClock(), timeout=0.05)
    assert way(chain) == Written(RECORD, "main")
    assert "no answer within 0.05 s" in chain.notes[0]
    released.set()


@every_way
def test_a_main_model_that_hangs_costs_its_timeout_and_a_cooldown(way: Asking) -> None:
    slow, released = hanging()
    chain = SummarizerFallback(slow, clock=FixedClock(), timeout=0.05)
    started = time.monotonic()
    assert way(chain) == Declined(Failure.TRANSIENT, SILENCE.reason, retry_after=60.0)
    assert time.monotonic() - started < 5.0
    released.set()


def test_a_coroutine_that_ignores_its_cancellation_is_left_behind() -> None:
    finished: list[str] = []

    async def stubborn() -> str:
        for _ in range(10):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)
        finished.append("at last")
        return RECORD

    async def give_up() -> tuple[Answer, list[str]]:
        answer = await acall(CallableSummarizer(lambda _: stubborn(), name="slow"), ASK, 0.05)
        return answer, list(finished)

    assert asyncio.run(give_up()) == (SILENCE, [])
    assert finished == ["at last"]


def test_a_program_ends_although_a_summarizer_hangs() -> None:
    program = """
import asyncio, time
from holdfast.providers import CallableSummarizer
from holdfast.system import SystemClock
from holdfast.engines import SummarizerFallback
from holdfast.summary import Ask
ask = Ask(prompt="p", max_tokens=10, purpose="first", step=1, steps=1)
slow = CallableSummarizer(lambda prompt: time.sleep(600), name="slow")
chain = SummarizerFallback(slow, clock=SystemClock(), timeout=0.05)
print(chain.answer(ask, manual=True).failure)
print(asyncio.run(chain.aanswer(ask, manual=True)).failure)
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert (ended.stdout, ended.stderr) == ("transient\ntransient\n", "")


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (RECORD, Written(RECORD, "slow")),
        (None, Declined(Failure.EMPTY, "slow returned an empty answer")),
        ("  ", Declined(Failure.EMPTY, "slow returned an empty answer")),
        (b"bytes", Declined(Failure.MISREAD, "slow returned bytes instead of text")),
    ],
)
def test_only_text_that_says_something_is_an_answer(value: object, answer: Answer) -> None:
    assert both(Stub(lambda: value)) == [answer, answer]


def test_an_error_that_nobody_foresaw_is_a_failure_with_its_words() -> None:
    def fail() -> object:
        raise ZeroDivisionError("division\n  by zero")

    answer = Declined(Failure.TRANSIENT, "slow failed: ZeroDivisionError: division by zero")
    assert both(Stub(fail)) == [answer, answer]


def test_an_error_without_words_is_named_by_its_class() -> None:
    def fail() -> object:
        raise TimeoutError

    answer = Declined(Failure.TRANSIENT, "slow failed: TimeoutError: TimeoutError")
    assert both(Stub(fail)) == [answer, answer]


def test_an_error_that_quotes_a_request_is_cut_to_its_beginning() -> None:
    def fail() -> object:
        raise ValueError("x" * 100_000)

    for answer in both(Stub(fail)):
        assert isinstance(answer, Declined)
        assert len(answer.reason) < 400


def test_a_call_that_cancels_itself_is_a_failure_and_not_a_cancellation() -> None:
    def fail() -> object:
        raise asyncio.CancelledError

    answer = asyncio.run(acall(Stub(fail), ASK, 5.0))
    assert answer == Declined(Failure.TRANSIENT, "slow cancelled its own call")


@pytest.mark.parametrize("leaves", ["cancelled", "timed out"])
def test_a_call_that_nobody_waits_for_any_more_is_cancelled(leaves: str) -> None:
    seen: list[str] = []

    async def write(prompt: str) -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return prompt

    async def give_up() -> list[str]:
        timeout = 20.0 if leaves == "cancelled" else 0.01
        task = asyncio.create_task(acall(CallableSummarizer(write), ASK, timeout))
        await asyncio.sleep(0.01)
        if leaves == "cancelled":
            task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(0)
        # Read before the loop ends, which cancels whatever is left.
        return list(seen)

    assert asyncio.run(give_up()) == ["cancelled"]


def test_a_wish_to_end_the_program_is_not_swallowed() -> None:
    def leave() -> object:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        call(Stub(leave), ASK, 5.0)


def test_context_variables_reach_the_call() -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request")
    request.set("r1")
    assert call(Stub(request.get), ASK, 5.0) == Written("r1", "slow")
