"""A hit of a search keeps its words, with the matches told apart from the rest."""

from holdfast.recall import parse
from holdfast.views.search import SearchHit, marked_lines


def test_matches_are_told_apart_from_the_words_around_them() -> None:
    assert SearchHit.pieces("the >>>port<<< is >>>8443<<<") == [
        ("the ", False),
        ("port", True),
        (" is ", False),
        ("8443", True),
        ("", False),
    ]


def test_marks_that_do_not_close_are_words() -> None:
    assert SearchHit.pieces("a >>> b >>>c<<<") == [("a >>> b ", False), ("c", True), ("", False)]


def test_what_is_quoted_of_a_message_keeps_its_lines() -> None:
    text = "first line\n\n    the port is 8443\nlast line"
    assert marked_lines(text, parse("port")) == "first line\nthe >>>port<<< is 8443\nlast line"
