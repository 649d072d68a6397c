"""What an import came to, as a value and as JSON, and drawn for a person."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import compress, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.agent_files.files import place_of
from holdfast.cli.root import Exit
from holdfast.cli.screen import Styled, megabytes, table
from holdfast.transfer import ImportTally
from holdfast.views.words import ago, cells, clean, counted, crop
from holdfast.wiring.import_job import ImportStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.agent_files.detection import SkippedFile, UnreadableFile
    from holdfast.agent_files.finding import File, Refused
    from holdfast.agent_files.places import Place
    from holdfast.cli.screen import Line
    from holdfast.wiring.import_job import ImportResult

PASSED_OVER = "passed over"
UNREADABLE = "unreadable"
_KNOWN = "it was imported before and has not changed"
_SHOWN = 3
"""Problems of one file that are shown, unless all are wanted."""
_FILES_SHOWN = 20
_FIGURES = frozenset(range(1, 8))
_NONE = "no file with a session was found"
_PROBLEM = Styled("problem", "bold red")


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """Something in a file that could not be read."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """Everything that happened to files."""

    taken: tuple[ImportResult, ...] = ()
    passed: tuple[SkippedFile, ...] = ()
    """Files without a session that lay beside others."""
    closed: tuple[UnreadableFile | SkippedFile, ...] = ()
    """Files that cannot be read, and those that were named and hold no session."""
    refused: tuple[Refused, ...] = ()
    known: tuple[File, ...] = ()
    """Files that were imported before and have not changed; nobody opened them."""
    is_bound: bool = False
    """Whether the figures are what it can come to at most: some of it may be stored already."""
    seconds: float = 0.0
    tally: ImportTally = field(default_factory=ImportTally)
    """What all of it brought together."""

    @property
    def bytes(self) -> int:
        """Return the size of the files that hold sessions."""
        return sum(each.found.size for each in self.taken)

    @property
    def exit(self) -> Exit:
        """Return how the command ended."""
        named = [each.is_named for each in self.refused]
        named += [each.file.is_named for each in self.closed]
        if any(named) or any(each.status is ImportStatus.FAILED for each in self.taken):
            return Exit.FAILED
        brought = self.tally.sessions or self.tally.grown
        return Exit.DONE if brought else Exit.NOTHING_TO_DO

    @property
    def skipped(self) -> int:
        """Return how many files brought nothing: known already, empty or without a session."""
        statuses = self.statuses()
        return (
            statuses[ImportStatus.UNCHANGED] + statuses[ImportStatus.EMPTY] + statuses[PASSED_OVER]
        )

    def statuses(self) -> Counter[str]:
        """Return how many files came to what; together they are all that were found."""
        found = Counter[str]()
        for each in self.taken:
            found[str(each.status)] += len(each.found.files)
        found[str(ImportStatus.UNCHANGED)] += len(self.known)
        found[PASSED_OVER] += len(self.passed)
        found[UNREADABLE] += len(self.closed) + len(self.refused)
        return +found

    def troubles(self) -> Iterator[ImportProblem]:
        """Return what could not be read, file by file."""
        for each in self.refused:
            yield ImportProblem(str(each.path), 0, each.reason)
        for each in self.closed:
            yield ImportProblem(each.file.shown, 0, each.reason)
        for taken in self.taken:
            # Readers are told where a file really is; people named it in their own way.
            names = {Path(place_of(file.path)).as_posix(): file.shown for file in taken.found.files}
            first = taken.found.files[0].shown
            if taken.status is ImportStatus.FAILED:
                yield ImportProblem(first, 0, taken.reason)
            found = [
                ImportProblem(names.get(each.file, each.file) or first, each.line, each.reason)
                for each in taken.tally.problems
            ]
            # Some things are noticed late; people read a file from its beginning.
            yield from sorted(found, key=lambda each: (each.file, each.line))

    def as_json(self, *, everything: bool) -> dict[str, object]:
        """Return it as plain JSON values.

        Args:
            everything: Whether files without a session are listed that nobody named.
        """
        tally, count = self.tally, self.tally.count
        formats = Counter[str]()
        for each in self.taken:
            formats[each.found.guess.format] += len(each.found.files)
        files = [*map(_taken_fields, self.taken)]
        files += [
            _other_fields(each.shown, str(ImportStatus.UNCHANGED), _KNOWN) for each in self.known
        ]
        for passed in self.passed if everything else ():
            files.append(_other_fields(passed.file.shown, PASSED_OVER, passed.reason))
        files += [_other_fields(each.file.shown, UNREADABLE, each.reason) for each in self.closed]
        files += [_other_fields(str(each.path), UNREADABLE, each.reason) for each in self.refused]
        return {
            "sessions": len(tally.sessions),
            "messages": count.messages,
            "skipped": self.skipped,
            "problems": [
                {"file": each.file, "line": each.line, "reason": each.reason}
                for each in self.troubles()
            ],
            "grown": len(tally.grown),
            "unchanged": len(tally.unchanged),
            "branches": tally.branches,
            "tool_calls": count.tool_calls,
            "images": count.images,
            "errors": count.errors,
            "compactions": count.compactions,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "formats": dict(formats),
            "statuses": dict(self.statuses()),
            "files": files,
        }


def _taken_fields(taken: ImportResult) -> dict[str, object]:
    tally, first = taken.tally, taken.found.files[0]
    return {
        "file": str(first.root) if len(taken.found.files) > 1 else first.shown,
        "format": taken.found.guess.format,
        "status": str(taken.status),
        "sessions": [each for each in (*tally.sessions, *tally.grown, *tally.unchanged) if each],
        "messages": tally.count.messages,
        "problems": len(tally.problems),
        **({"reason": taken.reason} if taken.reason else {}),
        **(
            {
                "skipped": [
                    {"session": each.session, "reason": each.reason} for each in tally.skipped
                ]
            }
            if tally.skipped
            else {}
        ),
    }


def _other_fields(file: str, status: str, reason: str) -> dict[str, object]:
    return {"file": file, "format": None, "status": status, "reason": reason}


def report_drawn(
    imported: ImportReport,
    width: int,
    *,
    verbose: bool,
    rehearsed: bool = False,
    timed: bool = True,
) -> list[Line]:
    """Return what happened, and below it what could not be read.

    Args:
        rehearsed: Whether nothing was stored.
        timed: Whether the time that it took says something.
    """
    tally, same = imported.tally, imported.statuses()[ImportStatus.UNCHANGED]
    if not (tally.sessions or tally.grown):
        is_failed = imported.exit is Exit.FAILED and not imported.known
        begins = ("nothing imported", "bold red") if is_failed else ("nothing new", "bold yellow")
        why = "nothing is said in what was found" if imported.taken else _NONE
        if same:
            # What is damaged in a file was never stored.
            damaged = any(each.tally.problems for each in imported.taken)
            what = "everything that can be read" if damaged else "everything"
            why = f"{what} in {counted(same, 'file')} is stored already"
        headline = (Styled(*begins), Styled(f": {why}"))
    else:
        verb, added = ("would import", "would add to") if rehearsed else ("imported", "added to")
        if imported.is_bound:
            verb, added = f"{verb} at most", f"{added} at most"
        parts = [(verb, tally.sessions), (added, tally.grown)]
        (first, count), *rest = [(words, len(ids)) for words, ids in parts if ids]
        words = f" {counted(count, 'session')}"
        words += "".join(f", {verb} {counted(count, 'session')}" for verb, count in rest)
        words += f": {counted(tally.count.messages, 'message')}"
        time = f" ({megabytes(imported.bytes)} in {imported.seconds:.1f} s)"
        headline = (
            Styled(first, "bold green"),
            Styled(words),
            Styled(time if timed else "", "dim"),
        )
    lines: list[Line] = [headline]
    brought = [each for each in imported.taken if each.tally.sessions or each.tally.grown]
    if brought:
        lines += table(list(_rows(brought)), width, right=_FIGURES)
    if brought and same:
        lines.append((Styled(f"unchanged: {counted(same, 'file')}", "dim"),))
    lines += _not_taken(imported, verbose=verbose)
    lines += problems_drawn(imported, verbose=verbose)
    return lines


def offer_drawn(
    found: Sequence[tuple[Place, Sequence[File]]], width: int, now_ms: int
) -> list[Line]:
    """Return what lies in the usual places, agent by agent."""
    rows = [("agent", "files", "size", "newest", "where")]
    for place, files in found:
        newest = max(file.modified for file in files) // 1_000_000
        size = megabytes(sum(file.size for file in files))
        rows.append((place.agent, f"{len(files):,}", size, ago(newest, now_ms), str(place.path)))
    return _with_paths(rows, width, right=frozenset({1, 2}))


def places_drawn(places: Sequence[Place], width: int) -> list[Line]:
    """Return where was looked."""
    rows = [("agent", "place"), *((place.agent, str(place.path)) for place in places)]
    return _with_paths(rows, width, right=frozenset())


def problems_drawn(imported: ImportReport, *, verbose: bool = False) -> list[Line]:
    """Return what could not be read, a few things of each file unless all are wanted."""
    groups = [
        (file, list(each)) for file, each in groupby(imported.troubles(), lambda one: one.file)
    ]
    lines: list[Line] = []
    for file, troubles in groups if verbose else groups[:_FILES_SHOWN]:
        shown = troubles if verbose else troubles[:_SHOWN]
        for each in shown:
            place = f"{file}:{each.line}" if each.line else file
            lines.append((_PROBLEM, Styled(f": {place}: {each.reason}")))
        rest = len(troubles) - len(shown)
        if rest:
            lines.append((_PROBLEM, Styled(f": {file}: {rest:,} more; --verbose shows them")))
    others = len(groups) - _FILES_SHOWN
    if others > 0 and not verbose:
        words = f": {counted(others, 'more file')} with problems; --verbose names them"
        lines.append((_PROBLEM, Styled(words)))
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


def _not_taken(imported: ImportReport, *, verbose: bool) -> Iterator[Line]:
    """Say what was left alone, which files say nothing, and which were passed over."""
    for each in imported.tally.skipped:
        yield (Styled("left alone", "yellow"), Styled(f": session {each.session}: {each.reason}"))
    empty = [each for each in imported.taken if each.status is ImportStatus.EMPTY]
    silent = [(file, each.reason) for each in empty for file in each.found.files]
    yield from _left_out("nothing said", "in which nothing is said", silent, verbose=verbose)
    passed = [(each.file, each.reason) for each in imported.passed]
    yield from _left_out("passed over", "without a session", passed, verbose=verbose)


def _left_out(
    word: str, kind: str, files: Sequence[tuple[File, str]], *, verbose: bool
) -> Iterator[Line]:
    """Name the files that somebody named, or all; count the others."""
    shown = [each for each in files if verbose or each[0].is_named]
    for file, reason in shown:
        yield (Styled(word, "yellow"), Styled(f": {file.shown}: {reason}"))
    rest = len(files) - len(shown)
    if rest:
        yield (Styled(f"{word}: {counted(rest, 'file')} {kind}; --verbose names them", "dim"),)
