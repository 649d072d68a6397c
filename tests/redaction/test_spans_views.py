"""The views agree with the text, position for position."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction.spans import SHORTEST_RUN, long_runs, run_start, survey, unglued


@given(st.text())
def test_every_view_has_one_byte_for_each_character(text: str) -> None:
    view = survey(text)
    assert {len(view.raw), len(view.lower), len(view.runs)} == {len(text)}


@given(st.text(alphabet="ab_-9 .é", max_size=300))
def test_long_runs_are_exactly_the_long_stretches_of_token_characters(text: str) -> None:
    expected: list[tuple[int, int]] = []
    start = 0
    for end in range(len(text) + 1):
        if end == len(text) or text[end] in " .é":
            if end - start >= SHORTEST_RUN:
                expected.append((start, end))
            start = end + 1
    assert list(long_runs(survey(text))) == expected


def test_a_run_is_followed_back_to_its_start_but_not_further_than_allowed() -> None:
    view = survey("x = " + "a" * 100)
    assert run_start(view, 30) == 4
    assert run_start(view, 90, reach=10) == 80


@pytest.mark.parametrize("glue", [r"\n", r"\t", r"\u0009", "%20", "[32m", "[0;31m", "; "])
def test_an_escape_sequence_is_not_part_of_what_follows(glue: str) -> None:
    text = f"{glue}ghp_token"
    start = survey(text).runs.rfind(b" ", 0, text.index("ghp_")) + 1
    assert text[unglued(text.encode(), start) :] == "ghp_token"


@pytest.mark.parametrize("text", ["ghp_token", r"\ghp_token", "[ghp_token", ";32ghp_token"])
def test_a_run_without_an_escape_sequence_begins_where_it_stands(text: str) -> None:
    start = len(text) - len(text.lstrip("\\[;"))
    assert unglued(text.encode(), start) == start
