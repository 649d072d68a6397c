"""The summarizer that tests write in advance."""

import asyncio

import pytest

from holdfast.errors import SummarizerUnavailable
from holdfast.ports import Summarizer
from holdfast.summary import Ask
from holdfast.testing import ScriptedSummarizer, SummarizerSuite

ASK = Ask(prompt="words", max_tokens=100, purpose="first", step=1, steps=1)


class TestScripted(SummarizerSuite):
    def make(self) -> Summarizer:
        return ScriptedSummarizer(["one", "two"], window=8_000)

    def make_failing(self) -> Summarizer | None:
        return ScriptedSummarizer([SummarizerUnavailable("down")])


def test_answers_come_in_order_and_asks_are_kept() -> None:
    summarizer = ScriptedSummarizer(["one", SummarizerUnavailable("down"), "two"])
    assert summarizer.write(ASK) == "one"
    with pytest.raises(SummarizerUnavailable):
        summarizer.write(ASK)
    assert asyncio.run(summarizer.awrite(ASK)) == "two"
    assert summarizer.asks == [ASK, ASK, ASK]


def test_an_ask_that_the_script_did_not_foresee_is_noticed() -> None:
    summarizer = ScriptedSummarizer([], name="main")
    with pytest.raises(AssertionError, match="main was asked 1 times, once too often"):
        summarizer.write(ASK)
