"""Takes sessions of other agents into the store: whatever was told once is stored once.

An import may be stopped at any instant, repeated, or run by several processes at the same time.
What is stored is only ever added to. A file that tells something else than before becomes a branch.
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, DecodeError, StoreBusy
from holdfast.formats.events import Problem
from holdfast.transfer.families import Families
from holdfast.transfer.making import Surroundings
from holdfast.transfer.matching import Relatives
from holdfast.transfer.outbox import flush_together
from holdfast.transfer.run import Run
from holdfast.transfer.stories import Group
from holdfast.transfer.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.transcript import Message
    from holdfast.transfer.identity import Origin
    from holdfast.transfer.matching import Target
    from holdfast.transfer.stories import Story

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
        return self._settled([self._taken(origin, tell, Tally(), {})])[0]

    def take_all(self, stories: Sequence[Story]) -> list[Tally]:
        """Store what small files tell, as `take` would one by one, in as few steps as it can be."""
        tallies: list[Tally] = []
        group = Group()
        for story in stories:
            if not group.admits(story):
                tallies += self._landed(group)
                group = Group()
            run = self._told(story, group.promised)
            if run is not None and not run.is_seeking:
                group.add(story, run)
                continue
            tallies += self._landed(group)
            group = Group()
            if run is None:
                tallies.append(self.take(story.origin, story.tell))
            else:
                tallies += self._settled([self._finished(story, run)])
        return tallies + self._landed(group)

    def join(self, systems: Iterable[str], made: AbstractSet[str]) -> None:
        """Bring together what other importers have stored at the same time; see `Families.join`."""
        # What this one knows of the store is from before.
        Families(self._store).join(systems, made)

    def _taken(
        self,
        origin: Origin,
        tell: Callable[[], Iterator[Event]],
        tally: Tally,
        targets: Mapping[str, Target],
    ) -> Tally:
        """Read a file until all of it is stored.

        Args:
            origin: Where the events come from.
            tell: Returns the events from the beginning.
            tally: What readings before have done.
            targets: What they have found out.
        """
        for tries in range(_TRIES):
            run = Run(self._surroundings(origin, targets, set()))
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
            targets = {**targets, **run.targets}
        raise StoreBusy(f"{origin.file}: others write to its sessions all the time; try again")

    def _told(self, story: Story, promised: set[str]) -> Run | None:
        """Follow a story up to its end, where it waits; None where it must be taken by itself."""
        if not story.is_plain:
            return None
        run = Run(self._surroundings(story.origin, {}, promised))
        try:
            for event in story.events:
                run.take(event)
        except Conflict:
            return None  # others have written to its sessions, and it has written nothing
        return run

    def _landed(self, group: Group) -> list[Tally]:
        """Write what waits in one step, and return what became of each story."""
        # Whichever others came first with is found when each is written alone.
        with suppress(Conflict):
            flush_together(self._families.add, [run.outbox for _, run in group.told])
        return self._settled([self._finished(story, run) for story, run in group.told])

    def _settled(self, tallies: list[Tally]) -> list[Tally]:
        """Return what became of files that are stored, and bring them together with others."""
        told = (id_ for tally in tallies for id_ in (*tally.grown, *tally.unchanged))
        self._families.settle(told)
        return tallies

    def _finished(self, story: Story, run: Run) -> Tally:
        try:
            run.finish()
        except Conflict:
            return self._taken(story.origin, story.tell, run.tally(), {})
        if not run.targets:
            return run.tally()
        return self._taken(story.origin, story.tell, run.tally(), run.targets)

    def _surroundings(
        self, origin: Origin, targets: Mapping[str, Target], promised: set[str]
    ) -> Surroundings:
        return Surroundings(
            store=self._store,
            weigh=self._weigh,
            now=self._now,
            origin=origin,
            families=self._families,
            relatives=Relatives(self._store),
            targets=targets,
            promised=promised,
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
