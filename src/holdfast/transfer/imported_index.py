"""Indexes of what was imported, by the names that agents gave it, and the links to parents.

The file of a sub-agent or of a fork names its parent. Where the parent is not stored yet, the
session is stored without one, and gets it as soon as both are there, whichever was imported first.
Until then `stated_parent` and `unlinked_children` tell who belongs to whom.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from holdfast.errors import Conflict, UnknownSession
from holdfast.formats.events import native_of
from holdfast.ports import Amendment, Listing
from holdfast.session import Fork, Spawn
from holdfast.transfer.identity import (
    beginning_of,
    import_record,
    is_of,
    is_strand,
    name_of,
    parent_name,
)
from holdfast.transfer.repeated_usage import SessionsByFile, count_apart, count_once, first_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.ports import Store
    from holdfast.session import Addition, Draft, Session
    from holdfast.transfer.identity import Identity

_Name: TypeAlias = tuple[str, str]
"""A system, and what it calls a session."""


class ParentLinker:
    """Children and parents that the store has not linked yet, and costs that were not compared."""

    def __init__(self, store: Store) -> None:
        """Know nobody yet."""
        self._store = store
        self._orphans: dict[_Name, list[str]] = {}
        """Sessions whose parent was not there, by the parent's name."""
        self._news: set[_Name] = set()
        """Parents that may have come since somebody looked, or children of theirs."""
        self._children: set[str] = set()
        """Sessions that came from one of another file, and whose costs nobody has compared."""
        self._beginnings: dict[str, str] = {}
        """The marks of what parents begin with."""
        self._twins: dict[_Name, list[str]] = {}
        """Sessions that came from no other, by the system and by what they begin with."""
        self._alike: set[_Name] = set()
        """Those of which one was told, and whose costs nobody has compared."""

    def learn(self, session: Session, identity: Identity) -> None:
        """Take note of a stored session, which may be the parent or the child of another."""
        self._news.add((identity.system, identity.name))
        if session.parent is None and (elder := parent_name(session)):
            name = identity.system, elder
            self._news.add(name)
            self._orphans.setdefault(name, []).append(session.id)
        elif session.parent is None and (mark := beginning_of(session)):
            self._twins.setdefault((identity.system, mark), []).append(session.id)

    def born(self, session: Session, drafts: Sequence[Draft]) -> None:
        """Take note of a session that was created; one that came from another may repeat its costs.

        Args:
            drafts: What it begins with, as far as it was written with it.
        """
        if session.parent is None:
            self._look_for_twins(session)
        if session.parent is None or is_strand(session):
            return
        if session.fork is Fork.DELEGATION and drafts:
            # There are many sub-agents, and next to none of them begin with what others said.
            mark = native_of(drafts[0].message).mark
            if not self._beginnings.get(session.parent):
                # A parent may have no message any more.
                with suppress(UnknownSession):
                    self._beginnings[session.parent] = first_mark(self._store, session.parent)
            if mark != self._beginnings.get(session.parent, ""):
                return
        self._children.add(session.id)

    def settle(self, home_of: Callable[[str, str], str | None], told: Iterable[str]) -> None:
        """Link sessions to parents that were imported since, and count what they repeat once.

        Args:
            home_of: Returns the id of the session that a system calls by a name.
            told: Sessions that were there and were told again. They need not have grown: whoever
                made them longer may have been stopped before this.
        """
        news, self._news = self._news, set()
        for name in sorted(news & self._orphans.keys()):
            if (home := home_of(*name)) is not None:
                for orphan in self._orphans.pop(name):
                    with suppress(Conflict, UnknownSession):
                        imported = import_record(self._store.session(orphan))
                        if imported is not None:
                            fork = imported.about.fork or Fork.BRANCH
                            self._store.amend(orphan, Amendment(parent=home, fork=fork))
                            self._children.add(orphan)
        children, self._children = self._children, set()
        children |= self._concerned(told)
        for id_ in children:
            with suppress(UnknownSession):
                count_once(self._store, id_)
        alike, self._alike = self._alike, set()
        for name in alike:
            # There may be any number that begin with the same prompt, and need no second look.
            self._twins[name] = count_apart(self._store, self._twins[name])

    def compare(self, made: AbstractSet[str]) -> None:
        """Have the costs compared of sessions that others created, each unaware of the others."""
        for name, ids in self._twins.items():
            if len(ids) > 1 and not made.isdisjoint(ids):
                self._alike.add(name)

    def _concerned(self, told: Iterable[str]) -> set[str]:
        """Return the sessions that may repeat what was told: it may be some of them."""
        firsts: set[str] = set()
        found: set[str] = set()
        files = SessionsByFile(())
        for id_ in told:
            with suppress(UnknownSession):
                # As a rule, what was told together is one family, which is read once.
                files = files if id_ in files else SessionsByFile(self._store.lineage(id_))
                first = files.first(id_)
                if first.id not in firsts:
                    firsts.add(first.id)
                    found |= {first.id, *(each.id for each in files.told_after(first.id))}
                    self._look_for_twins(first)
        return found

    def _look_for_twins(self, session: Session) -> None:
        """Have the costs of a session compared, if there are others that begin as it does."""
        imported = import_record(session)
        if imported is not None and imported.begins:
            name = imported.identity.system, imported.begins
            if len(self._twins.get(name, ())) > 1:
                self._alike.add(name)


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
        if each.parent is None and parent_name(each) == imported.about.id and each.id != session.id
    )


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
