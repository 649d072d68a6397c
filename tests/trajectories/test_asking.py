"""Summaries in bulk keep their limits, and whatever goes wrong is a value."""

import asyncio
import threading
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cost import Price, charge
from holdfast.errors import (
    ConfigError,
    MissingExtra,
    SummarizerDenied,
    SummarizerMisread,
    SummarizerMissing,
    SummarizerUnavailable,
)
from holdfast.providers.callable_summarizer import CallableSummarizer
from holdfast.session import Usage
from holdfast.summary import Ask, Declined, Failure, Written
from holdfast.testing import ScriptedSummarizer
from holdfast.trajectories.asking import BulkSummarizer, SummaryAttempt, SummaryLimits, event_loop
from tests.trajectories.skipping import now, run

PROMPT = "Below are consecutive turns of a trajectory, in which much was done. " * 20
ASK = Ask(PROMPT, 100, "first")
PRICE = Price(input=1_000, output=5_000, cache_read=0, cache_write_5m=0, cache_write_1h=0)
COUNT: Callable[[str], int] = len


def request(_: int | None) -> Ask:
    return ASK


def asked(answers: list[str | Exception], **limits: float) -> SummaryAttempt:
    """Return what comes of asking a scripted model once."""
    scripted = ScriptedSummarizer(answers)
    bulk = BulkSummarizer(scripted, SummaryLimits(**limits), COUNT)  # pyright: ignore[reportArgumentType]
    return run(bulk.summarize(request))


class Busy:
    """A model that takes its time, and notes when it was asked and how many asked at once."""

    def __init__(self, seconds: float = 1.0) -> None:
        self.begun: list[float] = []
        self.most = 0
        self._seconds = seconds
        self._open = 0

    async def write(self, _: str) -> str:
        self.begun.append(now())
        self._open += 1
        self.most = max(self.most, self._open)
        await asyncio.sleep(self._seconds)
        self._open -= 1
        return "Did things."


async def ask_many(bulk: BulkSummarizer, number: int, ask: Ask = ASK) -> list[SummaryAttempt]:
    return await asyncio.gather(*(bulk.summarize(lambda _: ask) for _ in range(number)))


def test_an_answer_is_a_summary() -> None:
    assert asked(["Did things."]) == SummaryAttempt(Written("Did things.", "scripted"), calls=1)


@pytest.mark.parametrize(
    ("answer", "failure", "reason"),
    [
        ("", Failure.EMPTY, "scripted returned an empty answer"),
        (" \n ", Failure.EMPTY, "scripted returned an empty answer"),
        ("I'm sorry, but I can't help.", Failure.MALFORMED, "it was a refusal"),
        ("As an AI I will not do this.", Failure.MALFORMED, "it was a refusal"),
        (f"Here: {PROMPT}"[: len(PROMPT)], Failure.MALFORMED, "it repeated the request"),
        ("y" * (len(PROMPT) + 1), Failure.MALFORMED, "it was longer than what it stands for"),
        (
            SummarizerUnavailable("busy"),
            Failure.TRANSIENT,
            "scripted is unavailable: busy",
        ),
        (ValueError("odd"), Failure.TRANSIENT, "scripted failed: ValueError: odd"),
        (SummarizerMisread("html"), Failure.MISREAD, "scripted could not be read: html"),
    ],
)
def test_what_is_no_summary_is_asked_for_again_and_counted(
    answer: str | Exception, failure: Failure, reason: str
) -> None:
    assert asked([answer] * 3) == SummaryAttempt(Declined(failure, reason), calls=3, errors=3)
    assert asked([answer, "Did things."]) == SummaryAttempt(
        Written("Did things.", "scripted"), calls=2, errors=1
    )


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (SummarizerDenied("bad key"), Failure.AUTH),
        (SummarizerMissing("no model"), Failure.MISSING),
        (ConfigError("odd"), Failure.UNCONFIGURED),
        (MissingExtra("models", "openai"), Failure.UNCONFIGURED),
    ],
)
def test_what_another_attempt_does_not_mend_is_asked_once(
    error: Exception, failure: Failure
) -> None:
    found = asked([error])
    assert isinstance(found.answer, Declined)
    assert (found.answer.failure, found.calls, found.errors) == (failure, 1, 1)


def test_nobody_is_sent_to_a_door_that_is_closed() -> None:
    scripted = ScriptedSummarizer([SummarizerDenied("bad key")])
    bulk = BulkSummarizer(scripted, SummaryLimits(concurrency=1), COUNT)
    first, *others = run(ask_many(bulk, 3))
    assert others == [SummaryAttempt(first.answer)] * 2
    assert len(scripted.asks) == 1


def test_a_model_that_hangs_is_given_up_in_time() -> None:
    async def hangs(prompt: str) -> str:
        await asyncio.sleep(1e9)
        return prompt

    async def both() -> tuple[SummaryAttempt, float]:
        limits = SummaryLimits(timeout=5, attempts=2)
        bulk = BulkSummarizer(CallableSummarizer(hangs), limits, COUNT)
        return await bulk.summarize(request), now()

    found, seconds = run(both())
    reason = "hangs is unavailable: no answer within 5 s"
    assert found == SummaryAttempt(Declined(Failure.TRANSIENT, reason), calls=2, errors=2)
    assert 10 <= seconds <= 12


def test_waits_double_between_attempts_up_to_a_minute() -> None:
    times: list[float] = []

    async def fails(prompt: str) -> str:
        times.append(now())
        raise SummarizerUnavailable("busy")

    limits = SummaryLimits(attempts=9)
    found = run(BulkSummarizer(CallableSummarizer(fails), limits, COUNT).summarize(request))
    assert (found.calls, found.errors) == (9, 9)
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert all(
        longest / 2 <= wait <= longest
        for wait, longest in zip(waits, [2, 4, 8, 16, 32, 60, 60, 60], strict=True)
    )


@pytest.mark.parametrize(("named", "waited"), [(7.5, 7.5), (0.0, 0.0), (3_600.0, 60.0)])
def test_a_provider_that_names_a_time_is_asked_then(named: float, waited: float) -> None:
    times: list[float] = []

    async def fails_once(prompt: str) -> str:
        times.append(now())
        if len(times) == 1:
            raise SummarizerUnavailable("busy", retry_after=named)
        return "Did things."

    bulk = BulkSummarizer(CallableSummarizer(fails_once), SummaryLimits(), COUNT)
    found = run(bulk.summarize(request))
    assert found == SummaryAttempt(Written("Did things.", "fails_once"), calls=2, errors=1)
    assert times == [0.0, waited]


def test_a_provider_that_names_a_time_is_not_asked_by_others_meanwhile() -> None:
    times: list[float] = []

    async def fails_first(prompt: str) -> str:
        times.append(now())
        if len(times) == 1:
            raise SummarizerUnavailable("busy", retry_after=30)
        await asyncio.sleep(1)
        return "Did things."

    limits = SummaryLimits(concurrency=2)
    bulk = BulkSummarizer(CallableSummarizer(fails_first), limits, COUNT)
    found = run(ask_many(bulk, 4))
    assert [each.errors for each in found] == [1, 0, 0, 0]
    assert times == [0.0, 0.0, 30.0, 30.0, 31.0]


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_no_more_requests_are_open_than_allowed(concurrency: int) -> None:
    busy = Busy()
    limits = SummaryLimits(concurrency=concurrency)
    bulk = BulkSummarizer(CallableSummarizer(busy.write), limits, COUNT)
    found = run(ask_many(bulk, 20))
    assert [each.calls for each in found] == [1] * 20
    assert busy.most == bulk.concurrency == concurrency


def test_no_more_requests_are_sent_in_a_minute_than_allowed() -> None:
    busy = Busy(seconds=100)
    limits = SummaryLimits(requests_per_minute=30)
    run(ask_many(BulkSummarizer(CallableSummarizer(busy.write), limits, COUNT), 6))
    assert busy.begun == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_attempts_count_against_the_rate() -> None:
    times: list[float] = []

    async def fails(prompt: str) -> str:
        times.append(now())
        raise SummarizerUnavailable("busy", retry_after=0)

    limits = SummaryLimits(requests_per_minute=6, attempts=2)
    run(ask_many(BulkSummarizer(CallableSummarizer(fails), limits, COUNT), 2))
    assert times == [0.0, 10.0, 20.0, 30.0]


def test_the_request_is_made_anew_for_each_attempt() -> None:
    windows: list[int | None] = []

    def sized(window: int | None) -> Ask:
        windows.append(window)
        return ASK

    class Learns(ScriptedSummarizer):
        def write(self, ask: Ask) -> str:
            self.window = 4_096
            return super().write(ask)

    scripted = Learns([SummarizerUnavailable("too long"), "Did things."])
    run(BulkSummarizer(scripted, SummaryLimits(), COUNT).summarize(sized))
    assert windows == [None, 4_096]


def paid(prompt: str, answer: str) -> float:
    return charge(Usage(input_tokens=COUNT(prompt), output_tokens=COUNT(answer)), PRICE)


@given(st.floats(0.001, 20), st.lists(st.integers(1, 100), max_size=12), st.integers(1, 4))
def test_summaries_never_cost_more_than_the_cap(
    cap: float, lengths: list[int], concurrency: int
) -> None:
    bills: list[float] = []
    left = iter(lengths)

    async def write(prompt: str) -> str:
        await asyncio.sleep(1)
        answer = "x" * next(left)
        bills.append(paid(prompt, answer))
        return answer

    limits = SummaryLimits(max_cost=cap, concurrency=concurrency)
    bulk = BulkSummarizer(CallableSummarizer(write), limits, COUNT, price=PRICE)
    found = run(ask_many(bulk, len(lengths)))
    assert sum(bills) <= cap
    assert sum(each.cost for each in found) == pytest.approx(sum(bills))
    assert bulk.spent == pytest.approx(sum(bills))
    refused = [each for each in found if isinstance(each.answer, Declined)]
    reason = f"the cap of {cap:g} US dollars is reached"
    assert refused == [SummaryAttempt(Declined(Failure.COOLDOWN, reason))] * (
        len(found) - len(bills)
    )
    # It is reached only where another summary could have cost more than what is left.
    assert not refused or sum(bills) + concurrency * paid(PROMPT, "x" * 100) > cap


@pytest.mark.parametrize("answer", ["I'm sorry, I can't.", "x" * 2_000, PROMPT[:1_300]])
def test_answers_that_are_no_summaries_are_paid_for(answer: str) -> None:
    bills: list[float] = []

    async def write(prompt: str) -> str:
        bills.append(paid(prompt, answer))
        return answer

    longest = Ask(PROMPT, 2_000, "first")
    cap = paid(PROMPT, "x" * 2_000) * 2.5
    limits = SummaryLimits(max_cost=cap)
    bulk = BulkSummarizer(CallableSummarizer(write), limits, COUNT, price=PRICE)
    found = run(ask_many(bulk, 4, longest))
    assert bills
    assert sum(bills) <= cap
    assert sum(each.cost for each in found) == pytest.approx(sum(bills))
    assert bulk.spent == pytest.approx(sum(bills))


def test_what_an_earlier_part_of_a_run_has_cost_counts() -> None:
    scripted = ScriptedSummarizer([])
    limits = SummaryLimits(max_cost=100)
    bulk = BulkSummarizer(scripted, limits, COUNT, price=PRICE, spent=99.99)
    assert run(bulk.summarize(request)).calls == 0


def test_a_cap_needs_a_price() -> None:
    with pytest.raises(ConfigError, match="max_cost is set, and no price of scripted is known"):
        BulkSummarizer(ScriptedSummarizer([]), SummaryLimits(max_cost=1), COUNT)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"concurrency": 0}, "concurrency is 0; allowed: 1 or more"),
        ({"attempts": 0}, "attempts is 0; allowed: 1 or more"),
        ({"requests_per_minute": 0}, "requests_per_minute is 0; allowed: more than 0"),
        ({"timeout": -1}, "timeout is -1; allowed: more than 0"),
        ({"max_cost": float("nan")}, "max_cost is nan; allowed: more than 0"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        SummaryLimits(**limits)  # pyright: ignore[reportArgumentType]


def test_a_loop_of_its_own_ends_with_what_still_runs_in_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.trajectories.asking._GOODBYE", 0.05)
    ended = threading.Event()

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    with event_loop() as loop:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(timeout=5)
        waiting = asyncio.run_coroutine_threadsafe(waits(), loop)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(timeout=5)
        names = [thread.name for thread in threading.enumerate()]
    assert "holdfast-summaries" in names
    assert "holdfast-summaries" not in [thread.name for thread in threading.enumerate()]
    assert ended.is_set()
    assert waiting.cancelled()
    assert loop.is_closed()
