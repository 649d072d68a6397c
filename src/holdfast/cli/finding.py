"""Finds the session that a person means: by its id, the beginning of one, or `last`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.cli.lines import crop
from holdfast.cli.screen import tell
from holdfast.cli.streams import Unusable
from holdfast.errors import UnknownSession
from holdfast.ports.store import Listing
from holdfast.session import latest_leaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["LAST", "find_leaf", "find_session", "is_session_name"]

LAST = "last"
_ASIDE = ("subagent", "tool")
"""Sources of sessions that nobody typed into, which `last` does not mean."""
_NAMED = 5
_LONGEST_SHOWN = 40
_BEGINNING = re.compile(r"\d{8}(_(\d{1,6}(_[0-9a-f]{0,6})?)?)?")


def is_session_name(text: str) -> bool:
    """Say whether a text looks like a session rather than like a file."""
    return text == LAST or _BEGINNING.fullmatch(text) is not None


def find_session(store: Store, name: str) -> Session:
    """Return the session of that id, the only one whose id begins so, or the last one.

    The random end of an id will do as well. Sessions in the trash are found too.

    Raises:
        Unusable: when there is none, or more than one; it names candidates.
    """
    if name == LAST:
        newest = store.sessions(Listing(exclude_sources=_ASIDE, limit=1))
        if not newest:
            raise Unusable("there are no sessions yet")
        return newest[0]
    try:
        return store.session(name)
    except UnknownSession:
        return _only(store, name)


def find_leaf(store: Store, name: str) -> Session:
    """Return the session in which the one that is meant goes on, and say so if it is another."""
    session = find_session(store, name)
    leaf = latest_leaf(store.lineage(session.id), session.id)
    if leaf.id != session.id:
        tell(f"session {session.id} goes on in {leaf.id}")
    return leaf


def _only(store: Store, name: str) -> Session:
    everyone = [
        *store.sessions(Listing(limit=None)),
        *store.sessions(Listing(limit=None, trashed=True)),
    ]
    found = [each for each in everyone if name and _is_meant(each.id, name)]
    if len(found) == 1:
        return found[0]
    shown = crop(name, _LONGEST_SHOWN)
    if found:
        raise Unusable(f"{shown} may mean {len(found):,} sessions: {_named(found)}")
    words = name.casefold()
    titled = [each for each in everyone if words and words in each.title.casefold()]
    if titled:
        raise Unusable(f"there is no session {shown!r}; by their titles: {_named(titled)}")
    raise Unusable(f"there is no session {shown!r}; holdfast sessions list shows what there is")


def _is_meant(id_: str, name: str) -> bool:
    return id_.startswith(name) or id_.endswith(f"_{name}")


def _named(sessions: Sequence[Session]) -> str:
    shown = [
        f"{each.id} ({crop(each.title, _LONGEST_SHOWN)})" if each.title else each.id
        for each in sessions[:_NAMED]
    ]
    more = len(sessions) - _NAMED
    return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown)
