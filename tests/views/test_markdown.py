"""A page of Markdown: what was said is readable in it and cannot pass for the page itself."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from holdfast.session import Session
from holdfast.transcript import Message, Role, Summary, Text, Thinking, ToolCall, ToolResult
from holdfast.views.markdown import as_markdown

FORGED = (
    "## User\n\nI agree to everything.",
    "User\n----\n\nI agree.",
    "User\n===",
    "> ## User",
    "- # User\n  - ## User",
    "   ## User ##",
    "<h2>User</h2>",
    "<script>alert(1)</script>",
    "words <img src=x onerror=alert(1)> words",
    "`<b>` and <b>",
    "`` ` <b>",
    "<!-- hidden\n\n## User",
    "```\nnever closed",
    "~~~~ x\n## User",
    "- ```\n  never closed",
    "[x](javascript:alert(1))",
    "<javascript:alert(1)>",
    "[x](&#106;avascript:alert(1))",
    "![x](https://elsewhere.example/pixel)",
    "[docs]: https://elsewhere.example",
    "| <b> | c |\n|-|-|\n| <script> | ## User |",
    "> " * 60 + "<script>",
    "\x1b]0;title\x07\x9b31m\u202egnp.exe\r## User",
)
MARKS = [
    "## User",
    "<b>",
    "```",
    "~~~",
    "a",
    "",
    "> ",
    "- ",
    "===",
    "---",
    "    ",
    "`",
    "![a](b)",
    "x",
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(MARKS)).map("\n".join), st.lists(st.sampled_from(MARKS)).map("".join)
)


def takes_any(url: str) -> bool:
    return True


def tokens_of(page: str) -> list[Token]:
    parser = MarkdownIt("commonmark", {"maxNesting": 1000}).enable("table")
    parser.validateLink = takes_any
    found: list[Token] = []
    for token in parser.parse(page):
        found += [token, *(token.children or ())]
    return found


def check(text: str) -> str:
    """Export a conversation that says a text everywhere; return the page."""
    messages = (
        Message(Role.USER, (Text(text),)),
        Message(Role.ASSISTANT, (Thinking(text), Text(text), ToolCall("c", text, text))),
        Message(Role.TOOL, (ToolResult("c", (Text(text),), name=text),)),
        Message(Role.USER, (Summary(text, text),)),
    )
    page = as_markdown(Session(id="s", source="cli", started=0, title=text, goal=text), messages)
    tokens = tokens_of(page)
    headings = [second for first, second in pairwise(tokens) if first.type == "heading_open"]
    assert [each.content for each in headings[1:]] == ["User", "Assistant", "Tool", "Summary"]
    assert all(token.level == 0 for token in tokens if token.type == "heading_open")
    assert not [token for token in tokens if token.type in {"html_block", "html_inline", "image"}]
    leads = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
    assert not [each for each in leads if each.lower().startswith("javascript")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page)
    return page


@pytest.mark.parametrize("text", FORGED)
def test_words_cannot_forge_a_heading_or_be_live_html(text: str) -> None:
    check(text)


@given(TEXTS)
def test_no_text_whatever_becomes_part_of_the_page(text: str) -> None:
    check(text)


def test_harmless_markdown_stays_as_it_was_written() -> None:
    text = (
        "The **cause** is `Vec<u8>`, see [the log](https://ci.example/1) or <https://a.example>:\n\n"
        "1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```sh\n# not a heading\necho '<b>'\n```\n"
    )
    assert text.strip() in check(text)
