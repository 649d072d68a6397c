"""Words that stand in every sentence."""

import pytest

from holdfast.recall.query import is_filler


@pytest.mark.parametrize("word", ["the", "The", "wann", "où", "cuándo", "когда"])
def test_words_of_every_sentence_are_fillers(word: str) -> None:
    assert is_filler(word)


@pytest.mark.parametrize("word", ["fox", "error", "не́бо", "x1"])
def test_words_that_say_something_are_not(word: str) -> None:
    assert not is_filler(word)
