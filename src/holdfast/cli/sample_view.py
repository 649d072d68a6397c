"""Draws a compaction from beginning to end: the map before, what happened, the map after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.census import take_census
from holdfast.cli.context_map import Frame, legend, window_bar
from holdfast.cli.lines import Line, Span, counted, crop, wrapped
from holdfast.cli.outcome import figures
from holdfast.summary import read_checkpoint
from holdfast.summary.record import HEADINGS
from holdfast.tokens import Scale
from holdfast.transcript import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.cli.screen import Screen
    from holdfast.compaction import CompactionReport, Policy
    from holdfast.summary import Checkpoint
    from holdfast.transcript import Transcript

__all__ = ["Showing", "drawn"]

_BRIEF = 2
"""How many entries of a section are shown when not everything is."""
_FIRST, _LAST = 3, 4


@dataclass(frozen=True, slots=True)
class Showing:
    """A compaction to be shown."""

    before: Transcript
    report: CompactionReport
    policy: Policy


def drawn(showing: Showing, view: Screen, *, full: bool = False) -> list[Line]:
    """Return everything that is shown."""
    after = showing.report.result.transcript
    frame = _frame(showing, view)
    lines: list[Line] = [*_map("before", showing.before, frame), *_map("after", after, frame)]
    lines += [*_record(after, view.width, full=full), ()]
    lines += [(Span("what the model sees now", "bold"),), *_shape(after, view.width), ()]
    lines += [(Span("what happened", "bold"),), *figures(showing.report, view.width)]
    return lines


def _frame(showing: Showing, view: Screen) -> Frame:
    policy = showing.policy
    return Frame(policy.context_length, policy.threshold_tokens, view.width, view.colored)


def _map(label: str, transcript: Transcript, frame: Frame) -> Iterator[Line]:
    census = take_census(transcript, Scale())
    yield (
        Span(label, "bold"),
        Span(f": {counted(len(transcript), 'message')}, {counted(census.tokens, 'token')}"),
        Span(f", {census.tokens / frame.window:.0%} of a window of {frame.window:,}"),
    )
    yield from window_bar(census, frame)
    yield from legend(census, frame)
    yield ()


def _record(after: Transcript, width: int, *, full: bool) -> Iterator[Line]:
    """Yield the record that stands for what was folded, section by section."""
    summary = next((message.summary for message in after if message.summary), None)
    if summary is None:
        return
    yield (
        Span("the record", "bold green"),
        Span(" that stands for what was folded" + ("" if full else ", in part")),
    )
    checkpoint = read_checkpoint(summary.text)
    for heading, entries in _sections(checkpoint):
        yield (Span(f"  {heading}", "green"),)
        shown = entries if full else entries[-_BRIEF:]
        if len(shown) < len(entries):
            yield (Span(f"    ... {len(entries) - len(shown):,} before these", "dim"),)
        for entry in shown:
            if full:
                yield from ((Span(line),) for line in wrapped(entry, width, "    "))
            else:
                yield (Span("    " + crop(" ".join(entry.split()), width - 4)),)


def _sections(checkpoint: Checkpoint) -> Iterator[tuple[str, Sequence[str]]]:
    for name, entries in checkpoint.record.sections():
        if entries:
            yield HEADINGS[name], entries
    beside = (
        ("Evidence", checkpoint.evidence.split("\n")),
        ("Said by the User", checkpoint.said),
        ("Live State", checkpoint.live.split("\n")),
    )
    for heading, lines in beside:
        kept = [line for line in lines if line.strip()]
        if kept:
            yield heading, kept


def _shape(transcript: Transcript, width: int) -> Iterator[Line]:
    """Yield the first and the last messages, one line each."""
    size = len(transcript)
    for index, message in enumerate(transcript):
        if index == _FIRST and size > _FIRST + _LAST:
            yield (Span(f"  ...  {size - _FIRST - _LAST:,} messages, word for word", "dim"),)
        if index < _FIRST or index >= size - _LAST:
            line = f"  {index:>3}  {message.role:<10}{one_line(message, width)}"
            yield (Span(crop(line, width)),)
