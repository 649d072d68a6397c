"""The form in which text enters the index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall import fold, normal, plain
from holdfast.recall.folding import is_paired, pairs, query_words, root_of

IDEOGRAPHS = st.text(alphabet="東京塔去吃拉面あいアイ서울", min_size=1, max_size=9)


def test_ascii_is_left_as_it_is() -> None:
    assert fold("Keep src/main.py, please!") == "Keep src/main.py, please!"


def test_a_run_of_ideographs_becomes_pairs_and_its_last_character() -> None:
    assert fold("去东京塔").split() == ["去东", "东京", "京塔", "塔"]


def test_latin_words_next_to_ideographs_stay_words() -> None:
    assert fold("用Rust写驱动").split() == ["用", "rust", "写驱", "驱动", "动"]


@given(IDEOGRAPHS)
def test_each_ideograph_begins_exactly_one_word(run: str) -> None:
    assert [word[0] for word in fold(run).split()] == list(run)


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Café", "cafe"), ("cafe\u0301", "cafe"), ("ЁЛКА", "елка"), ("Άλφα", "αλφα"), ("ﬁn", "fin")],
)
def test_accents_and_case_are_folded_in_every_alphabet(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "folded"),
    [("C# and C++", "Csharp and Cplusplus"), ("a#b x++y", "a#b x++y"), ("#tag", "#tag")],
)
def test_a_letter_with_a_sign_is_a_word_of_its_own(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_every_text_folds_to_something_that_can_be_stored(text: str) -> None:
    assert isinstance(fold(text).encode(), bytes)


def test_a_query_leaves_the_last_run_open() -> None:
    assert query_words("东京塔") == ("东京", "京塔")
    assert query_words("塔") == ("塔",)
    assert query_words("手机iPhone") == ("手机", "机", "iphone")


@given(IDEOGRAPHS, IDEOGRAPHS, IDEOGRAPHS)
def test_the_words_of_a_part_follow_each_other_in_the_whole(
    before: str, wanted: str, after: str
) -> None:
    words = fold(before + wanted + after).split()
    asked = list(query_words(wanted))
    starts = range(len(words) - len(asked) + 1)
    found = any(
        words[at : at + len(asked) - 1] == asked[:-1]
        and words[at + len(asked) - 1].startswith(asked[-1])
        for at in starts
    )
    assert found


def test_forms_of_a_word_are_normal_to_each_other() -> None:
    assert normal("Running") == normal("runs") == normal("RUN") == "run"
    assert normal("Résumés") == normal("resume")
    assert normal("C#") == "csharp"


def test_the_root_of_a_short_word_is_nothing() -> None:
    assert (root_of("книга"), root_of("katzen"), root_of("cat"), root_of("abc123")) == (
        "книг",
        "katz",
        "",
        "",
    )


def test_pairs_of_a_lone_character_are_itself() -> None:
    assert (pairs("东"), pairs("东京"), pairs("东京塔")) == (("东",), ("东京",), ("东京", "京塔"))
    assert is_paired("京a")
    assert not is_paired("a京")


def test_plain_drops_lone_surrogates() -> None:
    assert plain("\ud800Fox") == " fox"
