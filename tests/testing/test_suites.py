"""The suites accept what keeps the ports' promises and refuse what breaks one."""

from unittest import SkipTest

import pytest

from holdfast.ports import Clock, Summarizer
from holdfast.summary import Ask
from holdfast.testing import CounterSuite, FixedClock, ScriptedSummarizer, SummarizerSuite
from holdfast.tokens import Counter, Estimator


class TestEstimator(CounterSuite):
    def make(self) -> Counter:
        return Estimator()


class Fickle:
    """Breaks one promise of a counter or a summarizer after the other, as told."""

    def __init__(self, *counts: int, name: str = "fickle", window: int | None = None) -> None:
        self.name = name
        self.window = window
        self._counts = list(counts)

    def count(self, text: str) -> int:  # noqa: ARG002 - that is its fault
        return self._counts.pop(0) if len(self._counts) > 1 else self._counts[0]

    def write(self, ask: Ask) -> str:
        raise KeyError(ask.purpose)

    async def awrite(self, ask: Ask) -> str:
        raise ValueError(ask.purpose)


def counters(counter: Counter) -> CounterSuite:
    suite = CounterSuite()
    suite.make = lambda: counter
    return suite


def summarizers(make: Summarizer, failing: Summarizer | None = None) -> SummarizerSuite:
    suite = SummarizerSuite()
    suite.make = lambda: make
    suite.make_failing = lambda: failing
    return suite


@pytest.mark.parametrize(
    ("counter", "broken"),
    [
        (Fickle(1, name=" "), "test_it_has_a_name_for_reports"),
        (Fickle(1), "test_no_text_has_no_tokens"),
        (Fickle(0), "test_any_text_has_tokens"),
        (Fickle(9_999), "test_a_token_is_at_least_a_byte"),
        (Fickle(1, 2), "test_the_same_text_has_the_same_tokens"),
        (Fickle(5), "test_ten_times_the_text_has_about_ten_times_the_tokens"),
    ],
)
def test_a_counter_that_breaks_a_promise_is_refused(counter: Fickle, broken: str) -> None:
    with pytest.raises(AssertionError):
        getattr(counters(counter), broken)()


@pytest.mark.parametrize(
    ("make", "broken"),
    [
        (Fickle(name=""), "test_it_has_a_name_for_reports"),
        (Fickle(window=0), "test_its_window_is_unknown_or_positive"),
        (ScriptedSummarizer([" "]), "test_it_writes_text"),
        (ScriptedSummarizer([" "]), "test_it_writes_text_in_an_event_loop"),
        (ScriptedSummarizer(["one"]), "test_it_outlives_an_event_loop"),
        (ScriptedSummarizer(["one", " "]), "test_it_writes_from_any_thread"),
    ],
)
def test_a_summarizer_that_breaks_a_promise_is_refused(make: Summarizer, broken: str) -> None:
    with pytest.raises(AssertionError):
        getattr(summarizers(make), broken)()


@pytest.mark.parametrize(
    ("failing", "broken"),
    [
        (Fickle(), "test_it_fails_with_an_error_of_ours"),
        (Fickle(), "test_it_fails_alike_in_an_event_loop"),
        (ScriptedSummarizer(["no failure"]), "test_it_fails_with_an_error_of_ours"),
    ],
)
def test_a_summarizer_that_fails_in_its_own_way_is_refused(
    failing: Summarizer, broken: str
) -> None:
    with pytest.raises(AssertionError):
        getattr(summarizers(failing, failing), broken)()


def test_a_summarizer_that_cannot_be_made_to_fail_skips_that_part() -> None:
    with pytest.raises(SkipTest):
        summarizers(ScriptedSummarizer([])).test_it_fails_with_an_error_of_ours()


def test_a_clock_stands_still_until_it_is_moved() -> None:
    clock = FixedClock(5.0, today="2026-11-15")
    port: Clock = clock
    assert (port.now(), port.now(), port.today()) == (5.0, 5.0, "2026-11-15")
    clock.advance(2.5)
    assert port.now() == 7.5
