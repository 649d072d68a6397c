"""Finds imported sessions by the names that their agents gave them, and names for new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import Conflict, UnknownSession
from holdfast.exchange.identity import imported_of, proposed_ids
from holdfast.exchange.matching import own_or_free
from holdfast.ports import Listing
from holdfast.session import Spawn

if TYPE_CHECKING:
    from holdfast.exchange.identity import Identity
    from holdfast.ports import Store
    from holdfast.session import Entry, Session

__all__ = ["Families"]


class Families:
    """The imported sessions of a store, as far as somebody asked for one."""

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self.barred: set[str] = set()
        """Ids that are taken by what is left of deleted sessions."""
        self._store = store
        self._known: dict[str, dict[str, str]] = {}
        """Ids by the names of sessions, for each system that somebody asked for."""

    def session_of(self, system: str, name: str) -> str | None:
        """Return the id of the session that an agent calls by a name."""
        if system not in self._known:
            wanted = Listing(sources=(f"import:{system}",), limit=None)
            self._known[system] = {}
            for session in self._store.sessions(wanted):
                self._learn(session)
        return self._known[system].get(name)

    def unused_id(self, identity: Identity, started: int | None, salt: str) -> str:
        """Return the id of a session that is to be created.

        Raises:
            Conflict: when somebody has created it meanwhile.
        """
        ids = proposed_ids(identity, started, salt)
        id_ = own_or_free(self._store, ids, identity, self.barred)
        if not isinstance(id_, str):
            raise Conflict(f"session {id_.id} was imported by somebody else")
        return id_

    def create(self, session: Session, shows: tuple[Entry, ...]) -> Session:
        """Create a session, as the child of another if it names one.

        Raises:
            Conflict: when its id is taken; one that no session has is not proposed again.
        """
        try:
            if session.parent is None:
                made = self._store.create(session)
            else:
                made = self._store.spawn(Spawn(child=session, shows=shows))
        except Conflict:
            try:
                self._store.session(session.id)
            except UnknownSession:
                self.barred.add(session.id)
            raise
        self._learn(made)
        return made

    def _learn(self, session: Session) -> None:
        """Remember a session by its name, unless it is a branch or a strand of another."""
        imported = imported_of(session)
        if imported is None or imported.mark or imported.place is not None:
            return
        known = self._known.get(imported.identity.system)
        if known is not None:
            known.setdefault(imported.identity.name, session.id)
