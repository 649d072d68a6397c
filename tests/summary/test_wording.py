"""Wording: the words that a pattern needs leave no match out."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.summary import claims
from holdfast.summary.cues import CONSTRAINT, DECISION
from holdfast.summary.wording import Wording, words_in

CLAIMS = [each for each in vars(claims).values() if isinstance(each, Wording)]
ALL = (*CLAIMS, CONSTRAINT, DECISION)
ASCII = st.characters(max_codepoint=127)


@pytest.mark.parametrize("wording", ALL, ids=lambda wording: wording.pattern.pattern[:24])
def test_a_match_in_plain_text_holds_one_of_the_words(wording: Wording) -> None:
    around = st.sampled_from(["", "the old ", "yes, ", "(", " of it.", ", then", "?"])

    @settings(max_examples=60)
    @given(around, st.from_regex(wording.pattern, alphabet=ASCII), around)
    def check(before: str, match: str, after: str) -> None:
        sentence = before + match + after
        if wording.pattern.search(sentence):
            assert wording.stands_in(sentence, words_in(sentence))

    check()


@given(st.lists(st.sampled_from("never I'm 7 is named only my a-b x@y.z 不要 Ä".split())))
def test_a_wording_is_found_where_its_pattern_is(words: list[str]) -> None:
    sentence = " ".join(words)
    for wording in ALL:
        found = wording.pattern.search(sentence) is not None
        assert wording.stands_in(sentence, words_in(sentence)) == found


def test_words_are_parted_by_all_that_no_word_is_made_of() -> None:
    assert words_in("Don't PUSH, ever_more!") == {b"don", b"t", b"push", b"ever_more"}
    assert words_in("at 7:30") == {b"at", b"7", b"30", b"0"}
    assert words_in("mail a@b") == {b"mail", b"a", b"b", b"0"}


def test_a_sentence_with_other_letters_is_always_tried() -> None:
    assert words_in("füge es nie ein") is None
    assert Wording("never", "nie").stands_in("füge es nie ein", None)


def test_a_sentence_without_the_words_is_not_tried() -> None:
    wording = Wording("never", "push")
    assert not wording.stands_in("push it", words_in("push it"))
    assert wording.stands_in("never push it", words_in("never push it"))


def test_case_does_not_count() -> None:
    assert isinstance(CONSTRAINT.pattern, re.Pattern)
    assert CONSTRAINT.stands_in("NEVER push", words_in("NEVER push"))
