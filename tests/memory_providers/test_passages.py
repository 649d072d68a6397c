"""Passages: nothing is lost, nothing is too long."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory_providers.vector_memory import LONGEST, passages

WORDS = st.text(alphabet=st.sampled_from("abc .!?\n。x"), max_size=4_000)


@given(WORDS)
def test_every_passage_fits_and_the_words_stay_in_order(text: str) -> None:
    found = passages(text)
    assert all(8 <= len(each) <= LONGEST for each in found)
    letters = [sign for sign in text if not sign.isspace()]
    kept = iter(letters)
    assert all(sign in kept for each in found for sign in each if not sign.isspace())
    if all(len(each) >= 8 for each in [text.strip()]) and len(found) == 1:
        assert "".join(found[0].split()) == "".join(letters)


def test_paragraphs_that_fit_stay_together() -> None:
    assert passages("First point.\n\nSecond point.") == ("First point.\nSecond point.",)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentence = "This sentence is about fifty characters in length. "
    found = passages(sentence * 40)
    assert len(found) == 3
    assert all(each.endswith("length.") for each in found)


def test_a_word_without_end_is_cut_anywhere() -> None:
    assert [len(each) for each in passages("x" * 2_000)] == [800, 800, 400]


def test_a_nod_is_no_passage() -> None:
    assert passages("ok") == passages("") == passages(" \n\n ") == ()
