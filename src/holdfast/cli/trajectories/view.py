"""What a run over trajectories came to: words and bins for screen and page, and the screen.

Tokens before and after are drawn to one scale.
"""

from __future__ import annotations

import textwrap
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from holdfast.cli.screen import Line, Styled, crop_middle, table
from holdfast.views.words import cells, clean, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.trajectories.metrics import Aggregate, Distribution, TrajectoryTotals

PERCENTILES = (5, 25, 50, 75, 95)
_SOURCES = 10
_BLUR = 1.01
"""A percentile may be one per cent above or below its figure."""
_PARTS = (20, 16, 10, 8, 5, 4, 2, 1)
"""Into how many bins the way from nothing to the target may be parted."""


@dataclass(frozen=True, slots=True)
class BeforeAndAfter:
    """Something that a run makes less of."""

    name: str
    before: int
    after: int

    @property
    def fewer(self) -> int:
        """Return how many are gone."""
        return self.before - self.after

    @property
    def ratio(self) -> float:
        """Return what is left for each that there was."""
        return self.after / self.before if self.before else 1.0


@dataclass(frozen=True, slots=True)
class Bins:
    """How many figures lie between edges; a figure on an edge belongs to the bin below it."""

    edges: tuple[float, ...]
    """From zero up; there is one more than counts."""
    counts: tuple[int, ...]
    beyond: int
    """How many lie above the last edge."""

    @property
    def tallest(self) -> int:
        """Return the largest count."""
        return max((*self.counts, self.beyond))

    def ranges(self) -> Iterator[tuple[float, float, int]]:
        """Yield each bin that has an end: from, to and count."""
        for (low, high), count in zip(pairwise(self.edges), self.counts, strict=True):
            yield low, high, count


def headline(totals: TrajectoryTotals, *, rehearsed: bool) -> tuple[str, str]:
    """Return what happened, or would happen: the verb, and the rest of the sentence."""
    number, failed = totals.total_trajectories, totals.trajectories_failed
    if not number:
        why = f"{counted_trajectories(failed)} failed" if failed else "no trajectory was found"
        return "nothing to compress", f": {why}"
    done = f"{totals.trajectories_compressed:,}" if totals.trajectories_compressed else "none"
    verb = "would compress" if rehearsed else "compressed"
    tokens = BeforeAndAfter("tokens", totals.total_tokens_before, totals.total_tokens_after)
    saved = f", {share(tokens.fewer, tokens.before)} fewer tokens" if tokens.fewer > 0 else ""
    return verb, f" {done} of {counted_trajectories(number + failed)}{saved}"


def counted_trajectories(count: int) -> str:
    """Return a number of trajectories."""
    return counted(count, "trajectory", "trajectories")


def outcomes(totals: TrajectoryTotals) -> list[tuple[str, int]]:
    """Return how many trajectories ended how; one may be compressed and over the limit."""
    return [
        ("compressed", totals.trajectories_compressed),
        ("under the target", totals.trajectories_skipped_under_target),
        ("still over limit", totals.trajectories_still_over_limit),
        ("failed", totals.trajectories_failed),
    ]


def changes(totals: TrajectoryTotals) -> list[BeforeAndAfter]:
    """Return what there is less of."""
    return [
        BeforeAndAfter("tokens", totals.total_tokens_before, totals.total_tokens_after),
        BeforeAndAfter("turns", totals.total_turns_before, totals.total_turns_after),
    ]


def facts(
    totals: TrajectoryTotals, seconds: float | None, *, rehearsed: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield what else is known, each with its label.

    Args:
        seconds: How long it took; None leaves its speed out.
        rehearsed: Whether nothing was asked of a model because nothing was written.
    """
    if not rehearsed:
        calls, errors = totals.total_summarization_calls, totals.total_summarization_errors
        if not calls:
            summaries = "no model was asked"
        else:
            words = (
                f"{counted(calls, 'call')}, {counted(errors, 'error') if errors else 'no errors'}"
            )
            cost = totals.cost
            summaries = (
                f"{words}, ${cost:,.{2 if cost >= 1 else 4}f} by estimate" if cost else words
            )
        yield "summaries", summaries
    masked = totals.redacted_turns
    yield "secrets", f"masked in {counted(masked, 'turn')}" if masked else "none masked"
    if seconds is None:
        return
    rates = ""
    if seconds > 0 and totals.total_trajectories:
        number = (totals.total_trajectories + totals.trajectories_failed) / seconds
        tokens = totals.total_tokens_before / seconds
        rates = f", {_brief(number)} trajectories/s, {_brief(tokens)} tokens/s"
    yield "time", f"{_brief(seconds)} s{rates}"


def share(part: float, whole: float) -> str:
    """Return a share in per cent; neither a few nor all but a few are rounded away."""
    ratio = part / whole if whole else 0.0
    if 0 < ratio < 0.01:
        return "<1%"
    return ">99%" if 0.99 < ratio < 1 else f"{ratio:.0%}"


def percentiles(spread: Distribution) -> list[float]:
    """Return the figures of `PERCENTILES`."""
    return [spread.percentile(percent) for percent in PERCENTILES]


def largest_sources(aggregate: Aggregate) -> tuple[list[tuple[str, TrajectoryTotals]], int]:
    """Return the sources with the most tokens, and how many others there are."""
    named = sorted(
        aggregate.by_source.items(), key=lambda each: (-each[1].total_tokens_before, each[0])
    )
    return named[:_SOURCES], max(len(named) - _SOURCES, 0)


def token_edges(aggregate: Aggregate, target: int, most: int, *, percent: int) -> tuple[float, ...]:
    """Return edges for tokens, of which the target is one.

    Args:
        most: How many bins there may be.
        percent: How many per cent of the trajectories get bins; the others lie beyond.
    """
    spreads = (aggregate.tokens_before, aggregate.tokens_after)
    reach = max(*(_reach(each, percent) for each in spreads), target)
    for parts in _PARTS:
        count = ceil(reach * parts / target)
        if count <= most:
            return tuple(target * number / parts for number in range(count + 1))
    step = target * round_step(reach / target / (most - 1))
    edges = {step * number for number in range(ceil(reach / step) + 1)}
    return tuple(sorted({*edges, float(target)}))


def round_edges(spread: Distribution, most: int, *, percent: int) -> tuple[float, ...]:
    """Return edges for whole figures at round ones, so many at most.

    Args:
        most: How many bins there may be.
        percent: How many per cent of the figures get bins; the others lie beyond.
    """
    reach = max(_reach(spread, percent), 1.0)
    step = max(round_step(reach / most), 1.0)
    return tuple(step * number for number in range(ceil(reach / step) + 1))


def round_step(width: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20 and so on that is not below the width."""
    power = 10.0 ** floor(log10(width))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= width * (1 - 1e-9))


def token_bins(aggregate: Aggregate, edges: tuple[float, ...], target: int) -> tuple[Bins, Bins]:
    """Return the tokens before and after, parted at the same edges.

    How many are above the target is known exactly, so that bins and sums do not disagree.
    """
    totals = aggregate.totals
    under = totals.trajectories_skipped_under_target
    fitting = totals.total_trajectories - totals.trajectories_still_over_limit
    return (
        count_in_bins(aggregate.tokens_before, edges, (target, under)),
        count_in_bins(aggregate.tokens_after, edges, (target, fitting)),
    )


def count_in_bins(
    spread: Distribution, edges: tuple[float, ...], known: tuple[float, int] | None = None
) -> Bins:
    """Return how many figures lie between the edges, to the precision of the spread.

    Args:
        edges: From zero up.
        known: One of the edges, and how many figures are not above it.
    """
    ranks = range(1, spread.count + 1)

    def figure(rank: int) -> float:
        return spread.percentile(100 * (rank - 0.5) / spread.count)

    def not_above(edge: float) -> int:
        return bisect_right(ranks, edge, key=figure)

    below = [0, *map(not_above, edges[1:])]
    if known is not None:
        edge, number = known
        place = edges.index(edge)
        number = min(max(number, not_above(edge / _BLUR)), not_above(edge * _BLUR))
        below[:place] = [min(each, number) for each in below[:place]]
        below[place:] = [number, *(max(each, number) for each in below[place + 1 :])]
    counts = tuple(high - low for low, high in pairwise(below))
    return Bins(edges, counts, spread.count - below[-1])


def _brief(figure: float) -> str:
    if figure >= 1e12:
        return f"{figure:.1e}"
    return f"{figure:,.{0 if figure >= 100 else 1 if figure >= 1 else 2}f}"


def _reach(spread: Distribution, percent: int) -> float:
    """Return up to where bins are needed: to the end, unless the last few lie far out."""
    if not spread.count:
        return 0.0
    usual = spread.percentile(percent)
    return spread.most if spread.most <= usual * 1.25 else usual


_WIDEST = 100
"""Bars that are longer say no more."""
_BINS = 14
_REACH = 95
"""Per cent of the trajectories that have lines of their own; the heaviest share one."""
_LEAST_BAR = 8
_BESIDE = 64
"""Columns from which on two histograms stand beside each other."""
_LABEL = 11
_SOURCE = 20
"""Columns that the name of a source needs at least."""
_JOINT = "\N{NO-BREAK SPACE}"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BEFORE, _AFTER, _TARGET = "blue", "green", "yellow"
_UNNAMED = "(no name)"
_REHEARSAL = "a dry run: nothing was written, and figures of what would be left are estimates"


def drawn(
    aggregate: Aggregate,
    width: int,
    *,
    target: int,
    seconds: float | None = None,
    rehearsed: bool = False,
    colored: bool = False,
) -> list[Line]:
    """Return the figures of a run, their spread as bars, and those of each source.

    Args:
        width: How many columns there are, 40 or more.
        seconds: How long the run took; None leaves its speed out.
        colored: Whether bars may be drawn with blocks; `#` serves everywhere.
    """
    totals = aggregate.totals
    pen = _Pen(min(width, _WIDEST), colored)
    verb, words = headline(totals, rehearsed=rehearsed)
    first, *rest = _wrapped(verb + words, pen.width)
    style = "bold green" if totals.trajectories_compressed else "bold yellow"
    lines: list[Line] = [(Styled(verb, style), Styled(first.removeprefix(verb)))]
    lines += [(Styled(line),) for line in rest]
    if rehearsed:
        lines += [(Styled(line, "yellow"),) for line in _wrapped(_REHEARSAL, pen.width)]
    if totals.total_trajectories + totals.trajectories_failed:
        lines += [(), *_outcomes(totals, pen)]
    if totals.total_trajectories:
        rows = [("", "before", "after", "fewer", "ratio")]
        for each in changes(totals):
            figures = (
                f"{each.before:,}",
                f"{each.after:,}",
                f"{each.fewer:,}",
                f"{each.ratio:.2f}",
            )
            rows.append((each.name, *figures))
        lines += [(), *_fitting(rows, pen.width)]
    if totals.total_trajectories + totals.trajectories_failed:
        lines.append(())
        for label, words in facts(totals, seconds, rehearsed=rehearsed):
            lines += _labeled(label, words, pen.width)
    if totals.total_trajectories:
        before, after = percentiles(aggregate.tokens_before), percentiles(aggregate.tokens_after)
        rows = [("", *(f"p{percent}" for percent in PERCENTILES))]
        rows.append(("tokens before", *(f"{each:,.0f}" for each in before)))
        rows.append(("tokens after", *(f"{each:,.0f}" for each in after)))
        lines += [(), *_fitting(rows, pen.width)]
        lines += [(), *_histogram(aggregate, target, pen)]
    if len(aggregate.by_source) > 1:
        lines += [(), *_sources(aggregate, pen.width)]
    return lines


@dataclass(frozen=True, slots=True)
class _Pen:
    """What is drawn on."""

    width: int
    colored: bool

    def bar(self, count: int, tallest: int, room: int) -> str:
        """Return a bar of at most so many columns; what exists is seen."""
        if not count:
            return ""
        length = count / tallest * room
        if not self.colored:
            return "#" * max(round(length), 1)
        eighths = max(round(length * 8), 1)
        return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _outcomes(totals: TrajectoryTotals, pen: _Pen) -> Iterator[Line]:
    """Yield how many trajectories ended how, each with its share as a bar."""
    whole = totals.total_trajectories + totals.trajectories_failed
    found = outcomes(totals)
    rows = [("trajectories", f"{whole:,}", "")]
    rows += [(f"  {name}", f"{count:,}", share(count, whole)) for name, count in found]
    first, *lines = table(rows, None, right=frozenset({1, 2}))
    yield first
    room = pen.width - _columns(first) - 2
    styles = {"failed": "red", "still over limit": "yellow"}
    for (name, count), line in zip(found, lines, strict=True):
        bar = pen.bar(count, whole, room) if room >= _LEAST_BAR else ""
        yield (*line, Styled(f"  {bar}", styles.get(name, "green")))


def _fitting(rows: Sequence[Sequence[str]], width: int) -> list[Line]:
    """Lay figures out in rows, where they do not fit in columns, and else one below the other."""
    turned = list(zip(*rows, strict=True))
    for each in (rows, turned):
        lines = table(each, None, right=frozenset(range(1, len(each[0]))))
        if _columns(lines[0]) <= width:
            return lines
    return [
        line
        for name, *figures in rows[1:]
        for line in table(
            [(name, ""), *zip(rows[0][1:], figures, strict=True)], None, right=frozenset({1})
        )
    ]


def _labeled(label: str, words: str, width: int) -> list[Line]:
    room = width - _LABEL - 2
    # A figure stays with its unit where there is room.
    joined = words.replace(" ", _JOINT).replace(f",{_JOINT}", ", ")
    lines = [line.replace(_JOINT, " ") for line in _wrapped(joined, room)]
    first, *rest = lines if max(map(len, lines)) <= room else _wrapped(words, room)
    indent = " " * (_LABEL + 2)
    return [
        (Styled(f"  {label:<{_LABEL}}", "dim"), Styled(first)),
        *((Styled(indent + line),) for line in rest),
    ]


def _histogram(aggregate: Aggregate, target: int, pen: _Pen) -> Iterator[Line]:
    """Yield how many trajectories weigh how much, before and after, with the target between."""
    edges = token_edges(aggregate, target, _BINS, percent=_REACH)
    before, after = token_bins(aggregate, edges, target)
    sides = (_Side("before", before, _BEFORE), _Side("after", after, _AFTER))
    tallest = max(before.tallest, after.tallest)
    yield (Styled("trajectories by their tokens", "bold"),)
    for shown in [sides] if pen.width >= _BESIDE else [(side,) for side in sides]:
        yield from _bars(shown, target, pen, tallest)


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the spreads that are drawn to the same scale."""

    name: str
    bins: Bins
    style: str


def _bars(sides: Sequence[_Side], target: int, pen: _Pen, tallest: int) -> Iterator[Line]:
    """Yield the bars of one spread or of two beside each other, a line for each bin."""
    edges = sides[0].bins.edges[1:]
    labels = [f"{edge:,.0f}" for edge in edges]
    margin = max(map(len, [*labels, "target"]))
    labels.append("more")
    counts = [(*side.bins.counts, side.bins.beyond) for side in sides]
    fewest = edges.index(target) + 1
    while len(labels) > fewest and not any(each[len(labels) - 1] for each in counts):
        labels.pop()
    column = (pen.width - 2 - margin) // len(sides) - 2
    room = column - len(f" {tallest:,}")
    names = (Styled(f"  {side.name:<{column}}", side.style) for side in sides)
    yield (Styled(f"  {'up to':>{margin}}", "dim"), *names)
    for place, label in enumerate(labels):
        spans = [Styled(f"  {label:>{margin}}")]
        for side, found in zip(sides, counts, strict=True):
            bar = pen.bar(found[place], tallest, room)
            figure = f" {found[place]:,}" if bar else ""
            spans += [
                Styled(f"  {bar}", side.style),
                Styled(f"{figure:<{column - cells(bar)}}"),
            ]
        yield tuple(spans)
        if place + 1 == fewest:
            words = f"  {'target':>{margin}}  "
            yield (Styled(words + "-" * (pen.width - len(words)), _TARGET),)


def _sources(aggregate: Aggregate, width: int) -> list[Line]:
    """Return the figures of the largest sources, as many as there is room for."""
    named, others = largest_sources(aggregate)
    rows = [("trajectories", "tokens before", "tokens after", "ratio", "source")]
    for name, totals in named:
        tokens = changes(totals)[0]
        number = totals.total_trajectories + totals.trajectories_failed
        figures = (f"{number:,}", f"{tokens.before:,}", f"{tokens.after:,}", f"{tokens.ratio:.2f}")
        rows.append((*figures, name or _UNNAMED))
    widths = [max(map(len, column)) + 2 for column in list(zip(*rows, strict=True))[:-1]]
    if sum(widths) + _SOURCE > width:
        rows = [(number, ratio, name) for number, _, _, ratio, name in rows]
        widths = [widths[0], widths[3]]
    room = width - sum(widths) - 2
    fitting = [(*row[:-1], crop_middle(clean(row[-1]), room)) for row in rows]
    lines = table(fitting, None, right=frozenset(range(len(widths))))
    if others:
        lines.append((Styled(f"  and {counted(others, 'more source')}", "dim"),))
    return lines


def _columns(line: Line) -> int:
    return sum(cells(span.text) for span in line)


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)
