"""Takes finds one after the other, and keeps what happened to each."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.agent_files.opening import Closed, Found, Passed
from holdfast.cli.import_result import Imported
from holdfast.cli.lines import clean
from holdfast.transfer import Count, ImportTally
from holdfast.wiring.import_job import ImportResult, ImportStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.agent_files.finding import File, Walk
    from holdfast.agent_files.opening import Look
    from holdfast.cli.import_progress import Meter
    from holdfast.formats.events import Problem
    from holdfast.wiring.import_pool import ImportPool

__all__ = ["Taking"]


class Taking:
    """An import while it goes on; whenever it is stopped, what was taken is known."""

    def __init__(self, take: Callable[[Found], ImportResult], meter: Meter) -> None:
        """Take who takes a find, and who shows how far it is."""
        self._take = take
        self._meter = meter
        self._taken: dict[Path, ImportResult] = {}
        self._others: dict[Path, Passed | Closed] = {}

    def take_all(self, looks: Sequence[Look], pool: ImportPool | None = None) -> list[ImportResult]:
        """Take what was found, and return what became of it; what happened before is kept.

        The problems that are returned are those that were not returned before.

        Args:
            looks: What files are.
            pool: Takes many at once, where that is faster.
        """
        finds = [look for look in looks if isinstance(look, Found)]
        self._others |= {look.file.path: look for look in looks if not isinstance(look, Found)}
        self._meter.begin(sum(found.size for found in finds))
        together = None if pool is None else pool.take(finds, self._take)
        done = list(map(self._one, finds) if together is None else self._all(finds, together))
        self._meter.end()
        return done

    def result(self, walk: Walk, known: Sequence[File], seconds: float) -> Imported:
        """Return everything that has happened.

        Args:
            walk: What was found first.
            known: The files of it that nobody had to look at then.
            seconds: How long it took.
        """
        taken = tuple(self._taken.values())
        others = self._others.values()
        seen = {file.path for each in taken for file in each.found.files} | self._others.keys()
        return Imported(
            taken=taken,
            passed=tuple(each for each in others if isinstance(each, Passed)),
            closed=tuple(each for each in others if isinstance(each, Closed)),
            refused=walk.refused,
            known=tuple(file for file in known if file.path not in seen),
            seconds=seconds,
            tally=_together([each.tally for each in taken]),
        )

    def _all(
        self, finds: Sequence[Found], together: Iterator[ImportResult]
    ) -> Iterator[ImportResult]:
        """Keep what is done in any order, and return it in the order of the finds."""
        done: dict[Path, ImportResult] = {}
        for taken in together:
            self._show(taken.found)
            done[taken.found.files[0].path] = taken
        return (self._kept(done[found.files[0].path]) for found in finds)

    def _one(self, found: Found) -> ImportResult:
        self._show(found)
        return self._kept(self._take(found))

    def _show(self, found: Found) -> None:
        self._meter.next(clean(Path(found.files[0].shown).name), found.size)

    def _kept(self, taken: ImportResult) -> ImportResult:
        path = taken.found.files[0].path
        self._others.pop(path, None)
        before = self._taken.get(path)
        if before is None:
            self._taken[path] = taken
            return taken
        self._taken[path] = _after(before, taken)
        return replace(taken, tally=replace(taken.tally, problems=_fresh(before, taken)))


def _fresh(before: ImportResult, now: ImportResult) -> tuple[Problem, ...]:
    """Return the problems of a file that was read again which it did not have before."""
    old = frozenset(before.tally.problems)
    return tuple(each for each in now.tally.problems if each not in old)


def _after(before: ImportResult, now: ImportResult) -> ImportResult:
    """Return what became of a file that was looked at again, because it changed."""
    # One that is as it was when it was imported is not read, and tells nothing.
    latest = before if now.tally == ImportTally() else now
    tally = replace(_together([before.tally, now.tally]), problems=latest.tally.problems)
    idle = now.status in (ImportStatus.UNCHANGED, ImportStatus.EMPTY)
    status = before.status if idle else now.status
    return replace(now, tally=tally, status=status)


def _together(tallies: Sequence[ImportTally]) -> ImportTally:
    """Add tallies up, each session once; one by one would copy the first of them every time."""
    made = tuple(chain.from_iterable(each.sessions for each in tallies))
    known = set(made)
    grown = dict.fromkeys(chain.from_iterable(each.grown for each in tallies))
    return ImportTally(
        sessions=made,
        grown=tuple(id_ for id_ in grown if id_ not in known),
        unchanged=tuple(dict.fromkeys(chain.from_iterable(each.unchanged for each in tallies))),
        branches=sum(each.branches for each in tallies),
        count=sum((each.count for each in tallies), Count()),
        skipped=tuple(chain.from_iterable(each.skipped for each in tallies)),
        problems=tuple(chain.from_iterable(each.problems for each in tallies)),
    )
