"""A run fits on the screen whatever its figures are, and no figure is cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.screen import plain
from holdfast.cli.trajectories.view import drawn
from holdfast.trajectories.metrics import Aggregate
from holdfast.views.words import cells
from tests.cli.trajectories import TARGET, add, aggregates, fail, of_a_million, small

FIGURE = re.compile(r"\d[\d,.]*")


def lines_of(aggregate: Aggregate, width: int, *, rehearsed: bool = False) -> list[str]:
    lines = drawn(aggregate, width, target=TARGET, seconds=2.0, rehearsed=rehearsed)
    return plain(lines).splitlines()


def test_a_run_is_shown_with_its_figures_its_spread_and_its_sources() -> None:
    assert lines_of(small(), 80) == [
        "compressed 3 of 6 trajectories, 61% fewer tokens",
        "",
        "  trajectories        6",
        "    compressed        3  50%  #########################",
        "    under the target  2  33%  #################",
        "    still over limit  1  17%  ########",
        "    failed            1  17%  ########",
        "",
        "           before   after   fewer  ratio",
        "  tokens  115,000  44,500  70,500   0.39",
        "  turns       230      89     141   0.39",
        "",
        "  summaries  3 calls, no errors",
        "  secrets    none masked",
        "  time       2.0 s, 3.0 trajectories/s, 57,500 tokens/s",
        "",
        "                    p5    p25     p50     p75     p95",
        "  tokens before  4,000  8,979  24,168  38,111  39,651",
        "  tokens after   4,000  8,979   9,529   9,914  12,000",
        "",
        "trajectories by their tokens",
        "   up to  before                              after",
        "   5,000  ########### 1                       ########### 1",
        "  10,000  ########### 1                       ################################ 3",
        "  target  ----------------------------------------------------------------------",
        "  15,000                                      ########### 1",
        "  20,000",
        "  25,000  ########### 1",
        "  30,000",
        "  35,000",
        "  40,000  ##################### 2",
        "",
        "  trajectories  tokens before  tokens after  ratio  source",
        "             3         78,000        22,000   0.28  b.jsonl",
        "             3         37,000        22,500   0.61  a.jsonl",
    ]


def test_on_a_narrow_screen_tables_turn_and_histograms_stand_below_each_other() -> None:
    assert lines_of(of_a_million(), 40) == [
        "compressed 907,000 of 1,000,000",
        "trajectories, 81% fewer tokens",
        "",
        "  trajectories        1,000,000",
        "    compressed          907,000  91%",
        "    under the target     93,000   9%",
        "    still over limit          0   0%",
        "    failed                    0   0%",
        "",
        "                  tokens       turns",
        "  before  49,451,500,000  98,404,000",
        "  after    9,166,188,000  17,795,000",
        "  fewer   40,285,312,000  80,609,000",
        "  ratio             0.19        0.18",
        "",
        "  summaries  907,000 calls, no errors",
        "  secrets    none masked",
        "  time       2.0 s,",
        "             500,000 trajectories/s,",
        "             24,725,750,000 tokens/s",
        "",
        "       tokens before  tokens after",
        "  p5           5,808         5,808",
        "  p25         25,145         9,342",
        "  p50         49,301         9,529",
        "  p75         73,258         9,719",
        "  p95         92,909         9,914",
        "",
        "trajectories by their tokens",
        "    up to  before",
        "   10,000  ## 93,000",
        "   target  -----------------------------",
        "   20,000  ## 104,000",
        "   30,000  ## 100,000",
        "   40,000  ## 106,000",
        "   50,000  ## 101,000",
        "   60,000  ## 100,000",
        "   70,000  ## 105,000",
        "   80,000  ## 107,000",
        "   90,000  ## 104,000",
        "  100,000  ## 80,000",
        "    up to  after",
        "   10,000  ################### 1,000,000",
        "   target  -----------------------------",
        "",
        "  trajectories  ratio  source",
        "        77,000   0.18  part-00011.jsonl",
        "        77,000   0.18  part-00010.jsonl",
        "        77,000   0.18  part-00009.jsonl",
        "        77,000   0.18  part-00008.jsonl",
        "        77,000   0.18  part-00007.jsonl",
        "        77,000   0.19  part-00006.jsonl",
        "        77,000   0.19  part-00005.jsonl",
        "        77,000   0.19  part-00004.jsonl",
        "        77,000   0.19  part-00003.jsonl",
        "        77,000   0.19  part-00002.jsonl",
        "  and 3 more sources",
    ]


def test_a_dry_run_says_that_figures_are_estimates() -> None:
    words = " ".join(lines_of(small(), 40, rehearsed=True))
    assert words.startswith(
        "would compress 3 of 6 trajectories, 61% fewer tokens a dry run: nothing was written, and "
        "figures of what would be left are estimates"
    )
    assert "summaries" not in words
    assert "estimates" not in " ".join(lines_of(small(), 40))


def test_nothing_and_failures_alone_are_told() -> None:
    assert lines_of(Aggregate(), 80) == ["nothing to compress: no trajectory was found"]
    failures = Aggregate()
    fail(failures)
    assert lines_of(failures, 40) == [
        "nothing to compress: 1 trajectory failed",
        "",
        "  trajectories        1",
        "    compressed        0    0%",
        "    under the target  0    0%",
        "    still over limit  0    0%",
        "    failed            1  100%  #########",
        "",
        "  summaries  no model was asked",
        "  secrets    none masked",
        "  time       2.0 s",
    ]


def test_only_the_largest_sources_are_named() -> None:
    aggregate = Aggregate()
    for number in range(13):
        add(aggregate, 1_000 + number, 1_000, f"{number}.jsonl")
    lines = lines_of(aggregate, 80)
    assert lines[-12].split() == [
        *("trajectories", "tokens", "before", "tokens", "after", "ratio", "source")
    ]
    assert [line.split()[-1] for line in lines[-11:-1]] == [
        f"{number}.jsonl" for number in range(12, 2, -1)
    ]
    assert lines[-1] == "  and 3 more sources"


def test_one_source_needs_no_table_of_sources() -> None:
    aggregate = Aggregate()
    add(aggregate, 20_000, 9_000)
    assert not any("source" in line for line in lines_of(aggregate, 80))


def test_a_source_with_a_hostile_name_is_shown_and_not_obeyed() -> None:
    aggregate = Aggregate()
    for name in ("\x1b[31mred\n\u202e.jsonl", ""):
        add(aggregate, 20_000, 9_000, name)
    shown = "\n".join(lines_of(aggregate, 80)[-2:])
    assert "[31mred .jsonl" in shown
    assert "(no name)" in shown
    assert "\x1b" not in shown


def test_blocks_are_finer_than_signs() -> None:
    lines = plain(drawn(small(), 80, target=TARGET, colored=True)).splitlines()
    assert lines[3:7] == [
        "    compressed        3  50%  █████████████████████████",
        "    under the target  2  33%  ████████████████▋",
        "    still over limit  1  17%  ████████▍",
        "    failed            1  17%  ████████▍",
    ]


@pytest.mark.parametrize("width", [40, 63, 64, 80, 100, 200])
def test_a_million_trajectories_fit_any_screen(width: int) -> None:
    lines = lines_of(of_a_million(), width)
    assert max(map(cells, lines)) <= min(width, 100)
    assert "1,000,000" in "\n".join(lines)


@given(
    aggregates(),
    st.integers(40, 120),
    st.floats(0.001, 10**7),
    st.booleans(),
    st.integers(1, 10**7),
)
def test_no_line_is_wider_than_the_screen(
    aggregate: Aggregate, width: int, seconds: float, colored: bool, target: int
) -> None:
    lines = plain(drawn(aggregate, width, target=target, seconds=seconds, colored=colored))
    assert max(map(cells, lines.splitlines())) <= width


@given(aggregates())
def test_the_same_figures_are_told_on_a_wide_screen_and_on_a_narrow_one(
    aggregate: Aggregate,
) -> None:
    aggregate.by_source.clear()
    wide, narrow = (
        sorted(
            FIGURE.findall("\n".join(lines_of(aggregate, width)).partition("\ntrajectories by")[0])
        )
        for width in (100, 40)
    )
    assert wide == narrow
