"""What an import came to, as a value: for the exit code, for JSON, and for a person's eyes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.agent_files.files import place_of
from holdfast.cli.exits import Exit
from holdfast.transfer import ImportTally
from holdfast.wiring.import_job import ImportResult, ImportStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.agent_files.finding import File, Refused
    from holdfast.agent_files.opening import Closed, Passed
    from holdfast.transfer import Skipped

__all__ = ["PASSED_OVER", "UNREADABLE", "Imported", "Trouble"]

PASSED_OVER = "passed over"
UNREADABLE = "unreadable"
_KNOWN = "it was imported before and has not changed"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something in a file that could not be read."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Everything that happened to files."""

    taken: tuple[ImportResult, ...] = ()
    passed: tuple[Passed, ...] = ()
    closed: tuple[Closed, ...] = ()
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

    def troubles(self) -> Iterator[Trouble]:
        """Return what could not be read, file by file."""
        for each in self.refused:
            yield Trouble(str(each.path), 0, each.reason)
        for each in self.closed:
            yield Trouble(each.file.shown, 0, each.reason)
        for taken in self.taken:
            # Readers are told where a file really is; people named it in their own way.
            names = {Path(place_of(file.path)).as_posix(): file.shown for file in taken.found.files}
            first = taken.found.files[0].shown
            if taken.status is ImportStatus.FAILED:
                yield Trouble(first, 0, taken.reason)
            found = [
                Trouble(names.get(each.file, each.file) or first, each.line, each.reason)
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
            "formats": dict(self._formats()),
            "statuses": dict(self.statuses()),
            "files": [*map(_taken_fields, self.taken), *self._others(everything=everything)],
        }

    def _formats(self) -> Counter[str]:
        found = Counter[str]()
        for each in self.taken:
            found[each.found.guess.format] += len(each.found.files)
        return found

    def _others(self, *, everything: bool) -> Iterator[dict[str, object]]:
        for file in self.known:
            yield _other(file.shown, str(ImportStatus.UNCHANGED), _KNOWN)
        for passed in self.passed:
            if everything or passed.file.is_named:
                yield _other(passed.file.shown, PASSED_OVER, passed.reason)
        for closed in self.closed:
            yield _other(closed.file.shown, UNREADABLE, closed.reason)
        for refused in self.refused:
            yield _other(str(refused.path), UNREADABLE, refused.reason)


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
        **({"skipped": [_skipped(each) for each in tally.skipped]} if tally.skipped else {}),
    }


def _skipped(skipped: Skipped) -> dict[str, object]:
    return {"session": skipped.session, "reason": skipped.reason}


def _other(file: str, status: str, reason: str) -> dict[str, object]:
    return {"file": file, "format": None, "status": status, "reason": reason}
