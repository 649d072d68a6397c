"""Whatever stands in a transcript, it stays words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.views.html.parts import attribute, escaped, line_of, web_address
from tests.views.html.pages import read

ANYTHING = st.text(st.characters(codec=None) | st.sampled_from("<>&\"'\r\n\x00\x1b\u202e\ud800"))


@given(ANYTHING)
def test_any_text_adds_no_markup_and_can_be_written(text: str) -> None:
    page = read(f'<p title="{attribute(text)}">{escaped(text)}</p>')
    assert [tag for tag, _ in page.tags] == ["p"]
    assert set(page.tags[0][1]) == {"title"}
    escaped(text).encode("utf-8")


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs"])))
def test_ordinary_words_are_read_back_as_they_were(text: str) -> None:
    assert read(f"<p>{escaped(text)}</p>").text("p") == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("\" onload='x'", "&quot; onload=&#x27;x&#x27;"),
        ("a\x00b\x07\x7f", "a\u2400b\u2407\u2421"),
        ("\x1b[1;31mred\x1b[0m and \x1b]0;", "red and \u241b]0;"),
        ("safe\u202egnp.exe\u2066", "safe[U+202E]gnp.exe[U+2066]"),
        ("half \ud83d and \x85", "half \ufffd and \ufffd"),
        ("one\r\ntwo\rthree\tfour", "one\ntwo\nthree\tfour"),
        ("שלום \u200f!", "שלום \u200f!"),
    ],
)
def test_signs_that_deceive_or_break_are_shown_for_what_they_are(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_a_line_is_the_first_that_says_something() -> None:
    assert line_of("\n \n  first   line\nsecond", 40) == "first line"
    assert line_of("a long line of words", 10) == "a long li…"
    assert line_of("<b>", 10) == "&lt;b&gt;"
    assert line_of("\n\n", 10) == ""


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        " https://a.example",
        "https://a.example/\nx",
        "data:text/html,x",
        "//a.example",
        'https://a.example/"onclick="x',
        "file-123",
        "",
    ],
)
def test_only_addresses_of_the_web_can_be_followed(address: str) -> None:
    assert web_address(address) == ""


def test_an_address_of_the_web_is_escaped() -> None:
    assert web_address("https://a.example/?a=1&b=2") == "https://a.example/?a=1&amp;b=2"
