"""Takes finds one after the other, and keeps what happened to each."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.adapters.archives.opening import Closed, Found, Passed
from holdfast.cli.import_result import Imported
from holdfast.cli.lines import clean
from holdfast.exchange import Count, Tally
from holdfast.wiring.importing import Status, Taken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from holdfast.adapters.archives.finding import File, Walk
    from holdfast.adapters.archives.opening import Look
    from holdfast.cli.import_progress import Meter

__all__ = ["Taking"]


class Taking:
    """An import while it goes on; whenever it is stopped, what was taken is known."""

    def __init__(self, take: Callable[[Found], Taken], meter: Meter) -> None:
        """Take who takes a find, and who shows how far it is."""
        self._take = take
        self._meter = meter
        self._taken: dict[Path, Taken] = {}
        self._others: dict[Path, Passed | Closed] = {}

    def take_all(self, looks: Sequence[Look]) -> list[Taken]:
        """Take what was found, and return what became of it; what happened before is kept."""
        self._meter.begin(sum(look.size for look in looks if isinstance(look, Found)))
        done: list[Taken] = []
        for look in looks:
            match look:
                case Found():
                    done.append(self._one(look))
                case Passed(file=file) | Closed(file=file):
                    self._others[file.path] = look
        self._meter.end()
        return done

    def result(self, walk: Walk, known: Sequence[File], seconds: float) -> Imported:
        """Return everything that has happened.

        Args:
            walk: What was found first.
            known: The files of it that nobody had to look at.
            seconds: How long it took.
        """
        taken = tuple(self._taken.values())
        others = self._others.values()
        return Imported(
            taken=taken,
            passed=tuple(each for each in others if isinstance(each, Passed)),
            closed=tuple(each for each in others if isinstance(each, Closed)),
            refused=walk.refused,
            known=tuple(known),
            seconds=seconds,
            tally=_together([each.tally for each in taken]),
        )

    def _one(self, found: Found) -> Taken:
        path = found.files[0].path
        self._meter.next(clean(path.name), found.size)
        taken = self._take(found)
        self._others.pop(path, None)
        before = self._taken.get(path)
        self._taken[path] = taken if before is None else _after(before, taken)
        return taken


def _after(before: Taken, now: Taken) -> Taken:
    """Return what became of a file that was read again, because it grew."""
    tally = replace(_together([before.tally, now.tally]), problems=now.tally.problems)
    idle = now.status in (Status.UNCHANGED, Status.EMPTY)
    status = before.status if idle else now.status
    return replace(now, tally=tally, status=status)


def _together(tallies: Sequence[Tally]) -> Tally:
    """Add tallies up, each session once; one by one would copy the first of them every time."""
    made = tuple(chain.from_iterable(each.sessions for each in tallies))
    known = set(made)
    grown = dict.fromkeys(chain.from_iterable(each.grown for each in tallies))
    return Tally(
        sessions=made,
        grown=tuple(id_ for id_ in grown if id_ not in known),
        unchanged=tuple(dict.fromkeys(chain.from_iterable(each.unchanged for each in tallies))),
        branches=sum(each.branches for each in tallies),
        count=sum((each.count for each in tallies), Count()),
        skipped=tuple(chain.from_iterable(each.skipped for each in tallies)),
        problems=tuple(chain.from_iterable(each.problems for each in tallies)),
    )
