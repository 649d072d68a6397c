"""Indexes of what was imported: sessions by the names that their agents gave them, and files.

An import links a session to its parent as soon as both are there (see `link_parents`). Until then,
or where the parent was never imported, `stated_parent` and `unlinked_children` tell who belongs to
whom.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from holdfast.errors import Conflict, UnknownSession
from holdfast.ports import Listing
from holdfast.session import Fork, Spawn
from holdfast.transfer.identity import import_record, is_of, name_of
from holdfast.transfer.link_parents import ParentLinker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.ports import Store
    from holdfast.session import Addition, Session
    from holdfast.transfer.identity import Identity

__all__ = [
    "FileFingerprint",
    "ImportedFiles",
    "ImportedIndex",
    "StatedParent",
    "created_by",
    "stated_parent",
    "unlinked_children",
]

_READING = 3
"""Raised when readers learn to tell more of the same files: then each is read once more."""


def created_by(to: Session | Spawn) -> Session:
    """Return the session that is created where an addition goes to one that is not there."""
    return to.child if isinstance(to, Spawn) else to


class _Named(NamedTuple):
    """A session that an agent calls by a name."""

    id: str
    strand: str


class ImportedIndex:
    """The imported sessions of a store by the names that agents gave them, read on demand."""

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self.barred: set[str] = set()
        """Ids that are taken by what is left of deleted sessions."""
        self._store = store
        self._known: dict[str, dict[str, _Named]] = {}
        """Sessions by their names, for each system that somebody asked for."""
        self._empty: set[str] = set()
        """Systems of which the store held nothing, as far as anybody knows."""
        self._made: set[str] = set()
        """The ids of the sessions that were created here."""
        self._linker = ParentLinker(store)

    def session_of(self, system: str, name: str) -> Session | None:
        """Return the session that an agent calls by a name."""
        named = self._named(system).get(name)
        return None if named is None else self._stored(named.id)

    def own(self, identity: Identity) -> Session | None:
        """Return the session that has the name of a conversation, if it is that one."""
        named = self._named(identity.system).get(identity.name)
        # Where a file holds many conversations, the others are no reason to ask the store.
        if named is None or named.strand != identity.strand:
            return None
        session = self._stored(named.id)
        return session if session is not None and is_of(session, identity) else None

    def is_free(self, system: str, id_: str) -> bool:
        """Say whether a new session of a system may be given an id without asking the store.

        Nothing is taken for granted: a write raises `Conflict` when somebody has the id, and then
        the store is asked for every id.
        """
        self._named(system)
        return system in self._empty and id_ not in self._made

    def add(self, additions: Sequence[Addition]) -> None:
        """Write to sessions in one step, which creates those that are new.

        Raises:
            Conflict: when one has changed, or its id is taken. Where it is the only one and no
                session has the id, that is not proposed again.
        """
        fresh = [
            (created_by(each.to), each.drafts) for each in additions if not isinstance(each.to, str)
        ]
        try:
            self._store.add(additions)
        except Conflict:
            self._empty.clear()
            if len(additions) == 1:
                self.barred |= {each.id for each, _ in fresh if self._stored(each.id) is None}
            raise
        for session, drafts in fresh:
            self._made.add(session.id)
            self._learn(session)
            self._linker.born(session, drafts)

    def settle(self, told: Iterable[str]) -> None:
        """Link forks and sub-agents to parents that were imported after them.

        It is to be called when the whole of a file is stored.

        Args:
            told: Sessions that were there and were told again.
        """
        self._linker.settle(self._home_of, told)

    def join(self, systems: Iterable[str], made: AbstractSet[str]) -> None:
        """Link what several processes have imported, none of which saw the others' sessions.

        Args:
            systems: Where it came from.
            made: The sessions that were created.
        """
        for system in systems:
            self._named(system)
        self._linker.compare(made)
        self.settle(())

    def _home_of(self, system: str, name: str) -> str | None:
        named = self._named(system).get(name)
        return None if named is None else named.id

    def _named(self, system: str) -> dict[str, _Named]:
        if system not in self._known:
            wanted = Listing(sources=(f"import:{system}",), limit=None)
            self._known[system] = {}
            found = self._store.sessions(wanted)
            for session in found:
                self._learn(session)
            if not found and not self._store.sessions(replace(wanted, trashed=True, limit=1)):
                self._empty.add(system)
        return self._known[system]

    def _stored(self, id_: str) -> Session | None:
        try:
            return self._store.session(id_)
        except UnknownSession:
            return None

    def _learn(self, session: Session) -> None:
        """Remember a session by its name, unless it is a branch or a strand of another."""
        identity = name_of(session)
        known = None if identity is None else self._known.get(identity.system)
        if identity is not None and known is not None:
            known.setdefault(identity.name, _Named(session.id, identity.strand))
            self._linker.learn(session, identity)


@dataclass(frozen=True, slots=True)
class StatedParent:
    """The session that another one came from, as that one's file says."""

    name: str
    """What its agent calls it."""
    fork: Fork
    session: str | None
    """Its id, if it was imported after all."""


def stated_parent(store: Store, session: Session) -> StatedParent | None:
    """Return what a session came from where the store has not settled it."""
    imported = import_record(session)
    if session.parent is not None or imported is None or not imported.about.parent:
        return None
    name = imported.about.parent
    found = ImportedIndex(store).session_of(imported.identity.system, name)
    return StatedParent(
        name, imported.about.fork or Fork.BRANCH, None if found is None else found.id
    )


def unlinked_children(store: Store, session: Session) -> tuple[Session, ...]:
    """Return the sessions that came from a session and are not joined with it."""
    imported = import_record(session)
    if imported is None or not imported.about.id:
        return ()
    wanted = Listing(sources=(f"import:{imported.identity.system}",), limit=None)
    return tuple(
        each
        for each in store.sessions(wanted)
        if each.parent is None and _parent_of(each) == imported.about.id and each.id != session.id
    )


def _parent_of(session: Session) -> str:
    imported = import_record(session)
    return "" if imported is None else imported.about.parent


@dataclass(frozen=True, slots=True)
class FileFingerprint:
    """Size, time and digest of a file, by which a change of it is noticed."""

    size: int
    modified: int
    """In nanoseconds, as the file system says."""
    digest: str = ""
    """Of the content, where somebody has read it."""


class _ImportedFile(NamedTuple):
    """A file as it was when it was imported."""

    path: str
    fingerprint: FileFingerprint


class ImportedFiles:
    """The files that were imported, kept in the store beside what came from them.

    A file is entered when everything in it is stored, so that an import that was stopped reads it
    again. It counts for as long as the sessions are there that came from it: one that was deleted
    comes back when somebody imports its file.
    """

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self._store = store

    def is_known(self, path: str, fingerprint: FileFingerprint) -> bool:
        """Say whether a file was imported as it is now; without a digest, by size and time."""
        found = self._found(_file(path))
        if found is None or found.fingerprint.size != fingerprint.size:
            return False
        if fingerprint.digest:
            return found.fingerprint.digest == fingerprint.digest
        return found.fingerprint.modified == fingerprint.modified

    def twin(self, path: str, digest: str) -> str | None:
        """Return another path under which the same content was imported.

        Where a format has no ids of its own, a copy of a file would be another session.
        """
        found = self._found(_content(digest))
        return None if found is None or found.path == path else found.path

    def enter(self, path: str, fingerprint: FileFingerprint, sessions: Sequence[str]) -> None:
        """Remember that a file was imported, and which sessions have what is in it."""
        fields = [
            _READING,
            path,
            [fingerprint.size, fingerprint.modified, fingerprint.digest],
            [*sessions],
        ]
        written = json.dumps(fields, separators=(",", ":"))
        self._store.remember(_file(path), written)
        if fingerprint.digest and self._found(_content(fingerprint.digest)) is None:
            self._store.remember(_content(fingerprint.digest), written)

    def _found(self, name: str) -> _ImportedFile | None:
        """Return a file that was imported, unless a session of it is gone."""
        written = self._store.remembered(name)
        if written is None:
            return None
        reading, path, fingerprint, sessions = cast("list[object]", json.loads(written))
        if reading != _READING or not all(map(self._is_there, cast("list[str]", sessions))):
            return None
        return _ImportedFile(str(path), FileFingerprint(*cast("tuple[int, int, str]", fingerprint)))

    def _is_there(self, id_: str) -> bool:
        try:
            return self._store.session(id_).trashed is None
        except UnknownSession:
            return False


def _file(path: str) -> str:
    return f"import:file:{path}"


def _content(digest: str) -> str:
    return f"import:copy:{digest}"
