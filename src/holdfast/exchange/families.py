"""Finds imported sessions by the names that their agents gave them, and names for new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import Conflict, UnknownSession
from holdfast.exchange.identity import imported_of
from holdfast.ports import Listing
from holdfast.session import Session, Spawn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports import Store
    from holdfast.session import Addition

__all__ = ["Families", "session_to"]


def session_to(addition: Addition) -> Session | None:
    """Return the session that an addition creates, if it does."""
    match addition.to:
        case Spawn(child=child):
            return child
        case Session() as session:
            return session
        case str():
            return None


class Families:
    """The imported sessions of a store, as far as somebody asked for one."""

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self.barred: set[str] = set()
        """Ids that are taken by what is left of deleted sessions."""
        self._store = store
        self._known: dict[str, dict[str, str]] = {}
        """Ids by the names of sessions, for each system that somebody asked for."""

    def session_of(self, system: str, name: str) -> Session | None:
        """Return the session that an agent calls by a name."""
        if system not in self._known:
            wanted = Listing(sources=(f"import:{system}",), limit=None)
            self._known[system] = {}
            for session in self._store.sessions(wanted):
                self._learn(session)
        id_ = self._known[system].get(name)
        try:
            return None if id_ is None else self._store.session(id_)
        except UnknownSession:
            return None

    def add(self, additions: Sequence[Addition]) -> None:
        """Write to sessions in one step, which creates those that are new.

        Raises:
            Conflict: when one has changed, or its id is taken. Where it is the only one and no
                session has the id, that is not proposed again.
        """
        fresh = [made for made in map(session_to, additions) if made is not None]
        try:
            self._store.add(additions)
        except Conflict:
            if len(additions) == 1:
                self.barred |= {each.id for each in fresh if not self._is_there(each.id)}
            raise
        for session in fresh:
            self._learn(session)

    def _is_there(self, id_: str) -> bool:
        try:
            self._store.session(id_)
        except UnknownSession:
            return False
        return True

    def _learn(self, session: Session) -> None:
        """Remember a session by its name, unless it is a branch or a strand of another."""
        imported = imported_of(session)
        if imported is None or imported.mark or imported.place is not None:
            return
        known = self._known.get(imported.identity.system)
        if known is not None:
            known.setdefault(imported.identity.name, session.id)
