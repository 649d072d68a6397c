"""Draws what a run over trajectories came to, with its tokens before and after to one scale."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.screen import Line, Styled, crop_middle, table
from holdfast.cli.trajectories.figures import (
    PERCENTILES,
    changes,
    facts,
    headline,
    largest_sources,
    outcomes,
    percentiles,
    share,
    token_bins,
    token_edges,
)
from holdfast.views.words import cells, clean, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.cli.trajectories.figures import Bins
    from holdfast.trajectories.metrics import Aggregate, TrajectoryTotals

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
        aggregate: The figures.
        width: How many columns there are, 40 or more.
        target: What a trajectory was to weigh at most.
        seconds: How long the run took; None leaves its speed out.
        rehearsed: Whether nothing was written.
        colored: Whether bars may be drawn with blocks; `#` serves everywhere.
    """
    totals = aggregate.totals
    pen = _Pen(min(width, _WIDEST), colored)
    lines = list(_headline(totals, pen.width, rehearsed=rehearsed))
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


def _headline(totals: TrajectoryTotals, width: int, *, rehearsed: bool) -> Iterator[Line]:
    verb, words = headline(totals, rehearsed=rehearsed)
    first, *rest = _wrapped(verb + words, width)
    style = "bold green" if totals.trajectories_compressed else "bold yellow"
    yield (Styled(verb, style), Styled(first.removeprefix(verb)))
    yield from ((Styled(line),) for line in rest)
    if rehearsed:
        yield from ((Styled(line, "yellow"),) for line in _wrapped(_REHEARSAL, width))


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
