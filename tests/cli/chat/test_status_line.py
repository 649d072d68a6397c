"""The line below the prompt fits, whatever there is to say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.chat.room import CostStatus, status_line
from holdfast.cli.screen import plain
from holdfast.conversation.status import Status
from holdfast.session import Usage
from holdfast.views.words import cells

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
KNOWN = CostStatus(cached=0.5, cost=0.0123)


def words(status: Status, footing: CostStatus, width: int) -> str:
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
    assert words(full, CostStatus(trouble="memory has trouble"), 90) == (
        "████████████ 1,800/1,740 tokens (103%) · folding in the background · memory has trouble"
    )
    styles = [
        status_line(replace(STATUS, tokens=n), KNOWN, 80)[0].style for n in (10, 1_600, 1_740)
    ]
    assert styles == ["green", "bold yellow", "bold red"]
    undone = words(replace(STATUS, undone=True, model="", title=""), CostStatus(cost=12.3456), 200)
    assert undone == (
        "██████░░░░░░ 870/1,740 tokens (50%) · undone, /redo · $12.35 · folded 2x · no model · "
        "20260101_120000_00c0de"
    )


FAILED = "claude-haiku-4-5 is unavailable: HTTP 529; the deterministic record covers 24 messages"


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (40, "██████░░░░░░ 870/1,740 tokens (50%) · !"),
        (48, "██████░░░░░░ 870/1,740 tokens (50%) · warning"),
        (60, "██████░░░░░░ 870/1,740 tokens (50%) · warning, /status"),
        (80, "██████░░░░░░ 870/1,740 tokens (50%) · claude-haiku-4-5 is unavailable, /status"),
        (
            100,
            "██████░░░░░░ 870/1,740 tokens (50%) · claude-haiku-4-5 is unavailable, /status · "
            "cache 50% · $0.0123",
        ),
    ],
)
def test_what_is_wrong_comes_first_and_is_never_left_out(width: int, line: str) -> None:
    assert words(replace(STATUS, troubles=(FAILED, "another")), KNOWN, width) == line
    alert = status_line(replace(STATUS, troubles=(FAILED,)), KNOWN, width)[2]
    assert alert.style == "bold yellow"


@pytest.mark.parametrize(
    ("trouble", "shown"),
    [
        (f"not compacted: {FAILED}", "not compacted: claude-haiku-4-5 is unavailable"),
        ("not compacted: qwen3:8b failed: OSError: no", "not compacted: qwen3:8b failed"),
        ("Automatic compaction has stopped: two passes saved", "Automatic compaction has stopped"),
        ("the summarizer failed recently (m failed); it is", "the summarizer failed recently"),
        ("there is no space left.", "there is no space left"),
        ("x" * 60, "x" * 47 + "…"),
        ("\x1b[31m: odd", "[31m"),
        (": odd", ": odd"),
    ],
)
def test_what_is_wrong_is_said_by_its_first_clause(trouble: str, shown: str) -> None:
    line = words(replace(STATUS, troubles=(trouble,)), KNOWN, 200)
    assert line.split(" · ")[1] == f"{shown}, /status"


def test_the_way_to_the_threshold_is_told_by_the_bar_alone() -> None:
    pressed = replace(STATUS, pressure="Context is 85% to compaction (5,780/6,800 tokens)")
    assert words(pressed, KNOWN, 200) == words(STATUS, KNOWN, 200)


@given(
    width=st.integers(40, 200),
    title=st.text(max_size=60),
    model=st.text(max_size=40),
    tokens=st.integers(0, 10_000_000),
    trouble=st.text(max_size=90),
    compacting=st.booleans(),
)
def test_it_never_takes_two_lines(
    width: int, title: str, model: str, tokens: int, trouble: str, *, compacting: bool
) -> None:
    status = replace(STATUS, title=title, model=model, tokens=tokens, compacting=compacting)
    line = words(replace(status, troubles=(trouble,)), KNOWN, width)
    assert cells(line) <= width
    assert "\n" not in line
