"""What every counter must do, as a test class that anybody can run against their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from holdfast.tokens import Counter

__all__ = ["CounterSuite"]

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
