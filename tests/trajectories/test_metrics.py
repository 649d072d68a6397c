"""Figures of trajectories: the names that users know, and spreads in constant memory."""

import math
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.trajectories.metrics import Aggregate, Distribution, TrajectoryMetrics

METRICS = TrajectoryMetrics(
    original_tokens=20_000,
    compressed_tokens=15_000,
    original_turns=40,
    compressed_turns=31,
    turns_compressed_start_idx=4,
    turns_compressed_end_idx=14,
    was_compressed=True,
    summarization_api_calls=3,
    summarization_errors=1,
    summary_tokens=700,
    summary_origin="model",
    cost=0.25,
    seconds=1.5,
)
SKIPPED = TrajectoryMetrics(
    original_tokens=100,
    compressed_tokens=100,
    original_turns=4,
    compressed_turns=4,
    skipped_under_target=True,
    redacted_turns=2,
)

figures = st.lists(
    st.floats(0.001, 1e9, exclude_min=True) | st.integers(0, 200_000).map(float),
    min_size=1,
    max_size=60,
)


def spread(numbers: list[float]) -> Distribution:
    made = Distribution()
    for number in numbers:
        made.add(number)
    return made


def test_a_trajectory_is_told_by_the_names_that_users_of_hermes_know() -> None:
    assert METRICS.as_json() == {
        "original_tokens": 20_000,
        "compressed_tokens": 15_000,
        "tokens_saved": 5_000,
        "compression_ratio": 0.75,
        "original_turns": 40,
        "compressed_turns": 31,
        "turns_removed": 9,
        "compression_region": {"start_idx": 4, "end_idx": 14, "turns_count": 10},
        "was_compressed": True,
        "still_over_limit": False,
        "skipped_under_target": False,
        "summarization_api_calls": 3,
        "summarization_errors": 1,
        "summary_tokens": 700,
        "summary_origin": "model",
        "redacted_turns": 0,
        "cost": 0.25,
        "seconds": 1.5,
    }
    assert SKIPPED.as_json()["compression_region"] == {
        "start_idx": -1,
        "end_idx": -1,
        "turns_count": 0,
    }


def test_a_trajectory_of_nothing_has_a_ratio() -> None:
    empty = TrajectoryMetrics(
        original_tokens=0, compressed_tokens=0, original_turns=0, compressed_turns=0
    )
    assert empty.compression_ratio == 0.0


def test_a_run_is_told_by_the_names_that_users_of_hermes_know() -> None:
    run = Aggregate()
    run.add({"source": "a.jsonl", **METRICS.as_json()})
    run.add({"source": "b.jsonl", **SKIPPED.as_json()})
    run.add({"source": "b.jsonl", "error": "it is no JSON"})
    told = run.as_json()
    assert {
        name: told[name] for name in list(told) if name not in {"distributions", "by_source"}
    } == {
        "summary": {
            "total_trajectories": 2,
            "trajectories_compressed": 1,
            "trajectories_skipped_under_target": 1,
            "trajectories_still_over_limit": 0,
            "trajectories_failed": 1,
            "compression_rate": 0.5,
        },
        "tokens": {
            "total_before": 20_100,
            "total_after": 15_100,
            "total_saved": 5_000,
            "overall_compression_ratio": 0.7512,
        },
        "turns": {"total_before": 44, "total_after": 35, "total_removed": 9, "redacted": 2},
        "summarization": {
            "total_api_calls": 3,
            "total_errors": 1,
            "success_rate": pytest.approx(0.6667),
            "cost": 0.25,
        },
        "averages": {
            "avg_compression_ratio": 0.75,
            "avg_tokens_saved_per_compressed": 5_000.0,
            "avg_turns_removed_per_compressed": 9.0,
        },
    }


def test_each_source_has_its_own_sums() -> None:
    run = Aggregate()
    run.add({"source": "a.jsonl", **METRICS.as_json()})
    run.add({"source": "b.jsonl", **SKIPPED.as_json()})
    run.add({"source": "b.jsonl", "error": "it is no JSON"})
    alone = Aggregate()
    alone.add({"source": "b.jsonl", **SKIPPED.as_json()})
    alone.add({"source": "b.jsonl", "error": "it is no JSON"})
    assert list(run.by_source) == ["a.jsonl", "b.jsonl"]
    assert run.by_source["b.jsonl"] == alone.totals == alone.by_source["b.jsonl"]


def test_a_run_of_nothing_is_told() -> None:
    told = Aggregate().as_json()
    assert told["summary"] == {
        "total_trajectories": 0,
        "trajectories_compressed": 0,
        "trajectories_skipped_under_target": 0,
        "trajectories_still_over_limit": 0,
        "trajectories_failed": 0,
        "compression_rate": 0.0,
    }
    assert told["averages"] == {
        "avg_compression_ratio": 1.0,
        "avg_tokens_saved_per_compressed": 0.0,
        "avg_turns_removed_per_compressed": 0.0,
    }
    assert told["distributions"] == {
        name: {"count": 0}
        for name in (
            "tokens_before",
            "tokens_after",
            "tokens_saved",
            "turns_removed",
            "compression_ratio",
        )
    }
    assert told["by_source"] == {}


def test_a_figure_that_is_none_counts_as_nothing() -> None:
    run = Aggregate()
    run.add({"original_tokens": "many", "compressed_tokens": None})
    assert run.totals.total_tokens_before == 0
    assert run.tokens_before.as_json()["mean"] == 0.0
    assert list(run.by_source) == [""]


@given(figures, st.sampled_from([1, 5, 10, 25, 50, 75, 90, 95, 99, 100]))
def test_a_percentile_is_exact_to_two_per_cent(numbers: list[float], percent: int) -> None:
    place = max(math.ceil(len(numbers) * percent / 100), 1) - 1
    exact = sorted(numbers)[place]
    assert spread(numbers).percentile(percent) == pytest.approx(exact, rel=0.02)


@given(figures)
def test_a_spread_tells_its_number_sum_and_extremes(numbers: list[float]) -> None:
    made = spread(numbers)
    assert (made.count, made.least, made.most) == (len(numbers), min(numbers), max(numbers))
    assert made.total == pytest.approx(sum(numbers))


@given(figures, st.integers(1, 20))
def test_a_histogram_counts_every_figure_once_in_bins_of_one_width(
    numbers: list[float], bins: int
) -> None:
    shown = spread(numbers).histogram(bins)
    assert sum(number for _, _, number in shown) == len(numbers)
    assert len(shown) == bins
    assert shown[0][0] == min(numbers)
    assert all(one[1] == other[0] for one, other in pairwise(shown))
    assert max(numbers) <= shown[-1][1] or shown[-1][1] == pytest.approx(max(numbers))


def test_a_spread_is_told_with_percentiles_and_a_histogram() -> None:
    told = spread([10.0] * 99 + [1_000.0]).as_json()
    assert {name: told[name] for name in ("count", "mean", "min", "max")} == {
        "count": 100,
        "mean": 19.9,
        "min": 10.0,
        "max": 1_000.0,
    }
    assert told["percentiles"] == {
        f"p{percent}": pytest.approx(10.0, rel=0.02)
        for percent in (1, 5, 10, 25, 50, 75, 90, 95, 99)
    }
    histogram = told["histogram"]
    assert isinstance(histogram, list)
    assert [each["count"] for each in histogram] == [99, *[0] * 10, 1]


def test_a_spread_of_nothing_is_told() -> None:
    empty = Distribution()
    assert (empty.percentile(50), empty.histogram(), empty.as_json()) == (0.0, [], {"count": 0})


def test_many_figures_take_the_memory_of_few() -> None:
    few, many = Distribution(), Distribution()
    for number in range(1, 3_000):
        few.add(number * 100)
    for number in range(1, 60_000):
        many.add(number * 5)
    assert size_of(many) <= size_of(few) * 2


def size_of(made: Distribution) -> int:
    """Return the bytes of what a spread holds."""
    held = vars(made).values()
    inner = [each for value in held if isinstance(value, dict) for each in value]
    return sum(map(sys.getsizeof, [*held, *inner]))
