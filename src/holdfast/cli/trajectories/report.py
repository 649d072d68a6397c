"""A run over trajectories as one page that needs nothing else: tables, and spreads as pictures."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from math import ceil
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.cli.trajectories.view import (
    PERCENTILES,
    changes,
    count_in_bins,
    counted_trajectories,
    facts,
    headline,
    largest_sources,
    outcomes,
    percentiles,
    round_edges,
    round_step,
    share,
    token_bins,
    token_edges,
)
from holdfast.views.html.parts import escaped
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.cli.trajectories.view import Bins
    from holdfast.trajectories.metrics import Aggregate, TrajectoryTotals

_BINS = 30
_REACH = 95
"""Per cent of the figures that are drawn to scale; the rest is one bar behind them."""
_RATIOS = tuple(number / 20 for number in range(21))
_WIDTH, _HEIGHT = 460, 280
"""Of a picture: about what it gets on a wide screen, so that its words keep their size."""
_TOP, _BOTTOM, _RIGHT = 30, 42, 16
_FLOOR = _HEIGHT - _BOTTOM
_SIGN = 7.5
"""What a digit takes at most."""
_BEYOND = 16
"""The width of the bar for what lies beyond the scale, and of the gap before it."""
_UNNAMED = "(no name)"
_REHEARSAL = (
    "A dry run: nothing was written. Figures of what would be left are estimates, with summaries "
    "that take all of their allowance."
)
_STYLE = """\
main > section { margin-top: 2rem; }
h2 { margin: 0 0 .25rem; }
.notice { padding: .5rem .75rem; border: 1px dashed var(--mark); border-radius: 6px; }
.head .lead { margin: 0 0 .75rem; font-size: 1.15rem; }
.pair {
  display: grid; gap: .5rem 2rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr));
}
.pair > * { min-width: 0; }
.wide { overflow-x: auto; }
td { white-space: nowrap; overflow-wrap: normal; }
th { overflow-wrap: normal; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr { border-top: 1px solid var(--edge); }
th, td { padding-top: .2rem; padding-bottom: .2rem; }
.sources { width: 100%; }
.sources thead th { white-space: nowrap; }
.sources tbody th { overflow-wrap: anywhere; unicode-bidi: isolate; }
figure { margin: .5rem 0; }
figcaption { font-weight: 600; }
figcaption span { font-weight: normal; color: var(--soft); }
.chart { display: block; width: 100%; height: auto; }
.chart text { fill: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; }
.grid { stroke: var(--edge); }
.axis { stroke: var(--soft); }
.before { fill: var(--user); } .after { fill: var(--summary); }
.ratio { fill: var(--system); } .turns { fill: var(--results); }
.beyond { opacity: .55; }
.chart .target { stroke: var(--ink); stroke-width: 1.5px; stroke-dasharray: 4 3; }
.chart .label { fill: var(--ink); }
.chart rect:hover { opacity: .7; }
@media (max-width: 30rem) {
  .head dl { grid-template-columns: fit-content(40%) 1fr; }
  th, td { padding-right: .6rem; }
  .sources { font-size: .85rem; }
  .sources thead th:first-child { display: none; }
  .sources tr {
    display: grid; gap: 0 .75rem; padding: .2rem 0;
    grid-template-columns: repeat(3, minmax(max-content, 1fr)) minmax(max-content, .5fr);
  }
  .sources, .sources thead, .sources tbody { display: block; }
  .sources tbody th { grid-column: 1 / -1; contain: inline-size; }
  .sources th, .sources td { padding-right: 0; }
}
@media print { figure, tr { break-inside: avoid; } }
"""


@dataclass(frozen=True, slots=True)
class _Chart:
    """A histogram to be drawn."""

    name: str
    """What its bars are called in the style."""
    title: str
    note: str
    unit: str
    bins: Bins
    tallest: int
    """The count that takes all of the height."""
    is_open: bool
    """Whether there is room for what lies beyond the scale."""
    target: int = 0
    """Where a line stands; 0 for none."""
    decimals: int = 0


def report_html(
    aggregate: Aggregate,
    about: Mapping[str, str],
    *,
    target: int,
    seconds: float | None = None,
    rehearsed: bool = False,
) -> str:
    """Return the page.

    Args:
        about: What the run was told, by names for people; may hold anything.
        seconds: How long the run took; None leaves its speed out.
    """
    style = files("holdfast.views.html").joinpath("page.css").read_text("utf-8") + _STYLE
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    totals = aggregate.totals
    sections = [_sums(totals, seconds, rehearsed=rehearsed)]
    if totals.total_trajectories:
        sections += [_pictures(aggregate, target), _spread(aggregate)]
    if len(aggregate.by_source) > 1:
        sections.append(_sources(aggregate))
    if about:
        sections.append(
            '<section class="head" aria-labelledby="run"><h2 id="run">The run</h2>'
            f"<dl>{_definitions(about.items())}</dl></section>"
        )
    verb, words = headline(totals, rehearsed=rehearsed)
    notice = f'<p class="notice">{_REHEARSAL}</p>' if rehearsed else ""
    body = "\n".join(sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Compressed trajectories</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<header class="head"><h1>Compressed trajectories</h1>'
        f'<p class="lead">{escaped(verb.capitalize() + words)}.</p>{notice}</header>'
        f"\n<main>\n{body}\n</main>\n"
        f"<footer>Written by holdfast {__version__}.</footer>\n</body>\n</html>\n"
    )


def _sums(totals: TrajectoryTotals, seconds: float | None, *, rehearsed: bool) -> str:
    whole = totals.total_trajectories + totals.trajectories_failed
    ends = [("all", f"{whole:,}", "")]
    ends += [(name, f"{count:,}", share(count, whole)) for name, count in outcomes(totals)]
    found = changes(totals)
    less = [
        ("before", *(f"{each.before:,}" for each in found)),
        ("after", *(f"{each.after:,}" for each in found)),
        ("fewer", *(f"{each.fewer:,}" for each in found)),
        ("ratio", *(f"{each.ratio:.2f}" for each in found)),
    ]
    known = _definitions(facts(totals, seconds, rehearsed=rehearsed))
    return (
        '<section aria-labelledby="sums"><h2 id="sums">In all</h2><div class="pair">'
        f"{_table('Trajectories', ('trajectories', 'number', 'share'), ends)}"
        f"{_table('Tokens and turns', ('', *(each.name for each in found)), less)}"
        f'</div><div class="head"><dl>{known}</dl></div></section>'
    )


def _pictures(aggregate: Aggregate, target: int) -> str:
    """Return the spreads as pictures; those before and after have the same scales."""
    edges = token_edges(aggregate, target, _BINS, percent=_REACH)
    before, after = token_bins(aggregate, edges, target)
    tallest = max(before.tallest, after.tallest)
    is_open = bool(before.beyond or after.beyond)
    charts = [
        _Chart("before", "Tokens before", "", "tokens", before, tallest, is_open, target),
        _Chart(
            "after", "Tokens after", "to the same scale", "tokens", after, tallest, is_open, target
        ),
    ]
    if aggregate.compression_ratio.count:
        bins = count_in_bins(aggregate.compression_ratio, _RATIOS)
        note, most = "tokens after for each before, of those compressed", bins.tallest
        charts.append(
            _Chart("ratio", "Ratio", note, "ratio", bins, most, bins.beyond > 0, decimals=2)
        )
        removed = aggregate.turns_removed
        bins = count_in_bins(removed, round_edges(removed, _BINS, percent=_REACH))
        note, most = "from each of those compressed", bins.tallest
        charts.append(_Chart("turns", "Turns removed", note, "turns", bins, most, bins.beyond > 0))
    drawn = "".join(map(_figure, charts))
    return (
        '<section aria-labelledby="spread"><h2 id="spread">How they are spread</h2>'
        "<p>Bars are numbers of trajectories. The dashed line is the target of "
        f'{counted(target, "token")}.</p><div class="pair">{drawn}</div></section>'
    )


def _spread(aggregate: Aggregate) -> str:
    spreads = {
        "tokens before": (aggregate.tokens_before, 0),
        "tokens after": (aggregate.tokens_after, 0),
    }
    if aggregate.compression_ratio.count:
        spreads["ratio"] = (aggregate.compression_ratio, 2)
        spreads["turns removed"] = (aggregate.turns_removed, 0)
    columns = [
        [f"{each:,.{decimals}f}" for each in percentiles(spread)]
        for spread, decimals in spreads.values()
    ]
    rows = [
        (f"p{percent}", *figures)
        for percent, figures in zip(PERCENTILES, zip(*columns, strict=True), strict=True)
    ]
    return (
        '<section aria-labelledby="percentiles"><h2 id="percentiles">Percentiles</h2>'
        "<p>Half of the trajectories weigh no more than p50. Figures are exact to two per cent; "
        "ratio and turns are of those compressed.</p>"
        f"{_table('Percentiles', ('', *spreads), rows)}</section>"
    )


def _sources(aggregate: Aggregate) -> str:
    named, others = largest_sources(aggregate)
    rows: list[tuple[str, ...]] = []
    for name, totals in named:
        tokens = changes(totals)[0]
        number = totals.total_trajectories + totals.trajectories_failed
        figures = (f"{number:,}", f"{tokens.before:,}", f"{tokens.after:,}", f"{tokens.ratio:.2f}")
        rows.append((name or _UNNAMED, *figures))
    heading = ("source", "trajectories", "tokens before", "tokens after", "ratio")
    more = f"<p>And {counted(others, 'more source')}, with fewer tokens.</p>" if others else ""
    return (
        '<section aria-labelledby="sources"><h2 id="sources">By source</h2>'
        f"{_table('The largest sources', heading, rows, 'sources')}{more}</section>"
    )


def _definitions(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(words)}</dd>" for name, words in pairs)


def _table(
    caption: str, heading: Iterable[str], rows: Iterable[Sequence[str]], name: str = "plain"
) -> str:
    """Return a table whose first column says what a row is; every cell may hold anything."""
    head = "".join(
        f'<th scope="col">{escaped(each)}</th>' if each else "<td></td>" for each in heading
    )
    body = "".join(
        f'<tr><th scope="row">{escaped(first)}</th>'
        + "".join(f"<td>{escaped(each)}</td>" for each in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="wide"><table class="{name}"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _figure(chart: _Chart) -> str:
    note = f" <span>{chart.note}</span>" if chart.note else ""
    total = sum(chart.bins.counts) + chart.bins.beyond
    words = f"{chart.title}: how {counted_trajectories(total)} are spread"
    return (
        f"<figure><figcaption>{chart.title}{note}</figcaption>"
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-labelledby="chart-{chart.name}"><title id="chart-{chart.name}">{words}</title>'
        f"{''.join(_drawn(chart))}</svg></figure>"
    )


def _drawn(chart: _Chart) -> Iterator[str]:
    """Yield the pieces of a picture: counts upwards, figures to the right."""
    step = max(round_step(chart.tallest / 4), 1) if chart.tallest else 1
    highest = max(ceil(chart.tallest / step), 1) * step
    plot = _Plot(chart, highest)
    for number in range(round(highest / step) + 1):
        y = plot.y(number * step)
        yield _line("grid" if number else "axis", (plot.left, y), (_WIDTH - _RIGHT, y))
        yield _words(f"{number * step:,.0f}", plot.left - 6, y + 4, "end")
    for low, high, count in chart.bins.ranges():
        words = f"{plot.figure(low)} to {plot.figure(high)}"
        x = plot.x(low)
        yield plot.bar(count, words, x, max(plot.x(high) - x - 1, 0.5))
    if chart.is_open:
        words = f"over {plot.figure(chart.bins.edges[-1])}"
        yield plot.bar(chart.bins.beyond, words, plot.right + _BEYOND, _BEYOND)
        yield _words("more", _WIDTH - _RIGHT, _FLOOR + 18, "end")
    # Round figures below the bars, as many as there is room for.
    reach = chart.bins.edges[-1]
    width = _SIGN * len(plot.figure(reach))
    step = round_step(reach / max((plot.right - plot.left) / (width + 20), 1))
    # A figure must neither leave the picture nor touch the word for what lies beyond.
    furthest = (plot.right - 4 if chart.is_open else _WIDTH) - width / 2
    number = 0
    while number * step <= reach and (x := plot.x(number * step)) <= furthest:
        yield _line("axis", (x, _FLOOR), (x, _FLOOR + 4))
        yield _words(plot.figure(number * step), x, _FLOOR + 18, "middle")
        number += 1
    yield _words(chart.unit, (plot.left + plot.right) / 2, _FLOOR + 36, "middle")
    if chart.target:
        x = plot.x(chart.target)
        yield _line("target", (x, _TOP - 10), (x, _FLOOR))
        side, anchor = (5, "start") if x < _WIDTH / 2 else (-5, "end")
        yield _words(f"target {chart.target:,}", x + side, _TOP - 8, anchor, "label")


@dataclass(frozen=True, slots=True)
class _Plot:
    """Where the figures of a chart stand in its picture."""

    chart: _Chart
    highest: float
    """The count at the upper edge."""

    @property
    def left(self) -> float:
        return _SIGN * len(f"{self.highest:,.0f}") + 10

    @property
    def right(self) -> float:
        return _WIDTH - _RIGHT - (2 * _BEYOND if self.chart.is_open else 0)

    def x(self, figure: float) -> float:
        return self.left + figure / self.chart.bins.edges[-1] * (self.right - self.left)

    def y(self, count: float) -> float:
        return _FLOOR - count / self.highest * (_FLOOR - _TOP)

    def figure(self, figure: float) -> str:
        return f"{figure:,.{self.chart.decimals}f}"

    def bar(self, count: int, words: str, x: float, width: float) -> str:
        """Return a bar that tells its figures; what exists is seen."""
        if not count:
            return ""
        kind = self.chart.name if x < self.right else f"{self.chart.name} beyond"
        height = max(_FLOOR - self.y(count), 1)
        title = f"{words} {self.chart.unit}: {counted_trajectories(count)}"
        return (
            f'<rect class="{kind}" x="{x:.1f}" y="{_FLOOR - height:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}"><title>{title}</title></rect>'
        )


def _line(kind: str, start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _words(text: str, x: float, y: float, anchor: str, kind: str = "figure") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
