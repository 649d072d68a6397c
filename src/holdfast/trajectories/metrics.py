"""What became of trajectories: figures for each, and for all of them together.

Names are those that users of trajectory compressors know. Figures of many are kept in bins of
constant number, so that a million trajectories take no more memory than ten.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.formats.json_access import string

if TYPE_CHECKING:
    from collections.abc import Iterator

_PRECISION = 1.02
"""How much wider each bin is than the one before: percentiles are exact to two per cent."""
_SHOWN_BINS = 12
_PERCENTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryMetrics:
    """What became of one trajectory."""

    original_tokens: int
    compressed_tokens: int
    original_turns: int
    compressed_turns: int
    turns_compressed_start_idx: int = -1
    turns_compressed_end_idx: int = -1
    """Where the replaced turns end; the first that stayed."""
    was_compressed: bool = False
    still_over_limit: bool = False
    skipped_under_target: bool = False
    summarization_api_calls: int = 0
    summarization_errors: int = 0
    summary_tokens: int = 0
    summary_origin: str = ""
    """`model` or `deterministic`; "" where no summary was needed."""
    redacted_turns: int = 0
    """Turns in which a secret was masked."""
    cost: float = 0.0
    """US dollars that the summary cost, by estimate, where prices are known."""
    seconds: float = 0.0

    @property
    def tokens_saved(self) -> int:
        """Return how many tokens lighter it became."""
        return self.original_tokens - self.compressed_tokens

    @property
    def turns_removed(self) -> int:
        """Return how many turns fewer it has."""
        return self.original_turns - self.compressed_turns

    @property
    def turns_in_compressed_region(self) -> int:
        """Return how many turns the summary stands for."""
        return self.turns_compressed_end_idx - self.turns_compressed_start_idx

    @property
    def compression_ratio(self) -> float:
        """Return what it weighs against what it weighed."""
        return self.compressed_tokens / max(self.original_tokens, 1)

    def as_json(self) -> dict[str, object]:
        """Return the figures by their names."""
        fields = asdict(self)
        start, end = (fields.pop(f"turns_compressed_{name}_idx") for name in ("start", "end"))
        return {
            **fields,
            "tokens_saved": self.tokens_saved,
            "turns_removed": self.turns_removed,
            "compression_ratio": round(self.compression_ratio, 4),
            "compression_region": {
                "start_idx": start,
                "end_idx": end,
                "turns_count": self.turns_in_compressed_region,
            },
        }


class Distribution:
    """How figures are spread: their number, sum, extremes, and percentiles to two per cent."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.count = 0
        self.total = 0.0
        self.least = math.inf
        self.most = -math.inf
        self._bins = Counter[int]()

    def add(self, figure: float) -> None:
        """Count a figure; none is below zero."""
        self.count += 1
        self.total += figure
        self.least = min(self.least, figure)
        self.most = max(self.most, figure)
        above_zero = figure > 0.001
        place = math.floor(math.log(figure * 1_000) / math.log(_PRECISION)) if above_zero else -1
        self._bins[place] += 1

    def percentile(self, percent: float) -> float:
        """Return the figure that so many per cent do not exceed; 0 where there is none."""
        wanted = max(math.ceil(self.count * percent / 100), 1)
        for number in sorted(self._bins):
            wanted -= self._bins[number]
            if wanted <= 0:
                return min(max(_middle(number), self.least), self.most)
        return 0.0

    def histogram(self, bins: int = _SHOWN_BINS) -> list[tuple[float, float, int]]:
        """Return bins of equal width from the least to the most, each with its count."""
        if not self.count:
            return []
        width = (self.most - self.least) / bins or 1.0
        counts = [0] * bins
        for number, count in self._bins.items():
            place = int((min(max(_middle(number), self.least), self.most) - self.least) / width)
            counts[min(place, bins - 1)] += count
        edges = [self.least + width * place for place in range(bins + 1)]
        return [(edges[at], edges[at + 1], count) for at, count in enumerate(counts)]

    def as_json(self) -> dict[str, object]:
        """Return the spread with its percentiles and a histogram."""
        if not self.count:
            return {"count": 0}
        return {
            "count": self.count,
            "mean": round(self.total / self.count, 4),
            "min": round(self.least, 4),
            "max": round(self.most, 4),
            "percentiles": {
                f"p{percent}": round(self.percentile(percent), 4) for percent in _PERCENTILES
            },
            "histogram": [
                {"from": round(low, 4), "to": round(high, 4), "count": count}
                for low, high, count in self.histogram()
            ],
        }


def _middle(number: int) -> float:
    return 0.0 if number < 0 else _PRECISION ** (number + 0.5) / 1_000


@dataclass(frozen=True, slots=True)
class TrajectoryTotals:
    """Sums over trajectories, of all or of one source."""

    total_trajectories: int = 0
    trajectories_compressed: int = 0
    trajectories_skipped_under_target: int = 0
    trajectories_still_over_limit: int = 0
    trajectories_failed: int = 0
    total_tokens_before: int = 0
    total_tokens_after: int = 0
    total_turns_before: int = 0
    total_turns_after: int = 0
    total_summarization_calls: int = 0
    total_summarization_errors: int = 0
    redacted_turns: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def plus(self, figures: Mapping[str, object]) -> TrajectoryTotals:
        """Return the sums with a trajectory's figures, as its metrics tell them, or a failure."""
        if "error" in figures:
            return replace(self, trajectories_failed=self.trajectories_failed + 1)
        return TrajectoryTotals(
            self.total_trajectories + 1,
            self.trajectories_compressed + bool(figures.get("was_compressed")),
            self.trajectories_skipped_under_target + bool(figures.get("skipped_under_target")),
            self.trajectories_still_over_limit + bool(figures.get("still_over_limit")),
            self.trajectories_failed,
            self.total_tokens_before + _whole(figures, "original_tokens"),
            self.total_tokens_after + _whole(figures, "compressed_tokens"),
            self.total_turns_before + _whole(figures, "original_turns"),
            self.total_turns_after + _whole(figures, "compressed_turns"),
            self.total_summarization_calls + _whole(figures, "summarization_api_calls"),
            self.total_summarization_errors + _whole(figures, "summarization_errors"),
            self.redacted_turns + _whole(figures, "redacted_turns"),
            self.cost + _number(figures, "cost"),
            self.seconds + _number(figures, "seconds"),
        )

    def as_json(self) -> dict[str, object]:
        """Return the sums, grouped as users of such tools know them."""
        before, after = self.total_tokens_before, self.total_tokens_after
        calls, errors = self.total_summarization_calls, self.total_summarization_errors
        return {
            "summary": {
                "total_trajectories": self.total_trajectories,
                "trajectories_compressed": self.trajectories_compressed,
                "trajectories_skipped_under_target": self.trajectories_skipped_under_target,
                "trajectories_still_over_limit": self.trajectories_still_over_limit,
                "trajectories_failed": self.trajectories_failed,
                "compression_rate": _share(self.trajectories_compressed, self.total_trajectories),
            },
            "tokens": {
                "total_before": before,
                "total_after": after,
                "total_saved": before - after,
                "overall_compression_ratio": _share(after, before, 1.0),
            },
            "turns": {
                "total_before": self.total_turns_before,
                "total_after": self.total_turns_after,
                "total_removed": self.total_turns_before - self.total_turns_after,
                "redacted": self.redacted_turns,
            },
            "summarization": {
                "total_api_calls": calls,
                "total_errors": errors,
                "success_rate": 1.0 - _share(errors, calls),
                "cost": round(self.cost, 6),
            },
        }


@dataclass(slots=True)
class Aggregate:
    """The figures of a whole run."""

    totals: TrajectoryTotals = field(default_factory=TrajectoryTotals)
    by_source: dict[str, TrajectoryTotals] = field(default_factory=dict[str, TrajectoryTotals])
    tokens_before: Distribution = field(default_factory=Distribution)
    tokens_after: Distribution = field(default_factory=Distribution)
    tokens_saved: Distribution = field(default_factory=Distribution)
    turns_removed: Distribution = field(default_factory=Distribution)
    compression_ratio: Distribution = field(default_factory=Distribution)

    def add(self, figures: Mapping[str, object]) -> None:
        """Count a line of the metrics file: a trajectory with its source, or one that failed."""
        source = string(figures.get("source"))
        self.totals = self.totals.plus(figures)
        self.by_source[source] = self.by_source.get(source, TrajectoryTotals()).plus(figures)
        if "error" in figures:
            return
        self.tokens_before.add(_number(figures, "original_tokens"))
        self.tokens_after.add(_number(figures, "compressed_tokens"))
        if figures.get("was_compressed"):
            self.tokens_saved.add(max(_number(figures, "tokens_saved"), 0.0))
            self.turns_removed.add(max(_number(figures, "turns_removed"), 0.0))
            self.compression_ratio.add(_number(figures, "compression_ratio"))

    def as_json(self) -> dict[str, object]:
        """Return the figures of all, with their spread and by source."""
        return {
            **self.totals.as_json(),
            "averages": {
                "avg_compression_ratio": _mean(self.compression_ratio, 1.0),
                "avg_tokens_saved_per_compressed": _mean(self.tokens_saved),
                "avg_turns_removed_per_compressed": _mean(self.turns_removed),
            },
            "distributions": {name: spread.as_json() for name, spread in self.spreads()},
            "by_source": {name: each.as_json() for name, each in sorted(self.by_source.items())},
        }

    def spreads(self) -> Iterator[tuple[str, Distribution]]:
        """Yield each distribution with its name."""
        yield "tokens_before", self.tokens_before
        yield "tokens_after", self.tokens_after
        yield "tokens_saved", self.tokens_saved
        yield "turns_removed", self.turns_removed
        yield "compression_ratio", self.compression_ratio


def _share(part: float, whole: float, nothing: float = 0.0) -> float:
    return round(part / whole, 4) if whole else nothing


def _mean(spread: Distribution, nothing: float = 0.0) -> float:
    return _share(spread.total, spread.count, nothing)


def _number(figures: Mapping[str, object], name: str) -> float:
    value = figures.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _whole(figures: Mapping[str, object], name: str) -> int:
    return int(_number(figures, name))
