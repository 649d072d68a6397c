"""The words that show why a message was found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.recall import matches, parse, snippet

FILLER = "lorem ipsum dolor sit amet " * 12


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("the quick brown fox", "fox", "the quick brown [fox]"),
        ("Foxes ran", "running fox", "[Foxes] ran"),
        ("Café in ZÜRICH", "cafe zurich", "[Café] in [ZÜRICH]"),
        ("see src/main.py now", "src/main.py", "see [src/main.py] now"),
        ("see rsrc/main.pyc", "rc/main.p", "see rs[rc/main.p]yc"),
        ("getUserNameById", "username", "get[UserName]ById"),
        ("C# and C++", "c++", "C# and [C++]"),
        ("generalization", "generaliz*", "[generalization]"),
        ("我们在东京塔吃饭", "东京塔", "我们在[东京塔]吃饭"),
        ("我们在东京吃拉面", "拉面东京", "我们在[东京]吃[拉面]"),
        ("我在东京塔", "东京 京塔", "我在[东京塔]"),
        ("我在东京塔", "东京塔 京塔", "我在[东京塔]"),
        ("Книга на столе", "книги", "[Книга] на столе"),
        ("a brown dog and a brown fox", '"brown fox"', "a brown dog and a [brown fox]"),
        ("nothing here", "walrus", "nothing here"),
        ("one\n\ntwo   three", "two", "one [two] three"),
        ("", "fox", ""),
        ("the o\ufb03ce", "ffic", "the [o\ufb03ce]"),
        ("\ufb00oo/\ufb01xes", "foo/fix", "[\ufb00oo/\ufb01xes]"),
        ("mon cœur bat", "coeur", "mon [cœur] bat"),
        ("in 3f9a2b7c81d0", "3f9a2b7", "in [3f9a2b7]c81d0"),
        ("up to v1.2.3", "1.2.3", "up to v[1.2.3]"),
    ],
)
def test_matches_are_marked_as_the_index_found_them(text: str, query: str, shown: str) -> None:
    assert snippet(text, parse(query), marks=("[", "]")) == shown


def test_the_place_with_most_of_the_query_is_shown() -> None:
    text = f"fox {FILLER} the brown fox sleeps {FILLER}"
    assert snippet(text, parse("brown fox"), width=40, marks=("[", "]")) == (
        "…amet the [brown] [fox] sleeps lorem ipsum…"
    )


def test_words_as_they_were_asked_for_are_shown_before_their_other_forms() -> None:
    text = "The connections were reset by whoever connected. " * 6 + "To connect, use port 5433."
    assert ">>>connect<<<, use port 5433" in snippet(text, parse("connect"), width=60)


def test_a_match_at_the_end_of_a_text_is_shown_with_what_stands_before_it() -> None:
    shown = snippet(f"{FILLER}walrus", parse("walrus"), width=30, marks=("[", "]"))
    assert shown == "…ipsum dolor sit amet [walrus]"


def test_a_match_without_a_gap_near_it_is_shown_with_the_words_cut() -> None:
    shown = snippet("x" * 60 + "walrus" + "x" * 60, parse("walrus"), width=24, marks=("[", "]"))
    assert shown == "…xxxxxx[walrus]xxxxxxxxxxxx…"


def test_a_text_without_a_match_is_shown_from_its_beginning() -> None:
    assert snippet(FILLER, parse("walrus"), width=12) == "lorem ipsum…"


def test_ideographs_are_cut_anywhere() -> None:
    text = "春" * 50 + "拉面" + "夏" * 50
    assert snippet(text, parse("拉面"), width=12) == "…春春春>>>拉面<<<夏夏夏夏夏夏夏…"


@given(
    st.text(alphabet="abfox 东京é\n#+", max_size=200), st.text(alphabet="fox 东京é*", max_size=12)
)
def test_a_snippet_is_a_piece_of_the_text(text: str, asked: str) -> None:
    shown = snippet(text, parse(asked), width=40, marks=("\x01", "\x02"))
    bare = shown.replace("\x01", "").replace("\x02", "").strip("…").strip()
    assert bare in " ".join(text.split())
    assert len(bare) <= 40


@given(st.text(alphabet="fox 东京é#+", max_size=80), st.text(alphabet="fox 东京é*", max_size=12))
def test_matches_are_in_order_and_apart(text: str, asked: str) -> None:
    spots = matches(text, parse(asked))
    edges = [edge for spot in spots for edge in spot]
    assert edges == sorted(set(edges))
    assert all(0 <= start < end <= len(text) for start, end in spots)


@pytest.mark.parametrize("lines", [10, 30_000])
def test_a_match_deep_in_a_long_message_is_shown(lines: int) -> None:
    filler = "line of output\n" * lines
    shown = snippet(f"{filler}here is the zebracorn at last\n{filler}", parse("zebracorn"))
    assert ">>>zebracorn<<<" in shown


def test_a_long_message_without_the_words_is_shown_from_its_beginning() -> None:
    text = "first words " + "line of output\n" * 20_000
    assert snippet(text, parse("zebracorn")).startswith("first words")
