"""Takes sessions of other agents into the store: whatever was told once is stored once.

An import may be stopped at any instant, repeated, or run by several processes at the same time.
What is stored is only ever added to. A file that tells something else than before becomes a branch.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, DecodeError, StoreBusy
from holdfast.exchange.families import Families
from holdfast.exchange.making import Surroundings
from holdfast.exchange.matching import Relatives
from holdfast.exchange.run import Run
from holdfast.exchange.tally import Tally
from holdfast.formats.document import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from holdfast.exchange.identity import Origin
    from holdfast.exchange.matching import Target
    from holdfast.formats.chronicle import Event
    from holdfast.ports import Store
    from holdfast.transcript import Message

__all__ = ["Importer"]

_TRIES = 200
"""How often others may come first before a caller is told."""
_LONGEST_PAUSE = 0.05
"""Seconds between two such tries."""


class Importer:
    """Takes the events of session files into a store."""

    def __init__(
        self, store: Store, weigh: Callable[[Message], int], now: Callable[[], int]
    ) -> None:
        """Hold what it works with.

        Args:
            store: Where sessions go.
            weigh: Returns the tokens of a message.
            now: Returns the time in milliseconds, for what has no other.
        """
        self._store = store
        self._weigh = weigh
        self._now = now
        self._families = Families(store)

    def take(self, origin: Origin, tell: Callable[[], Iterator[Event]]) -> Tally:
        """Store what a file tells and is not stored, and return what that was.

        Args:
            origin: Where the events come from.
            tell: Returns the events from the beginning; it is called again where the file tells
                something else than what is stored, or another process writes the same sessions.
        """
        tally = Tally()
        targets: dict[str, Target] = {}
        for tries in range(_TRIES):
            run = Run(self._surroundings(origin, targets))
            try:
                _follow(run, tell)
            except Conflict:
                tally = _joined(tally, run.tally())
                targets = {}
                time.sleep(random.uniform(0, min(0.002 * (tries + 1), _LONGEST_PAUSE)))
                continue
            tally = _joined(tally, run.tally())
            if not run.targets:
                return tally
            targets |= run.targets
        raise StoreBusy(f"{origin.file}: others write to its sessions all the time; try again")

    def _surroundings(self, origin: Origin, targets: Mapping[str, Target]) -> Surroundings:
        return Surroundings(
            store=self._store,
            weigh=self._weigh,
            now=self._now,
            origin=origin,
            families=self._families,
            relatives=Relatives(self._store),
            targets=targets,
        )


def _follow(run: Run, tell: Callable[[], Iterator[Event]]) -> None:
    try:
        for event in tell():
            run.take(event)
    except DecodeError as error:
        # What was told before the damage is kept; a file that is mended goes on from there.
        run.take(Problem(0, str(error)))
    run.finish()


def _joined(earlier: Tally, later: Tally) -> Tally:
    """Return what two readings of one file did; what they found out, the later one knows."""
    made = tuple(dict.fromkeys((*earlier.sessions, *later.sessions)))
    grown = dict.fromkeys((*earlier.grown, *later.grown))
    return replace(
        later,
        sessions=made,
        grown=tuple(id_ for id_ in grown if id_ not in made),
        unchanged=tuple(id_ for id_ in later.unchanged if id_ not in made and id_ not in grown),
        branches=earlier.branches + later.branches,
        count=earlier.count + later.count,
    )
