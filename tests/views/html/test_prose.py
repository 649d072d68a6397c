"""Words stay as they are; only fences make a difference."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.views.html.text import preformatted, prose
from tests.views.html.pages import read

LINES = st.lists(st.sampled_from(["```", "````", "~~~", "```py", "a", "", "  b", "</pre>"]))


def test_a_fence_is_a_block_of_code_between_words() -> None:
    assert prose("before\n```python\nx < 1\n```\nafter *it*") == (
        '<div class="words" dir="auto">before</div>'
        '<pre dir="auto">\nx &lt; 1</pre>'
        '<div class="words" dir="auto">after *it*</div>'
    )


def test_a_fence_closes_with_as_many_signs_as_opened_it() -> None:
    page = read(prose("````\n```\ninner\n```\n````\nwords"))
    assert page.text("pre").strip() == "```\ninner\n```"
    assert page.text("div") == "words"


def test_a_fence_that_never_closes_reaches_to_the_end() -> None:
    assert read(prose("so:\n~~~\none\n\ntwo")).text("pre").strip() == "one\n\ntwo"


def test_a_first_line_that_is_empty_is_kept() -> None:
    assert preformatted("\nx") == '<pre dir="auto">\n\nx</pre>'


@given(LINES)
def test_no_word_is_lost_whatever_the_fences_do(lines: list[str]) -> None:
    page = read(prose("\n".join(lines)))
    shown = page.text("pre") + page.text("div")
    assert [shown.count(word) for word in "ab"] == [
        sum(line.strip() == word for line in lines) for word in "ab"
    ]
