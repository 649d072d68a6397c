"""What texts become in the index: the same as by the plain definition, and faster."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall import fold, plain, spellings
from holdfast.recall.folding import WORD, index_forms, is_paired, spellings_among, unknown_spellings

MIXED = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("cC#+_1 \n→…\ufe0f\u200déßﬁΣσがﾊﾞ½東京각\u1161\u0301\u3099\u09be"),
    )
)
"""Text in which letters stand beside marks that change them."""


def test_spellings_leave_out_short_words_hashes_and_ideographs() -> None:
    text = "We saw Zürich at 1699999999 with 9f3c2ab77d10 and file42 in 东京 of getUserName"
    assert spellings(text) == {"saw", "zurich", "with", "and", "file42", "getusername"}


@given(st.lists(st.text(alphabet="aB9 _-é東\n", max_size=12)), st.sets(st.text("ab9", min_size=3)))
def test_texts_read_together_have_the_spellings_of_each_but_the_known(
    texts: list[str], known: set[str]
) -> None:
    apart: set[str] = set().union(*map(spellings, texts))
    assert unknown_spellings(texts, known) == apart - known


@given(
    st.lists(MIXED | st.from_regex(r"[A-Za-z0-9_. é-]{0,150}", fullmatch=True), max_size=4),
    st.sets(st.sampled_from(["abc", "main", "a1b2", "x" * 64])),
)
def test_the_quick_way_lists_the_words_that_the_slow_way_does(
    texts: list[str], known: set[str]
) -> None:
    slow = {
        word
        for text in texts
        for run in WORD.findall(plain(text))
        if not is_paired(run)
        for word in re.findall(r"[^\W_]{3,64}", run)
        if sum(map(str.isdigit, word)) <= 4
    }
    assert unknown_spellings(texts, known) == slow - known


def test_a_word_that_is_too_long_is_listed_in_pieces() -> None:
    assert unknown_spellings(["Q" * 70 + " " + "7" * 60 + "abcd" * 3], set()) == {
        "q" * 64,
        "q" * 6,
        "abcdabcd",
    }


@given(st.lists(MIXED, max_size=4))
def test_the_quick_way_folds_to_the_words_that_the_slow_way_does(texts: list[str]) -> None:
    folded = index_forms(texts).folded
    assert [_uncapped(form) for form in folded] == [_uncapped(fold(text)) for text in texts]


@pytest.mark.parametrize(
    "beside",
    [
        *("cafe\u0301", "ΟΔΟΣ ΣΟΦΟΣ", "\u1100\u1161\u11a8", "ﾊﾞｽ", "\u09c7\u09be", "\ud800"),
        "".join(map(chr, range(0xC0, 0x180))),
    ],
    ids=["accent", "sigma", "Korean", "half width", "vowel sign", "surrogate", "many letters"],
)
def test_letters_that_depend_on_their_neighbors_are_read_in_their_place(beside: str) -> None:
    text = f"First → Line\nÉté {beside} Über\n東京 ½ last"
    forms = index_forms([text])
    assert [_uncapped(form) for form in forms.folded] == [_uncapped(fold(text))]
    assert spellings_among(forms.words) == {
        word for word in re.findall(r"[^\W_]{3,64}", plain(text)) if not is_paired(word)
    }


def test_a_text_between_whose_words_are_only_signs_goes_into_the_index_as_it_is() -> None:
    text = "   12→def Main():  # “quoted” — and so on"
    forms = index_forms([text])
    assert forms.folded == [text]
    assert spellings_among(forms.words - {b"def", b"and"}) == {"main", "quoted"}


def _uncapped(text: str) -> str:
    """Return a text with small letters, where they are ASCII."""
    return re.sub("[A-Z]", lambda match: match.group().lower(), text)
