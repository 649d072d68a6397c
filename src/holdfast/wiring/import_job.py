"""Imports other agents' sessions into the store: files are looked at and imported one by one."""

from __future__ import annotations

import gc
import hashlib
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from holdfast.agent_files.files import Unreadable, digest_of, ends_line, place_of
from holdfast.agent_files.places import Machine, usual_places
from holdfast.config.loading import NoHome, user_folder
from holdfast.formats.catalog import IN_DATABASES, agent_of
from holdfast.tokens import weight_of
from holdfast.transfer import (
    FileFingerprint,
    ImportedFiles,
    Importer,
    ImportOrigin,
    ImportTally,
    read_small_file,
)
from holdfast.wiring.assembly import counter_of
from holdfast.wiring.stores import open_store

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from holdfast.agent_files.detection import FoundFile
    from holdfast.agent_files.finding import File
    from holdfast.agent_files.places import Place
    from holdfast.config import Settings
    from holdfast.ports import Store
    from holdfast.transfer import SmallFile

_SMALL = 300_000
"""Bytes of a find that is read whole, to be written together with others.

Most sessions have fewer. One of 100 kB that is written alone takes a quarter more time, because it
is a piece of the word index by itself.
"""
_SELDOM = 20_000
"""Objects that come between two searches for garbage; at most some megabytes wait for one."""


class ImportStatus(StrEnum):
    """What became of a file."""

    IMPORTED = "imported"
    UNCHANGED = "unchanged"
    """Everything in it was there already."""
    EMPTY = "empty"
    """Nothing is said in it."""
    FAILED = "failed"
    """It could not be read to its end; what came before that was imported."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """A file, or the files of one session, and what it brought."""

    found: FoundFile
    tally: ImportTally
    status: ImportStatus
    reason: str = ""
    """Why it failed, brought nothing, or is known already."""


class ImportJob:
    """Takes what was found into a store, each file once for as long as it stays as it is."""

    def __init__(self, store: Store, settings: Settings, *, live: bool = False) -> None:
        """Begin to take.

        Args:
            live: Whether files are still written, so that half a line at their end was not named.
        """
        # A scale remembers what it has weighed, and an import would never forget.
        weigh = partial(weight_of, count=counter_of(settings).count)
        self.store = store
        self._importer = Importer(store, weigh)
        self._files = ImportedFiles(store)
        self._live = live

    def is_known(self, file: File) -> bool:
        """Say whether a file was imported as it is now, so that nobody has to open it."""
        return self._files.is_known(place_of(file.path), FileFingerprint(file.size, file.modified))

    def take(self, found: FoundFile) -> ImportResult:
        """Import one find; a file that cannot be read to its end is no error."""
        try:
            known = self._met(found)
            if isinstance(known, ImportResult):
                return known
            return self._entered(known, self._importer.take(known.origin, found.tell))
        except Unreadable as error:
            return _failed(found, error)

    def take_all(self, finds: Sequence[FoundFile]) -> list[ImportResult]:
        """Import finds in any order; small ones are written together."""
        done: list[ImportResult] = []
        waiting: list[tuple[_New, SmallFile]] = []
        for found in finds:
            if found.size > _SMALL:
                done += self._together(waiting)
                done.append(self.take(found))
                continue
            try:
                # A copy of a file is known by the other once that is entered.
                if any(each.found.size == found.size for each, _ in waiting):
                    done += self._together(waiting)
                known = self._met(found)
                if isinstance(known, ImportResult):
                    done.append(known)
                else:
                    waiting.append((known, read_small_file(known.origin, found.tell)))
            except Unreadable as error:
                done.append(_failed(found, error))
        return done + self._together(waiting)

    def join(self, done: Iterable[ImportResult]) -> None:
        """Bring together what several processes have taken, none of which saw the others'."""
        brought = [each for each in done if each.tally.sessions]
        systems = {agent_of(each.found.guess.format) for each in brought}
        made = {id_ for each in brought for id_ in each.tally.sessions}
        self._importer.join(sorted(systems), made)

    def _together(self, waiting: list[tuple[_New, SmallFile]]) -> list[ImportResult]:
        """Write what waits, and let nothing wait."""
        tallies = self._importer.take_all([story for _, story in waiting])
        done: list[ImportResult] = []
        for (new, _), tally in zip(waiting, tallies, strict=True):
            try:
                done.append(self._entered(new, tally))
            except Unreadable as error:
                done.append(_failed(new.found, error))
        waiting.clear()
        return done

    def _met(self, found: FoundFile) -> ImportResult | _New:
        """Return what is known of a find that was taken before, or how it is to be taken."""
        origin, fingerprint = _origin(found), _fingerprint(found)
        # Sessions of several agents may be spread over one folder.
        name = f"{origin.system}:{origin.file}" if found.is_spread else origin.file
        if self._files.is_known(name, fingerprint):
            return ImportResult(found, ImportTally(), ImportStatus.UNCHANGED)
        if fingerprint.digest and (twin := self._files.twin(name, fingerprint.digest)):
            return ImportResult(found, ImportTally(), ImportStatus.UNCHANGED, f"the same as {twin}")
        return _New(found, origin, name, fingerprint)

    def _entered(self, new: _New, tally: ImportTally) -> ImportResult:
        """Remember that a find was taken, and return what it brought."""
        found = new.found
        # Otherwise what stands at its end may be half of something.
        is_whole = (
            not self._live
            or found.guess.format in IN_DATABASES
            or all(ends_line(file.path) for file in found.files)
        )
        if is_whole and not tally.skipped:
            sessions = (*tally.sessions, *tally.grown, *tally.unchanged)
            self._files.enter(new.name, new.fingerprint, sessions)
        if tally.sessions or tally.grown:
            return ImportResult(found, tally, ImportStatus.IMPORTED)
        if tally.unchanged or tally.skipped:
            return ImportResult(found, tally, ImportStatus.UNCHANGED)
        silence = "nothing is said in it" if found.guess.confidence else found.guess.reason
        return ImportResult(found, tally, ImportStatus.EMPTY, silence)


@dataclass(frozen=True, slots=True)
class _New:
    """A find that was never taken as it is now."""

    found: FoundFile
    origin: ImportOrigin
    name: str
    """What the ledger knows it by."""
    fingerprint: FileFingerprint


def _failed(found: FoundFile, error: Unreadable) -> ImportResult:
    return ImportResult(found, ImportTally(), ImportStatus.FAILED, str(error))


def _origin(found: FoundFile) -> ImportOrigin:
    """Return where the find comes from: its file, or the folder over which it is spread."""
    first = found.files[0]
    place = place_of(first.path)
    if found.is_spread and not first.is_named:
        is_alone = found.unit and len(found.files) == 1
        place = place if is_alone else found.unit or place_of(first.root)
    if first.alias:
        # What comes through a pipe is known by nothing but what it is.
        place = f"{first.alias}, sha256 {digest_of(first.path)[:16]}"
    return ImportOrigin(agent_of(found.guess.format), place)


def _fingerprint(found: FoundFile) -> FileFingerprint:
    """Return what shows whether a find has changed.

    Where a session has an id, it is known by that. Where it has none, a copy of the file would
    look like another session, save for its content.
    """
    newest = max(file.modified for file in found.files)
    if found.is_spread:
        # A file may come while another goes; the folder is then as large as it was.
        states = sorted((str(each.path), each.size, each.modified) for each in found.files)
        return FileFingerprint(
            found.size, newest, hashlib.sha256(repr(states).encode()).hexdigest()
        )
    if found.about.id or found.guess.format in IN_DATABASES:
        return FileFingerprint(found.size, newest)
    return FileFingerprint(found.size, newest, digest_of(found.files[0].path))


@contextmanager
def rehearsal(settings: Settings) -> Generator[ImportJob]:
    """Lend a job into a store that begins empty and goes away afterwards.

    Only a store can say what an import brings: files repeat what others of them told.
    """
    with (
        TemporaryDirectory(prefix="holdfast-") as folder,
        closing(open_store(Path(folder) / "rehearsal.db", {})) as store,
    ):
        yield ImportJob(store, settings)


@contextmanager
def collecting_seldom() -> Generator[None]:
    """Let a process that imports look for garbage less often.

    Messages hold no circles, so that the searches find next to nothing.
    """
    before = gc.get_threshold()
    gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def places_here(environ: Mapping[str, str]) -> tuple[Place, ...]:
    """Return where agents keep their sessions on this machine.

    Raises:
        NoHome: when there is no home folder.
    """
    try:
        home = user_folder(environ)
    except NoHome:
        raise NoHome(
            "there is no home folder to look for agents in; set HOME, or name files to import"
        ) from None
    return usual_places(Machine(home, environ, sys.platform))
