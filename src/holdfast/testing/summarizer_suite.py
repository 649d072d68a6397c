"""What every summarizer and every counter must do, as test classes that anybody can run."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Final
from unittest import SkipTest

from holdfast.errors import SummarizerError
from holdfast.summary import Ask

if TYPE_CHECKING:
    from holdfast.ports import Summarizer
    from holdfast.tokens import Counter

# The last two are what real transcripts hold and decoders trip over: half a pair, and a zero byte.
_TEXTS: Final = (
    "hello",
    "def main() -> None:\n    return None\n",
    "会議は三時からです",
    "Привет, мир",
    "🙂🙃👩‍👩‍👧‍👦",
    " " * 5_000,
    "A" * 5_000,
    "<|endoftext|> <|im_start|>",
    "half a pair: \ud83d",
    "zero: \x00",
)


class CounterSuite:
    """Subclass as `TestMine(CounterSuite)` and implement `make`; pytest does the rest."""

    def make(self) -> Counter:
        """Return the counter under test."""
        raise NotImplementedError

    def test_it_has_a_name_for_reports(self) -> None:
        """A report says how its tokens were counted."""
        assert self.make().name.strip()

    def test_no_text_has_no_tokens(self) -> None:
        """An empty part must not weigh anything."""
        assert self.make().count("") == 0

    def test_any_text_has_tokens(self) -> None:
        """No text may be free, and none may be an error."""
        counter = self.make()
        assert [text for text in _TEXTS if counter.count(text) < 1] == []

    def test_a_token_is_at_least_a_byte(self) -> None:
        """A count above the bytes of the text, a few marks aside, is a mistake."""
        counter = self.make()
        sizes = {text: len(text.encode("utf-8", "surrogatepass")) for text in _TEXTS}
        assert [text for text, size in sizes.items() if counter.count(text) > size + 3] == []

    def test_the_same_text_has_the_same_tokens(self) -> None:
        """Plans are repeatable only if counting is."""
        counter = self.make()
        assert [counter.count(text) for text in _TEXTS] == [counter.count(text) for text in _TEXTS]

    def test_ten_times_the_text_has_about_ten_times_the_tokens(self) -> None:
        """Budgets add up only if counts do."""
        counter = self.make()
        line = "The build failed in src/app/main.py at line 42.\n"
        once, often = counter.count(line), counter.count(line * 10)
        assert 8 * once <= often <= 12 * once


_ASK = Ask(prompt="Write one short line.", max_tokens=200, purpose="first", step=1, steps=1)


class SummarizerSuite:
    """Subclass as `TestMine(SummarizerSuite)` and implement `make`; pytest does the rest.

    The suite asks for a line of text a few times, so a recorded or local model is best.
    """

    def make(self) -> Summarizer:
        """Return the summarizer under test, ready to answer several asks."""
        raise NotImplementedError

    def make_failing(self) -> Summarizer | None:
        """Return one that cannot deliver, such as one whose server is down; None skips."""
        return None

    def test_it_has_a_name_for_reports(self) -> None:
        """A warning must be able to say which model failed."""
        assert self.make().name.strip()

    def test_its_window_is_unknown_or_positive(self) -> None:
        """Requests are sized by the window before they are sent."""
        window = self.make().window
        assert window is None or window > 0

    def test_it_writes_text(self) -> None:
        """An answer is text and says something."""
        answer: object = self.make().write(_ASK)
        assert isinstance(answer, str)
        assert answer.strip()

    def test_it_writes_text_in_an_event_loop(self) -> None:
        """The async side keeps the same promise."""
        answer: object = asyncio.run(self.make().awrite(_ASK))
        assert isinstance(answer, str)
        assert answer.strip()

    def test_it_outlives_an_event_loop(self) -> None:
        """A connection kept from a closed loop must not break the next one."""
        summarizer = self.make()
        answers = [asyncio.run(summarizer.awrite(_ASK)) for _ in range(2)]
        assert all(answer.strip() for answer in answers)

    def test_it_writes_from_any_thread(self) -> None:
        """The engine calls from fresh threads, so that it can give up on one that hangs."""
        summarizer = self.make()
        answers: list[str] = []
        for _ in range(2):
            thread = threading.Thread(target=lambda: answers.append(summarizer.write(_ASK)))
            thread.start()
            thread.join()
        assert [bool(answer.strip()) for answer in answers] == [True, True]

    def test_it_fails_with_an_error_of_ours(self) -> None:
        """The engine tells failures apart by their class."""
        assert isinstance(self._error_of_write(), SummarizerError)

    def test_it_fails_alike_in_an_event_loop(self) -> None:
        """Sync and async callers see the same failure."""
        assert type(self._error_of_awrite()) is type(self._error_of_write())

    def _failing(self) -> Summarizer:
        summarizer = self.make_failing()
        if summarizer is None:
            raise SkipTest("make_failing returns nothing")
        return summarizer

    def _error_of_write(self) -> Exception | None:
        try:
            self._failing().write(_ASK)
        except SkipTest:
            raise
        except Exception as error:  # noqa: BLE001 - which one it is, is the question
            return error
        return None

    def _error_of_awrite(self) -> Exception | None:
        summarizer = self._failing()
        try:
            asyncio.run(summarizer.awrite(_ASK))
        except Exception as error:  # noqa: BLE001 - which one it is, is the question
            return error
        return None
