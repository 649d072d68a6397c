"""Finds the relatives of a session that the store has not joined with the one it came from.

An import joins the two as soon as both are there (see `kinship`). Until then, or where the parent
was never imported, the metadata of a session say what it belongs to, for whoever looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.ports import Listing
from holdfast.session import Fork
from holdfast.transfer.families import Families
from holdfast.transfer.identity import imported_of

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["Elder", "early_children", "elder_of"]


@dataclass(frozen=True, slots=True)
class Elder:
    """The session that another one came from, as that one's file says."""

    name: str
    """What its agent calls it."""
    fork: Fork
    session: str | None
    """Its id, if it was imported after all."""


def elder_of(store: Store, session: Session) -> Elder | None:
    """Return what a session came from where the store has not settled it."""
    imported = imported_of(session)
    if session.parent is not None or imported is None or not imported.about.parent:
        return None
    name = imported.about.parent
    found = Families(store).session_of(imported.identity.system, name)
    return Elder(name, imported.about.fork or Fork.BRANCH, None if found is None else found.id)


def early_children(store: Store, session: Session) -> tuple[Session, ...]:
    """Return the sessions that came from a session and are not joined with it."""
    imported = imported_of(session)
    if imported is None or not imported.about.id:
        return ()
    wanted = Listing(sources=(f"import:{imported.identity.system}",), limit=None)
    return tuple(
        each
        for each in store.sessions(wanted)
        if each.parent is None and _parent_of(each) == imported.about.id and each.id != session.id
    )


def _parent_of(session: Session) -> str:
    imported = imported_of(session)
    return "" if imported is None else imported.about.parent
