"""Layout counts the columns of a terminal, not characters, and lets nothing through."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.screen import Styled, crop_middle, plain, table, wrapped
from holdfast.views.words import cells, clean, crop


@given(st.text(max_size=60), st.integers(2, 40))
def test_cropped_text_fits(text: str, width: int) -> None:
    assert cells(crop(clean(text), width)) <= width


@given(st.text(max_size=60))
def test_clean_text_is_one_line_that_a_terminal_only_shows(text: str) -> None:
    shown = clean(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in shown)
    assert clean(shown) == shown


def test_wide_characters_take_two_columns() -> None:
    assert (cells("日本"), cells("e\u0301"), crop("日本語です", 5)) == (4, 1, "日本…")


def test_a_table_lines_up() -> None:
    rows = [("#", "words"), ("1", "日本"), ("100", "a long line of words that does not fit")]
    assert plain(table(rows, 24, right=frozenset({0}))).split("\n") == [
        "    #  words",
        "    1  日本",
        "  100  a long line of w…",
    ]


def test_a_span_is_safe_by_itself() -> None:
    assert Styled("\x1b[31mred\n").text == "[31mred "


def test_wrapped_lines_hang_under_their_words() -> None:
    assert wrapped("- one two three four five six", 20, "  ") == [
        "  - one two three",
        "    four five six",
    ]


@given(st.text(max_size=60), st.integers(4, 40))
def test_text_cut_in_the_middle_fits_and_keeps_its_ends(text: str, width: int) -> None:
    shown = clean(text)
    found = crop_middle(shown, width)
    assert cells(found) <= width
    assert found == shown or shown.endswith(found.rpartition("…")[2])


def test_a_name_is_cut_in_the_middle_and_a_table_can_be_as_wide_as_it_takes() -> None:
    assert crop_middle("a-model-of-2026-11-16", 12) == "a-mod…-11-16"
    rows = [("#", "words"), ("1", "words " * 30)]
    assert plain(table(rows, None, right=frozenset())).endswith("  1  " + ("words " * 30).rstrip())
