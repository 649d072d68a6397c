"""The line below the prompt fits, whatever there is to say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.chat.status_line import Footing, status_line
from holdfast.cli.lines import cells, plain
from holdfast.conversation.status import Status
from holdfast.session import Usage

STATUS = Status(
    session="20260101_120000_00c0de",
    title="Set up the billing service",
    goal="",
    model="gpt-5",
    messages=12,
    tokens=870,
    threshold=1_740,
    context_length=2_048,
    stored=12,
    compactions=2,
    undone=False,
    compacting=False,
    usage=Usage(),
)
KNOWN = Footing(cached=0.5, cost=0.0123)


def words(status: Status, footing: Footing, width: int) -> str:
    return plain([status_line(status, footing, width)])


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (40, "██████░░░░░░ 870/1,740 tokens (50%)"),
        (60, "██████░░░░░░ 870/1,740 tokens (50%) · cache 50% · $0.0123"),
        (
            80,
            "██████░░░░░░ 870/1,740 tokens (50%) · cache 50% · $0.0123 · folded 2x · gpt-5",
        ),
        (
            200,
            "██████░░░░░░ 870/1,740 tokens (50%) · cache 50% · $0.0123 · folded 2x · gpt-5 · "
            "Set up the billing service",
        ),
    ],
)
def test_what_matters_least_goes_first(width: int, line: str) -> None:
    assert words(STATUS, KNOWN, width) == line


def test_it_fills_warns_and_says_what_goes_on_beside() -> None:
    full = replace(STATUS, tokens=1_800, compacting=True)
    assert words(full, Footing(trouble="memory has trouble"), 90) == (
        "████████████ 1,800/1,740 tokens (103%) · folding in the background · memory has trouble"
    )
    styles = [
        status_line(replace(STATUS, tokens=n), KNOWN, 80)[0].style for n in (10, 1_600, 1_740)
    ]
    assert styles == ["green", "bold yellow", "bold red"]
    undone = words(replace(STATUS, undone=True, model="", title=""), Footing(cost=12.3456), 200)
    assert undone == (
        "██████░░░░░░ 870/1,740 tokens (50%) · undone, /redo · $12.35 · folded 2x · no model · "
        "20260101_120000_00c0de"
    )


@given(
    width=st.integers(40, 200),
    title=st.text(max_size=60),
    model=st.text(max_size=40),
    tokens=st.integers(0, 10_000_000),
    compacting=st.booleans(),
)
def test_it_never_takes_two_lines(
    width: int, title: str, model: str, tokens: int, *, compacting: bool
) -> None:
    status = replace(STATUS, title=title, model=model, tokens=tokens, compacting=compacting)
    line = words(status, KNOWN, width)
    assert cells(line) <= width
    assert "\n" not in line
