"""Figures of runs over trajectories, for tests of how they are shown."""

from dataclasses import asdict, replace

from hypothesis import strategies as st

from holdfast.trajectories.metrics import (
    Aggregate,
    Distribution,
    TrajectoryMetrics,
    TrajectoryTotals,
)

TARGET = 10_000


def add(aggregate: Aggregate, before: int, after: int, source: str = "a.jsonl") -> None:
    """Count a trajectory that weighed so much, and weighs so much now."""
    metrics = TrajectoryMetrics(
        original_tokens=before,
        compressed_tokens=after,
        original_turns=max(before // 500, 2),
        compressed_turns=max(after // 500, 2),
        was_compressed=before > after,
        still_over_limit=after > TARGET,
        skipped_under_target=before <= TARGET,
        summarization_api_calls=int(before > after),
    )
    aggregate.add({"source": source, "number": 0, **metrics.as_json()})


def fail(aggregate: Aggregate, source: str = "a.jsonl") -> None:
    """Count a trajectory that could not be read."""
    aggregate.add({"source": source, "number": 0, "error": "no turns"})


def small() -> Aggregate:
    """Return a run with one trajectory of every kind, from two sources."""
    aggregate = Aggregate()
    add(aggregate, 4_000, 4_000)
    add(aggregate, 9_000, 9_000)
    add(aggregate, 24_000, 9_500)
    add(aggregate, 38_000, 10_000, "b.jsonl")
    add(aggregate, 40_000, 12_000, "b.jsonl")
    fail(aggregate, "b.jsonl")
    return aggregate


class Repeated(Distribution):
    """A spread in which every figure of another one is there many times."""

    def __init__(self, spread: Distribution, times: int) -> None:
        super().__init__()
        self.once = spread
        self.count = spread.count * times
        self.least, self.most = spread.least, spread.most

    def percentile(self, percent: float) -> float:
        return self.once.percentile(percent)


def of_a_million() -> Aggregate:
    """Return a run over a million trajectories of a thousand kinds."""
    once = Aggregate()
    for number in range(1_000):
        before = 1_000 + number * 97
        after = before if before <= TARGET else 9_000 + number
        add(once, before, after, f"part-{number % 13:05d}.jsonl")
    spreads = {name: Repeated(spread, 1_000) for name, spread in once.spreads()}
    by_source = {name: _repeated(totals) for name, totals in once.by_source.items()}
    return Aggregate(totals=_repeated(once.totals), by_source=by_source, **spreads)


def _repeated(totals: TrajectoryTotals) -> TrajectoryTotals:
    return TrajectoryTotals(**{name: figure * 1_000 for name, figure in asdict(totals).items()})


_TOKENS = st.one_of(st.integers(0, 40_000), st.integers(0, 10**10))


@st.composite
def aggregates(draw: st.DrawFn) -> Aggregate:
    """Draw a run over any trajectories, of which some failed, from sources with any names."""
    aggregate = Aggregate()
    sources = draw(st.lists(st.text(max_size=60), min_size=1, max_size=14))
    for before, after, source in draw(
        st.lists(st.tuples(_TOKENS, _TOKENS, st.sampled_from(sources)), max_size=30)
    ):
        add(aggregate, max(before, after), min(before, after), source)
    for source in draw(st.lists(st.sampled_from(sources), max_size=3)):
        fail(aggregate, source)
    aggregate.totals = replace(
        aggregate.totals,
        cost=draw(st.floats(0, 10**6)),
        redacted_turns=draw(st.integers(0, 10**7)),
    )
    return aggregate
