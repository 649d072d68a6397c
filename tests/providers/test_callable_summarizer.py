"""Any function as a summarizer, blocking or async, from blocking or async code."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable

import pytest

from holdfast.errors import SummarizerMisread, SummarizerUnavailable
from holdfast.ports import Summarizer
from holdfast.providers import CallableSummarizer
from holdfast.summary import Ask
from holdfast.testing import SummarizerSuite

ASK = Ask(prompt="words", max_tokens=100, purpose="first", step=1, steps=1)


def shout(prompt: str) -> str:
    return prompt.upper()


async def shout_later(prompt: str) -> str:
    await asyncio.sleep(0)
    return prompt.upper()


def shout_by_promise(prompt: str) -> Awaitable[str]:
    return shout_later(prompt)


def unreachable(prompt: str) -> str:
    raise SummarizerUnavailable("down")


async def unreachable_later(prompt: str) -> str:
    raise SummarizerUnavailable("down")


class Shouter:
    async def __call__(self, prompt: str) -> str:
        return prompt.upper()


class TestBlockingFunction(SummarizerSuite):
    def make(self) -> Summarizer:
        return CallableSummarizer(shout)

    def make_failing(self) -> Summarizer | None:
        return CallableSummarizer(unreachable)


class TestAsyncFunction(SummarizerSuite):
    def make(self) -> Summarizer:
        return CallableSummarizer(shout_later)

    def make_failing(self) -> Summarizer | None:
        return CallableSummarizer(unreachable_later)


@pytest.mark.parametrize(
    "summarizer",
    [
        CallableSummarizer(shout),
        CallableSummarizer(shout_later),
        CallableSummarizer(shout_by_promise),
        CallableSummarizer(Shouter()),
    ],
    ids=["blocking", "async", "promise", "object"],
)
def test_every_kind_of_function_answers_both_ways(summarizer: CallableSummarizer) -> None:
    assert summarizer.write(ASK) == "WORDS"
    assert asyncio.run(summarizer.awrite(ASK)) == "WORDS"


def test_the_name_is_the_one_given_or_the_function_s_own() -> None:
    names = [
        CallableSummarizer(shout).name,
        CallableSummarizer(Shouter()).name,
        CallableSummarizer(shout, name="loud").name,
    ]
    assert names == ["shout", "Shouter", "loud"]


def test_a_blocking_function_does_not_block_the_event_loop() -> None:
    free = threading.Event()

    def wait_for_the_loop(prompt: str) -> str:
        return "free" if free.wait(10) else "blocked"

    async def both() -> str:
        answer = asyncio.create_task(CallableSummarizer(wait_for_the_loop).awrite(ASK))
        await asyncio.sleep(0.01)
        free.set()
        return await answer

    assert asyncio.run(both()) == "free"


def test_a_blocking_function_sees_the_caller_s_context() -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request")

    async def ask() -> str:
        request.set("r1")
        return await CallableSummarizer(lambda _: request.get()).awrite(ASK)

    assert asyncio.run(ask()) == "r1"


def test_an_answer_that_comes_after_the_loop_has_closed_is_dropped() -> None:
    late, done = threading.Event(), threading.Event()

    def write(prompt: str) -> str:
        late.wait(10)
        done.set()
        return "late"

    async def give_up() -> None:
        task = asyncio.create_task(CallableSummarizer(write).awrite(ASK))
        await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(give_up())
    late.set()
    assert done.wait(10)
    # The thread's last step, telling the closed loop, must not raise where nobody sees it.
    for thread in threading.enumerate():
        if thread.name == "holdfast-write":
            thread.join(10)


def test_nothing_is_an_empty_answer() -> None:
    assert CallableSummarizer(lambda _: None).write(ASK) == ""  # type: ignore[arg-type,return-value]


def test_what_is_not_text_cannot_be_read() -> None:
    summarizer = CallableSummarizer(lambda _: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(SummarizerMisread, match="returned int instead of text"):
        summarizer.write(ASK)
