"""Draws what an import came to, and what there is to import."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.cli.import_progress import megabytes
from holdfast.cli.lines import Line, Span, cells, counted, table
from holdfast.cli.times import ago
from holdfast.wiring.importing import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.adapters.archives.finding import File
    from holdfast.adapters.archives.places import Place
    from holdfast.cli.import_result import Imported
    from holdfast.wiring.importing import Taken

__all__ = ["drawn", "drawn_offer", "drawn_places"]

_SHOWN = 3
"""Problems of one file that are shown, unless all are wanted."""
_FILES_SHOWN = 20
_FIGURES = frozenset(range(1, 7))
_NONE = ": no file with a session was found"


def drawn(imported: Imported, width: int, *, verbose: bool, rehearsed: bool = False) -> list[Line]:
    """Return what happened, and below it what could not be read."""
    lines = [_headline(imported, rehearsed=rehearsed)]
    brought = [each for each in imported.taken if each.tally.sessions or each.tally.grown]
    if brought:
        lines += table(list(_rows(brought)), width, right=_FIGURES)
    same = _unchanged(imported)
    if brought and same:
        lines.append((Span(f"unchanged: {counted(same, 'file')}", "dim"),))
    lines += _left_alone(imported)
    lines += _passed_over(imported, verbose=verbose)
    lines += _troubles(imported, verbose=verbose)
    return lines


def drawn_offer(
    found: Sequence[tuple[Place, Sequence[File]]], width: int, now_ms: int
) -> list[Line]:
    """Return what lies in the usual places, agent by agent."""
    rows = [("agent", "files", "size", "newest", "where")]
    for place, files in found:
        newest = max(file.modified for file in files) // 1_000_000
        size = megabytes(sum(file.size for file in files))
        rows.append((place.agent, f"{len(files):,}", size, ago(newest, now_ms), str(place.path)))
    return table(rows, _roomy(rows, width), right=frozenset({1, 2}))


def drawn_places(places: Sequence[Place], width: int) -> list[Line]:
    """Return where was looked."""
    rows = [("agent", "place"), *((place.agent, str(place.path)) for place in places)]
    return table(rows, _roomy(rows, width), right=frozenset())


def _roomy(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return a width in which no path is cut: half a path leads nowhere."""
    columns = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return max(width, sum(columns) + 2 * len(columns))


def _headline(imported: Imported, *, rehearsed: bool) -> Line:
    tally = imported.tally
    if not (tally.sessions or tally.grown):
        return (Span("nothing new", "bold yellow"), Span(_looked_at(imported)))
    verb = "would import" if rehearsed else "imported"
    words = f" {counted(len(tally.sessions), 'session')}"
    if tally.grown:
        words += f", added to {counted(len(tally.grown), 'session')}"
    words += f": {counted(tally.count.messages, 'message')}"
    rate = f", {megabytes(int(imported.bytes / imported.seconds))}/s" if imported.seconds else ""
    speed = f" ({megabytes(imported.bytes)} in {imported.seconds:.1f} s{rate})"
    return (Span(verb, "bold green"), Span(words), Span(speed, "dim"))


def _looked_at(imported: Imported) -> str:
    same = _unchanged(imported)
    if same:
        return f": everything in {counted(same, 'file')} is stored already"
    return ": nothing is said in what was found" if imported.taken else _NONE


def _unchanged(imported: Imported) -> int:
    return len(imported.known) + sum(each.status is Status.UNCHANGED for each in imported.taken)


def _rows(taken: Sequence[Taken]) -> Iterator[Sequence[str]]:
    yield ("format", "files", "sessions", "messages", "calls", "images", "compactions", "")
    ordered = sorted(taken, key=lambda each: each.found.guess.format)
    for name, each in groupby(ordered, key=lambda each: each.found.guess.format):
        group = list(each)
        counts = [one.tally.count for one in group]
        figures = (
            sum(len(one.found.files) for one in group),
            sum(len(one.tally.sessions) + len(one.tally.grown) for one in group),
            sum(one.messages for one in counts),
            sum(one.tool_calls for one in counts),
            sum(one.images for one in counts),
            sum(one.compactions for one in counts),
        )
        yield (name, *(f"{figure:,}" for figure in figures), "")


def _left_alone(imported: Imported) -> Iterator[Line]:
    for each in imported.tally.skipped:
        yield (Span("left alone", "yellow"), Span(f": session {each.session}: {each.reason}"))


def _passed_over(imported: Imported, *, verbose: bool) -> Iterator[Line]:
    shown = [each for each in imported.passed if verbose or each.file.is_named]
    for each in shown:
        yield (Span("passed over", "yellow"), Span(f": {each.file.path}: {each.reason}"))
    rest = len(imported.passed) - len(shown)
    if rest:
        words = f": {counted(rest, 'file')} without a session; --verbose names them"
        yield (Span("passed over", "dim"), Span(words, "dim"))


def _troubles(imported: Imported, *, verbose: bool) -> Iterator[Line]:
    groups = [
        (file, list(each)) for file, each in groupby(imported.troubles(), lambda one: one.file)
    ]
    for file, troubles in groups if verbose else groups[:_FILES_SHOWN]:
        shown = troubles if verbose else troubles[:_SHOWN]
        for each in shown:
            place = f"{file}:{each.line}" if each.line else file
            yield (Span("problem", "bold red"), Span(f": {place}: {each.reason}"))
        rest = len(troubles) - len(shown)
        if rest:
            yield (Span("problem", "bold red"), Span(f": {file}: {rest:,} more"))
    others = len(groups) - _FILES_SHOWN
    if others > 0 and not verbose:
        words = f": {counted(others, 'more file')} with problems; --verbose names them"
        yield (Span("problem", "bold red"), Span(words))
