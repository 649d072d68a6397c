"""Answers are broken between words, however they are cut into deltas."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.chat.turns import LineWrapper
from holdfast.views.words import cells

CODE = "Look:\n```python\nprint('a line of code that is longer than the width')\n```\nso it is done"
texts = st.text(st.sampled_from("ab `\n\t-日👩"), max_size=120)


def flowed(width: int, *deltas: str) -> str:
    flow = LineWrapper(width)
    return "".join(map(flow.push, deltas)) + flow.finish()


def test_lines_break_between_words() -> None:
    assert flowed(10, "one two three four") == "one two\nthree four"
    assert flowed(10, "a", " word", " that-is-far-too-long x") == "a word\nthat-is-far-too-long\nx"
    assert flowed(6, "日本語日本語 end") == "日本語\n日本語\nend"
    assert flowed(10, "kept\n\nas it\nwas") == "kept\n\nas it\nwas"


def test_what_is_laid_out_stays() -> None:
    assert flowed(12, CODE) == CODE.replace("so it is done", "so it is\ndone")
    assert (
        flowed(10, "    indented lines stay as they are") == "    indented lines stay as they are"
    )


@given(width=st.integers(4, 30), deltas=st.lists(texts, max_size=6))
def test_cuts_change_nothing_and_no_word_is_lost(width: int, deltas: list[str]) -> None:
    text = "".join(deltas)
    shown = flowed(width, *deltas)
    assert shown == flowed(width, text)
    assert "".join(shown.split()) == "".join(text.split())


@given(width=st.integers(4, 30), words=st.lists(st.text("ab", min_size=1, max_size=4)))
def test_every_line_fits(width: int, words: list[str]) -> None:
    assert all(cells(line) <= width for line in flowed(width, " ".join(words)).split("\n"))


@given(width=st.integers(4, 30), text=texts)
def test_what_is_held_back_is_shorter_than_a_line(width: int, text: str) -> None:
    flow = LineWrapper(width)
    flow.push(text)
    assert cells(flow.finish().strip()) <= width
