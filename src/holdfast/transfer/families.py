"""Finds imported sessions by the names that their agents gave them, and names for new ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import Conflict, UnknownSession
from holdfast.ports import Listing
from holdfast.session import Spawn
from holdfast.transfer.identity import is_of, name_of
from holdfast.transfer.kinship import Kinship

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.ports import Store
    from holdfast.session import Addition, Session
    from holdfast.transfer.identity import Identity

__all__ = ["Families", "created_by"]


def created_by(to: Session | Spawn) -> Session:
    """Return the session that is created where an addition goes to one that is not there."""
    return to.child if isinstance(to, Spawn) else to


class _Named(NamedTuple):
    """A session that an agent calls by a name."""

    id: str
    strand: str


class Families:
    """The imported sessions of a store, as far as somebody asked for one."""

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
        self._kinship = Kinship(store)

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
            self._kinship.born(session, drafts)

    def settle(self, told: Iterable[str]) -> None:
        """Bring together what came from another and was imported before it.

        It is to be called when the whole of a file is stored.

        Args:
            told: Sessions that were there and were told again.
        """
        self._kinship.settle(self._home_of, told)

    def join(self, systems: Iterable[str], made: AbstractSet[str]) -> None:
        """Bring together what several processes have imported, none of which saw the others'.

        Args:
            systems: Where it came from.
            made: The sessions that were created.
        """
        for system in systems:
            self._named(system)
        self._kinship.compare(made)
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
            self._kinship.learn(session, identity)
