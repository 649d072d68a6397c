"""Brings other agents' sessions into the store: files are looked at, told, and taken one by one."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.adapters.archives.files import Unreadable, digest_of
from holdfast.adapters.archives.places import Machine, usual_places
from holdfast.adapters.system_clock import SystemClock
from holdfast.exchange import Count, Importer, Ledger, Origin, Stamp, Tally
from holdfast.exchange.tally import count_of
from holdfast.formats.catalog import IN_DATABASES
from holdfast.formats.chronicle import Begun, Folded, Told
from holdfast.formats.document import Problem
from holdfast.session import Fork
from holdfast.tokens import Scale
from holdfast.wiring.configured import counter_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.adapters.archives.finding import File
    from holdfast.adapters.archives.opening import Found
    from holdfast.adapters.archives.places import Place
    from holdfast.config import Settings
    from holdfast.ports import Store

__all__ = ["Intake", "Status", "Taken", "places_here", "rehearse"]


class Status(StrEnum):
    """What became of a file."""

    IMPORTED = "imported"
    UNCHANGED = "unchanged"
    """Everything in it was there already."""
    EMPTY = "empty"
    """Nothing is said in it."""
    FAILED = "failed"
    """It could not be read to its end; what came before that was imported."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A file, or the files of one session, and what it brought."""

    found: Found
    tally: Tally
    status: Status
    reason: str = ""
    """Why it failed, or is known already."""


class Intake:
    """Takes what was found into a store, each file once for as long as it stays as it is."""

    def __init__(self, store: Store, settings: Settings) -> None:
        """Take the store that everything goes to."""
        counter = counter_of(settings)
        # A scale remembers what it has weighed, and an import would never forget.
        self._importer = Importer(
            store, lambda message: Scale(counter).weigh(message), SystemClock().moment
        )
        self._ledger = Ledger(store)

    def is_known(self, file: File) -> bool:
        """Say whether a file was imported as it is now, so that nobody has to open it."""
        return self._ledger.is_known(str(file.path.absolute()), Stamp(file.size, file.modified))

    def take(self, found: Found) -> Taken:
        """Import one find; a file that cannot be read to its end is no error."""
        try:
            origin, stamp = _origin(found), _stamp(found)
            # Sessions of several agents may be spread over one folder.
            name = f"{origin.system}:{origin.file}" if found.is_spread else origin.file
            if self._ledger.is_known(name, stamp):
                return Taken(found, Tally(), Status.UNCHANGED)
            if stamp.digest and (twin := self._ledger.twin(name, stamp.digest)):
                return Taken(found, Tally(), Status.UNCHANGED, f"the same as {twin}")
            tally = self._importer.take(origin, found.tell)
        except Unreadable as error:
            return Taken(found, Tally(), Status.FAILED, str(error))
        if not tally.skipped:
            self._ledger.enter(name, stamp)
        return Taken(found, tally, _status(tally))


def _status(tally: Tally) -> Status:
    if tally.sessions or tally.grown:
        return Status.IMPORTED
    return Status.UNCHANGED if tally.unchanged or tally.skipped else Status.EMPTY


def _origin(found: Found) -> Origin:
    """Return where the find comes from: its file, or the folder over which it is spread."""
    first = found.files[0]
    spread = found.is_spread and not first.is_named
    place = str((first.root if spread else first.path).absolute())
    newest = max(file.modified for file in found.files)
    return Origin(found.guess.format, place, newest // 1_000_000)


def _stamp(found: Found) -> Stamp:
    """Return what shows whether a find has changed.

    Where a session has an id, it is known by that. Where it has none, a copy of the file would
    look like another session, save for its content.
    """
    newest = max(file.modified for file in found.files)
    if found.is_spread:
        # A file may come while another goes; the folder is then as large as it was.
        states = sorted((str(each.path), each.size, each.modified) for each in found.files)
        return Stamp(found.size, newest, hashlib.sha256(repr(states).encode()).hexdigest())
    if found.about.id or found.guess.format in IN_DATABASES:
        return Stamp(found.size, newest)
    return Stamp(found.size, newest, digest_of(found.files[0].path))


def rehearse(found: Found) -> Taken:
    """Return what an import into an empty store would bring; nothing is stored."""
    count, told, branches = Count(), set[str](), set[str]()
    problems: list[Problem] = []
    try:
        for event in found.tell():
            match event:
                case Begun(strand=strand, fork=Fork.BRANCH):
                    branches.add(strand)
                case Told(strand=strand, message=message):
                    told.add(strand)
                    count += count_of((message,))
                case Folded():
                    count += Count(compactions=1)
                case Problem():
                    problems.append(event)
                case _:
                    pass
    except Unreadable as error:
        return Taken(found, Tally(), Status.FAILED, str(error))
    tally = Tally(
        sessions=("",) * len(told),
        branches=len(branches & told),
        count=count,
        problems=tuple(problems),
    )
    return Taken(found, tally, _status(tally))


def places_here(environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return where agents keep their sessions on this machine."""
    home = Path(environ.get("HOME") or Path.home())
    return usual_places(Machine(home, environ, sys.platform))
