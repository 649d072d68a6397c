"""Markdown is rendered, HTML is only shown, and no word is lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.views.html.parts import preformatted, prose
from tests.views.html.pages import Reading, read

WORDS = (
    "```|````|~~~|```py|a||  b|</pre>|> a|- b|    a|[a]: b|3. a|# b|===|&a;|<!-- b|![a](b)|*a*"
).split("|")
LINES = st.lists(st.sampled_from([*WORDS, "| a | b |", "|-|-|", "| a | b | a |"]))
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](//elsewhere.example/a)",
    "![x](https://elsewhere.example/pixel.png)",
    '[x](https://a.example/"onmouseover="alert(1))',
    '[x](https://a.example "title\\" onmouseover=\\"alert(1)")',
    "<https://a.example/><script>",
    "[x]: javascript:alert(1)\n\n[x]",
    "```<script>\n</pre><script>alert(1)</script>\n```",
    "| <script> | b |\n|:-:|-|\n| </td><script>alert(1) | b |",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    "\u202e\x1b]0;title\x07",
)


def everything(page: Reading) -> str:
    return "".join(words for _, words in page.words)


def test_markdown_is_rendered() -> None:
    page = read(
        prose(
            "# Findings\n\nThe **cause** is `retry < 2`:\n\n1. one\n3. three\n\n"
            "| file | lines |\n|---|--:|\n| a.py | 10 |\n\n> said\n\n"
            "See [the log](https://ci.example/1).\nNext ~~line~~"
        )
    )
    assert page.text("h4") == "Findings"
    assert page.text("strong") == "cause"
    assert page.text("code") == "retry < 2"
    assert page.values("value") == ["1", "3"]
    assert (page.text("th"), page.text("td")) == ("filelines", "a.py10")
    assert ("td", {"class": "right"}) in page.tags
    assert page.count("blockquote") == 1
    assert page.values("href") == ["https://ci.example/1"]
    assert "Next" in page.text("p")
    assert page.text("s") == "line"


def test_a_fence_is_a_block_of_code_between_words() -> None:
    page = read(prose("before\n```python\nx < 1\n```\nafter *it*"))
    assert page.text("pre").strip() == "x < 1"
    assert page.text("p") == "beforepythonafter "


def test_a_fence_that_never_closes_reaches_to_the_end() -> None:
    assert read(prose("so:\n~~~\none\n\ntwo")).text("pre").strip() == "one\n\ntwo"


def test_a_first_line_that_is_empty_is_kept() -> None:
    assert preformatted("\nx") == '<pre dir="auto">\n\nx</pre>'


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_a_text_does_anything_in_a_browser(text: str) -> None:
    page = read(prose(text))
    for tag in ("script", "img", "iframe", "style", "svg", "form"):
        assert page.count(tag) == 0
    names = {name for _, attributes in page.tags for name in attributes}
    assert names <= {"class", "dir", "href", "rel", "title", "value"}
    assert all(re.match("https?://", each) for each in page.values("href"))
    assert not re.search("[\x1b\x07\u202e]", everything(page))


@given(LINES)
def test_no_word_is_lost_whatever_markdown_does(lines: list[str]) -> None:
    text = "\n".join(lines)
    page = read(prose(text))
    shown = " ".join([everything(page), *page.values("href"), *page.values("value")])
    assert [shown.count(word) for word in "ab3"] == [text.count(word) for word in "ab3"]


@pytest.mark.parametrize("depth", [10, 50, 5_000])
@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", "[", "*a "])
def test_what_is_nested_too_deep_is_shown_as_it_was_written(mark: str, depth: int) -> None:
    assert "the end" in everything(read(prose(mark * depth + "the end")))
