"""Bins hold every figure once, the target is an edge, and what is known exactly stays exact."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.trajectories.view import (
    Bins,
    count_in_bins,
    facts,
    headline,
    largest_sources,
    round_edges,
    round_step,
    share,
    token_bins,
    token_edges,
)
from holdfast.trajectories.metrics import Aggregate, Distribution, TrajectoryTotals
from tests.cli.trajectories import TARGET, add, aggregates, small


def spread_of(*figures: float) -> Distribution:
    spread = Distribution()
    for figure in figures:
        spread.add(figure)
    return spread


def test_figures_are_counted_between_edges() -> None:
    spread = spread_of(0, 1, 11, 19, 25, 95)
    assert count_in_bins(spread, (0, 10, 20, 30)) == Bins((0, 10, 20, 30), (2, 2, 1), 1)
    assert count_in_bins(spread_of(), (0, 10)) == Bins((0, 10), (0,), 0)


def test_what_lies_at_the_target_is_not_drawn_above_it() -> None:
    aggregate = Aggregate()
    for after in (9_980, 9_990, 10_000, 10_020, 30_000):
        add(aggregate, 40_000, after)
    edges = (0, TARGET, 2 * TARGET, 4 * TARGET)
    before, after = token_bins(aggregate, edges, TARGET)
    assert before == Bins(edges, (0, 0, 5), 0)
    assert after == Bins(edges, (3, 1, 1), 0)


@given(aggregates(), st.integers(1, 10**6), st.integers(2, 40), st.integers(50, 100))
def test_every_trajectory_is_in_one_bin(
    aggregate: Aggregate, target: int, most: int, percent: int
) -> None:
    edges = token_edges(aggregate, target, most, percent=percent)
    assert edges[0] == 0
    assert target in edges
    assert len(edges) <= most + 2
    assert all(low < high for low, high in pairwise(edges))
    for bins in token_bins(aggregate, edges, target):
        assert min(*bins.counts, bins.beyond) >= 0
        assert sum(bins.counts) + bins.beyond == aggregate.totals.total_trajectories


@given(aggregates(), st.integers(2, 40))
def test_edges_of_turns_are_round_and_few(aggregate: Aggregate, most: int) -> None:
    edges = round_edges(aggregate.turns_removed, most, percent=95)
    assert len(edges) <= most + 1
    bins = count_in_bins(aggregate.turns_removed, edges)
    assert sum(bins.counts) + bins.beyond == aggregate.turns_removed.count


@pytest.mark.parametrize(
    ("width", "step"),
    [(0.011, 0.02), (0.4, 0.5), (1, 1), (1.2, 2), (3, 5), (51, 100), (2_000, 2_000)],
)
def test_a_step_is_round(width: float, step: float) -> None:
    assert round_step(width) == pytest.approx(step)


def test_a_share_does_not_say_none_or_all_of_what_is_not() -> None:
    shares = [share(part, 1_000) for part in (0, 1, 10, 500, 999, 1_000)]
    assert shares == ["0%", "<1%", "1%", "50%", ">99%", "100%"]
    assert share(0, 0) == "0%"


def test_a_run_is_told_in_a_sentence() -> None:
    totals = small().totals
    assert headline(totals, rehearsed=False) == (
        "compressed",
        " 3 of 6 trajectories, 61% fewer tokens",
    )
    assert headline(totals, rehearsed=True)[0] == "would compress"
    assert headline(TrajectoryTotals(), rehearsed=False) == (
        "nothing to compress",
        ": no trajectory was found",
    )
    assert headline(TrajectoryTotals(trajectories_failed=2), rehearsed=False) == (
        "nothing to compress",
        ": 2 trajectories failed",
    )
    assert headline(TrajectoryTotals(total_trajectories=1), rehearsed=False) == (
        "compressed",
        " none of 1 trajectory",
    )


def test_what_else_is_known_has_its_labels() -> None:
    totals = small().totals
    assert dict(facts(totals, 2.0)) == {
        "summaries": "3 calls, no errors",
        "secrets": "none masked",
        "time": "2.0 s, 3.0 trajectories/s, 57,500 tokens/s",
    }
    totals = replace(totals, cost=0.0123, redacted_turns=1, total_summarization_errors=2)
    assert dict(facts(totals, None)) == {
        "summaries": "3 calls, 2 errors, $0.0123 by estimate",
        "secrets": "masked in 1 turn",
    }
    assert dict(facts(TrajectoryTotals(), 0.0)) == {
        "summaries": "no model was asked",
        "secrets": "none masked",
        "time": "0.00 s",
    }
    assert [label for label, _ in facts(totals, 1.0, rehearsed=True)] == ["secrets", "time"]


def test_the_sources_with_the_most_tokens_come_first() -> None:
    aggregate = Aggregate()
    for number in range(12):
        add(aggregate, 1_000 + number, 1_000, f"{number}.jsonl")
    named, others = largest_sources(aggregate)
    assert [name for name, _ in named] == [f"{number}.jsonl" for number in range(11, 1, -1)]
    assert others == 2
