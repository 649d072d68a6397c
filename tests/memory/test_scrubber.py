"""The scrubber: whatever the cuts, the same words come out, and nothing of a block does."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.memory import LONGEST_TAG, Scrubber, scrub, without_tags

SECRET = "zq"
"""Stands only inside blocks; no other piece of the generated texts can spell it."""
OPENINGS = st.sampled_from(
    [
        "<memory-context>",
        "<MEMORY-Context>",
        "< memory-context >",
        '<memory-context source="mem0" n="2">',
        "<\tMemory-Context\n>",
    ]
)
CLOSINGS = st.sampled_from(
    ["</memory-context>", "</MEMORY-CONTEXT>", "< / memory-context >", "</memory-context x>"]
)
LOOSE = st.sampled_from(
    [
        "<",
        "</",
        ">",
        "<m",
        "<mem",
        "<memory-contex",
        "<memory-context",
        "</memory-context",
        "<memory-contexts>",
        "<memory-context/>",
        "<memory_context>",
        "<b>",
        "a < b",
        "<<<",
        " ",
        "\n",
        "é<ſ",
        "<memory-context " + "a" * LONGEST_TAG + ">",
    ]
)
PLAIN = st.text(st.characters(exclude_characters="<>zq", codec="utf-8"), max_size=12)
ANYTHING = st.lists(st.one_of(PLAIN, LOOSE, OPENINGS, CLOSINGS, st.just(SECRET)), max_size=14).map(
    "".join
)


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return well-formed blocks around hidden words and other blocks."""
    loose = LOOSE.filter(lambda text: text != ">")  # it could complete a tag that is not meant
    hidden = st.lists(st.one_of(st.just(SECRET), PLAIN, loose, inner), min_size=1, max_size=4)
    return st.builds(
        lambda opening, inside, closing: f"{opening}{SECRET}{''.join(inside)}{SECRET}{closing}",
        OPENINGS,
        hidden,
        CLOSINGS,
    )


NESTED = st.recursive(blocks(st.nothing() | PLAIN), blocks, max_leaves=4)


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:stop] for start, stop in pairwise(places)]


def streamed(deltas: list[str]) -> str:
    scrubber = Scrubber()
    return "".join([*map(scrubber.push, deltas), scrubber.finish()])


@given(text=ANYTHING, cuts=st.lists(st.integers(0, 400), max_size=30))
def test_every_cut_gives_the_same_words(text: str, cuts: list[int]) -> None:
    assert streamed(pieces(text, cuts)) == scrub(text)


@given(text=ANYTHING)
def test_letter_by_letter_gives_the_same_words(text: str) -> None:
    assert streamed(list(text)) == scrub(text)


@given(
    around=st.lists(PLAIN, min_size=2, max_size=4), block=NESTED, cuts=st.lists(st.integers(0, 400))
)
def test_nothing_inside_a_block_leaks(around: list[str], block: str, cuts: list[int]) -> None:
    text = block.join(around)
    assert SECRET not in streamed(pieces(text, cuts))
    assert streamed(pieces(text, cuts)) == "".join(around)


@given(before=PLAIN, opening=OPENINGS, after=ANYTHING.filter(lambda text: "/" not in text))
def test_a_block_that_nobody_closes_hides_all_that_follows(
    before: str, opening: str, after: str
) -> None:
    assert scrub(f"{before}{opening}{after}") == before


@given(text=st.text(), cuts=st.lists(st.integers(0, 400)))
def test_text_without_a_block_passes_unchanged(text: str, cuts: list[int]) -> None:
    assert streamed(pieces(text, cuts)) == text


@given(deltas=st.lists(st.one_of(PLAIN, LOOSE, OPENINGS, CLOSINGS, st.text(max_size=20))))
def test_at_no_moment_more_than_a_tag_is_held_back(deltas: list[str]) -> None:
    scrubber = Scrubber()
    given_, shown = "", ""
    for delta in deltas:
        given_ += delta
        shown += scrubber.push(delta)
        assert len(scrubber.held) < LONGEST_TAG
        assert given_.endswith(scrubber.held)
        # What is shown by now is all that can be known of what was given by now.
        assert shown == scrub(given_[: len(given_) - len(scrubber.held)])


@given(
    text=st.lists(
        st.sampled_from(
            [
                "<",
                "</",
                "mem",
                "ory-context",
                " ",
                ">",
                "<memory-context>",
                "</memory-context>",
                "x",
            ]
        )
    ).map("".join)
    | ANYTHING
)
def test_what_was_scrubbed_has_nothing_left_to_scrub(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once
    assert streamed(list(text)) == once


def test_a_tag_inside_a_tag_makes_no_third_one() -> None:
    halves = "<mem</memory-context>ory-context>secret</mem</memory-context>ory-context>"
    assert scrub(halves) == "<mem<…>ory-context>secret</mem<…>ory-context>"
    assert scrub("<memory-context a=<memory-context>x</memory-context>>b") == (
        "<memory-context a=<…>>b"
    )


@pytest.mark.parametrize("blanks", [113, 500, 1_000])
def test_a_tag_with_many_blanks_is_a_tag(blanks: int) -> None:
    gap = " " * blanks
    assert scrub(f"a<memory-context{gap}>b</{gap}memory-context>c") == "ac"


@given(words=st.text(st.characters(exclude_characters="<"), min_size=1))
def test_text_without_a_bracket_is_not_held_back_at_all(words: str) -> None:
    assert Scrubber().push(words) == words


def test_a_bracket_that_begins_no_tag_is_shown_at_once() -> None:
    scrubber = Scrubber()
    assert [scrubber.push(delta) for delta in ("a <", "b> c <", "mem", "ory")] == [
        "a ",
        "<b> c ",
        "",
        "",
    ]
    assert scrubber.held == "<memory"
    assert scrubber.push("-bank>") == "<memory-bank>"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a<memory-context>b</memory-context>c", "ac"),
        ("a<memory-context>b<memory-context>c</memory-context>d</memory-context>e", "ae"),
        ("a</memory-context>b", "ab"),
        ("a<memory-context/>b", "ab"),
        ("a<memory-context>b", "a"),
        ("a<memory-context", "a<memory-context"),
        ("a<memory-contexts>b", "a<memory-contexts>b"),
        (f"a<memory-context {'x' * LONGEST_TAG}>b", f"a<memory-context {'x' * LONGEST_TAG}>b"),
        ("a<memory-context>b</memory-context", "a"),
    ],
)
def test_what_a_tag_is(text: str, left: str) -> None:
    assert scrub(text) == left


def test_a_long_text_with_many_brackets_takes_linear_time() -> None:
    text = "<memory-context " * 60_000 + "< " * 60_000
    assert scrub(text) == text


@given(text=ANYTHING)
def test_what_has_lost_its_tags_has_none(text: str) -> None:
    assert re.search(r"<\s*/?\s*memory-context\s*>", without_tags(text), re.IGNORECASE) is None


def test_tags_go_and_what_they_held_stays() -> None:
    text = "<memory-context>\nThe port is 8443.\n</memory-context>"
    assert without_tags(text) == "\nThe port is 8443.\n"
    assert without_tags("<mem</memory-context>ory-context>x") == "x"
