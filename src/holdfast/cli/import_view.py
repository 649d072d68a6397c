"""Draws what an import came to, and what there is to import."""

from __future__ import annotations

from itertools import compress, groupby
from typing import TYPE_CHECKING

from holdfast.cli.import_progress import megabytes
from holdfast.cli.lines import Line, Span, cells, clean, counted, crop, table
from holdfast.cli.times import ago
from holdfast.wiring.import_job import ImportStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.agent_files.finding import File
    from holdfast.agent_files.places import Place
    from holdfast.cli.import_result import Imported
    from holdfast.wiring.import_job import ImportResult

__all__ = ["drawn", "drawn_offer", "drawn_places", "drawn_troubles"]

_SHOWN = 3
"""Problems of one file that are shown, unless all are wanted."""
_FILES_SHOWN = 20
_FIGURES = frozenset(range(1, 8))
_NONE = "no file with a session was found"
_PROBLEM = Span("problem", "bold red")


def drawn(
    imported: Imported, width: int, *, verbose: bool, rehearsed: bool = False, timed: bool = True
) -> list[Line]:
    """Return what happened, and below it what could not be read.

    Args:
        imported: What happened.
        width: How many columns there are.
        verbose: Whether everything is named.
        rehearsed: Whether nothing was stored.
        timed: Whether the time that it took says something.
    """
    lines = [_headline(imported, rehearsed=rehearsed, timed=timed)]
    brought = [each for each in imported.taken if each.tally.sessions or each.tally.grown]
    if brought:
        lines += table(list(_rows(brought)), width, right=_FIGURES)
    same = imported.statuses()[ImportStatus.UNCHANGED]
    if brought and same:
        lines.append((Span(f"unchanged: {counted(same, 'file')}", "dim"),))
    lines += _left_alone(imported)
    lines += _silent(imported, verbose=verbose)
    lines += _passed_over(imported, verbose=verbose)
    lines += drawn_troubles(imported, verbose=verbose)
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
    return _with_paths(rows, width, right=frozenset({1, 2}))


def drawn_places(places: Sequence[Place], width: int) -> list[Line]:
    """Return where was looked."""
    rows = [("agent", "place"), *((place.agent, str(place.path)) for place in places)]
    return _with_paths(rows, width, right=frozenset())


def drawn_troubles(imported: Imported, *, verbose: bool = False) -> list[Line]:
    """Return what could not be read, a few things of each file unless all are wanted."""
    groups = [
        (file, list(each)) for file, each in groupby(imported.troubles(), lambda one: one.file)
    ]
    lines: list[Line] = []
    for file, troubles in groups if verbose else groups[:_FILES_SHOWN]:
        shown = troubles if verbose else troubles[:_SHOWN]
        for each in shown:
            place = f"{file}:{each.line}" if each.line else file
            lines.append((_PROBLEM, Span(f": {place}: {each.reason}")))
        rest = len(troubles) - len(shown)
        if rest:
            lines.append((_PROBLEM, Span(f": {file}: {rest:,} more; --verbose shows them")))
    others = len(groups) - _FILES_SHOWN
    if others > 0 and not verbose:
        words = f": {counted(others, 'more file')} with problems; --verbose names them"
        lines.append((_PROBLEM, Span(words)))
    return lines


def _with_paths(rows: Sequence[Sequence[str]], width: int, *, right: frozenset[int]) -> list[Line]:
    """Lay rows out whose last cell is a path; one without room keeps its beginning and end."""
    others = [max(map(cells, column)) for column in zip(*rows, strict=True)][:-1]
    taken = sum(others) + 2 * len(rows[0])
    room = max(width - taken, 8)
    fitting = [(*row[:-1], _shortened(row[-1], room)) for row in rows]
    return table(fitting, taken + max(cells(row[-1]) for row in fitting), right=right)


def _shortened(path: str, room: int) -> str:
    """Return a path in so many columns, without its middle: its end says what it is."""
    if cells(path) <= room:
        return path
    kept = clean(path)
    begin, end = room // 3, len(kept)
    start = end - (room - begin - 1)
    while start < end and cells(kept[start:]) > room - begin - 1:
        start += 1
    return crop(kept, begin + 1) + kept[start:]


def _headline(imported: Imported, *, rehearsed: bool, timed: bool) -> Line:
    tally = imported.tally
    if not (tally.sessions or tally.grown):
        return (Span("nothing new", "bold yellow"), Span(f": {_why_nothing(imported)}"))
    verb, added = ("would import", "would add to") if rehearsed else ("imported", "added to")
    if imported.is_bound:
        verb, added = f"{verb} at most", f"{added} at most"
    parts = [(verb, tally.sessions), (added, tally.grown)]
    (first, count), *rest = [(words, len(ids)) for words, ids in parts if ids]
    words = f" {counted(count, 'session')}"
    words += "".join(f", {verb} {counted(count, 'session')}" for verb, count in rest)
    words += f": {counted(tally.count.messages, 'message')}"
    time = f" ({megabytes(imported.bytes)} in {imported.seconds:.1f} s)"
    return (Span(first, "bold green"), Span(words), Span(time if timed else "", "dim"))


def _why_nothing(imported: Imported) -> str:
    same = imported.statuses()[ImportStatus.UNCHANGED]
    if same:
        # What is damaged in a file was never stored.
        damaged = any(each.tally.problems for each in imported.taken)
        what = "everything that can be read" if damaged else "everything"
        return f"{what} in {counted(same, 'file')} is stored already"
    return "nothing is said in what was found" if imported.taken else _NONE


def _rows(taken: Sequence[ImportResult]) -> Iterator[Sequence[str]]:
    made = {id_ for each in taken for id_ in each.tally.sessions}
    grown = {id_ for each in taken for id_ in each.tally.grown} - made
    names = ("files", "sessions", "grown", "messages", "calls", "images", "compactions")
    shown = [bool(grown) or name != "grown" for name in names]
    yield ("format", *compress(names, shown), "")
    ordered = sorted(taken, key=lambda each: each.found.guess.format)
    for name, each in groupby(ordered, key=lambda each: each.found.guess.format):
        group = list(each)
        counts = [one.tally.count for one in group]
        figures = (
            sum(len(one.found.files) for one in group),
            sum(len(one.tally.sessions) for one in group),
            len(grown & {id_ for one in group for id_ in one.tally.grown}),
            sum(one.messages for one in counts),
            sum(one.tool_calls for one in counts),
            sum(one.images for one in counts),
            sum(one.compactions for one in counts),
        )
        yield (name, *(f"{figure:,}" for figure in compress(figures, shown)), "")


def _left_alone(imported: Imported) -> Iterator[Line]:
    for each in imported.tally.skipped:
        yield (Span("left alone", "yellow"), Span(f": session {each.session}: {each.reason}"))


def _silent(imported: Imported, *, verbose: bool) -> Iterator[Line]:
    found = [each for each in imported.taken if each.status is ImportStatus.EMPTY]
    named = [(file, each.reason) for each in found for file in each.found.files]
    yield from _left_out("nothing said", "in which nothing is said", named, verbose=verbose)


def _passed_over(imported: Imported, *, verbose: bool) -> Iterator[Line]:
    named = [(each.file, each.reason) for each in imported.passed]
    yield from _left_out("passed over", "without a session", named, verbose=verbose)


def _left_out(
    word: str, kind: str, files: Sequence[tuple[File, str]], *, verbose: bool
) -> Iterator[Line]:
    """Name the files that somebody named, or all; count the others."""
    shown = [each for each in files if verbose or each[0].is_named]
    for file, reason in shown:
        yield (Span(word, "yellow"), Span(f": {file.shown}: {reason}"))
    rest = len(files) - len(shown)
    if rest:
        yield (Span(f"{word}: {counted(rest, 'file')} {kind}; --verbose names them", "dim"),)
