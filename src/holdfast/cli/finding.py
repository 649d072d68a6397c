"""Finds the session that a person means: by its id, the beginning of one, or `last`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.screen import tell
from holdfast.session import latest_leaf
from holdfast.views.sessions import find_session

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["find_leaf"]


def find_leaf(store: Store, name: str) -> Session:
    """Return the session in which the one that is meant goes on, and say so if it is another."""
    session = find_session(store, name)
    leaf = latest_leaf(store.lineage(session.id), session.id)
    if leaf.id != session.id:
        tell(f"session {session.id} goes on in {leaf.id}")
    return leaf
