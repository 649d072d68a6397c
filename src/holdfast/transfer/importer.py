"""Imports sessions of other agents into the store: whatever was told once is stored once.

An import may be stopped at any instant, repeated, or run by several processes at the same time.
What is stored is only ever added to. A file that tells something else than before becomes a branch.
Most agents write a small file for each session: such files are written to the store together.
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, DecodeError, StoreBusy
from holdfast.formats.events import (
    CompactionEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.transfer.file_import import FileImport, ImportTally
from holdfast.transfer.imported_index import ImportedIndex
from holdfast.transfer.new_session import ImportContext
from holdfast.transfer.resuming import BranchIndex
from holdfast.transfer.session_writer import BATCH, flush_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.transcript import Message
    from holdfast.transfer.identity import ImportOrigin
    from holdfast.transfer.resuming import ResumePoint

_TRIES = 200
"""How often others may come first before a caller is told."""
_LONGEST_PAUSE = 0.05
"""Seconds between two such tries."""


@dataclass(frozen=True, slots=True)
class SmallFile:
    """What a small file tells."""

    origin: ImportOrigin
    tell: Callable[[], Iterator[Event]]
    """Tells it from the beginning."""
    events: tuple[Event, ...]
    """All of it, or as much as shows that it is too long: a packed file may be anything."""

    @property
    def is_plain(self) -> bool:
        """Say whether nothing of it is written before its end."""
        return len(self.events) < BATCH and not any(
            isinstance(event, CompactionEvent | RewindEvent) for event in self.events
        )

    @property
    def names(self) -> frozenset[str]:
        """Return what its agent calls the conversations that it tells of, and their parents."""
        known = [
            event.about
            for event in self.events
            if isinstance(event, StrandStarted | MetadataUpdated)
        ]
        return frozenset(name for about in known for name in (about.id, about.parent) if name)


class _Group:
    """Small files that were read, and whose messages wait to be written in one transaction."""

    def __init__(self) -> None:
        """Begin with none."""
        self.told: list[tuple[SmallFile, FileImport]] = []
        self.promised: set[str] = set()
        """Ids of sessions that are going to be created."""
        self._names: set[str] = set()
        self._events = 0

    def admits(self, file: SmallFile) -> bool:
        """Say whether a file may be told before the others are written.

        One that tells of the same conversations must find them in the store.
        """
        return self._events + len(file.events) <= BATCH and self._names.isdisjoint(file.names)

    def add(self, file: SmallFile, run: FileImport) -> None:
        """Let a file wait that was told."""
        self.told.append((file, run))
        self._names |= file.names
        self._events += len(file.events)


def read_small_file(origin: ImportOrigin, tell: Callable[[], Iterator[Event]]) -> SmallFile:
    """Return what a small file tells, up to where it is damaged or too long to wait for others."""
    events: list[Event] = []
    try:
        for event in islice(tell(), BATCH):
            events.append(event)  # noqa: PERF402 - what came before an error is kept
    except DecodeError as error:
        events.append(Problem(0, str(error)))
    return SmallFile(origin, tell, tuple(events))


class Importer:
    """Writes the events of session files to a store."""

    def __init__(self, store: Store, weigh: Callable[[Message], int]) -> None:
        """Hold what it works with."""
        self._store = store
        self._weigh = weigh
        self._index = ImportedIndex(store)

    def take(self, origin: ImportOrigin, tell: Callable[[], Iterator[Event]]) -> ImportTally:
        """Store what a file tells and is not stored, and return what that was.

        Args:
            tell: Returns the events from the beginning; it is called again where the file tells
                something else than what is stored, or another process writes the same sessions.
        """
        return self._settled([self._import(origin, tell, ImportTally(), {})])[0]

    def take_all(self, files: Sequence[SmallFile]) -> list[ImportTally]:
        """Store what small files tell, as `take` would one by one, in as few steps as it can be."""
        tallies: list[ImportTally] = []
        group = _Group()
        for file in files:
            if not group.admits(file):
                tallies += self._write_group(group)
                group = _Group()
            run = self._read(file, group.promised)
            if run is not None and not run.is_resuming:
                group.add(file, run)
                continue
            tallies += self._write_group(group)
            group = _Group()
            if run is None:
                tallies.append(self.take(file.origin, file.tell))
            else:
                tallies += self._settled([self._finished(file, run)])
        return tallies + self._write_group(group)

    def join(self, systems: Iterable[str], made: AbstractSet[str]) -> None:
        """Link what other importers have stored at the same time; see `ImportedIndex.join`."""
        # What this one knows of the store is from before.
        ImportedIndex(self._store).join(systems, made)

    def _import(
        self,
        origin: ImportOrigin,
        tell: Callable[[], Iterator[Event]],
        tally: ImportTally,
        targets: Mapping[str, ResumePoint],
    ) -> ImportTally:
        """Read a file until all of it is stored.

        Args:
            tally: What readings before have done.
            targets: What they have found out.
        """
        for tries in range(_TRIES):
            run = FileImport(self._context(origin, targets, set()))
            try:
                try:
                    for event in tell():
                        run.take(event)
                except DecodeError as error:
                    # What came before the damage is kept; a file that is mended goes on from there.
                    run.take(Problem(0, str(error)))
                run.finish()
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

    def _read(self, file: SmallFile, promised: set[str]) -> FileImport | None:
        """Read a file up to its end, where it waits; None where it must be taken by itself."""
        if not file.is_plain:
            return None
        run = FileImport(self._context(file.origin, {}, promised))
        try:
            for event in file.events:
                run.take(event)
        except Conflict:
            return None  # others have written to its sessions, and it has written nothing
        return run

    def _write_group(self, group: _Group) -> list[ImportTally]:
        """Write what waits in one step, and return what became of each file."""
        # Whichever others came first with is found when each is written alone.
        with suppress(Conflict):
            flush_together(self._index.add, [run.batch for _, run in group.told])
        return self._settled([self._finished(file, run) for file, run in group.told])

    def _settled(self, tallies: list[ImportTally]) -> list[ImportTally]:
        """Link files that are stored to their parents and children, and return their tallies."""
        told = (id_ for tally in tallies for id_ in (*tally.grown, *tally.unchanged))
        self._index.settle(told)
        return tallies

    def _finished(self, file: SmallFile, run: FileImport) -> ImportTally:
        try:
            run.finish()
        except Conflict:
            return self._import(file.origin, file.tell, run.tally(), {})
        if not run.targets:
            return run.tally()
        return self._import(file.origin, file.tell, run.tally(), run.targets)

    def _context(
        self, origin: ImportOrigin, targets: Mapping[str, ResumePoint], promised: set[str]
    ) -> ImportContext:
        return ImportContext(
            store=self._store,
            weigh=self._weigh,
            origin=origin,
            imported_index=self._index,
            branch_index=BranchIndex(self._store),
            targets=targets,
            promised=promised,
        )


def _joined(earlier: ImportTally, later: ImportTally) -> ImportTally:
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
