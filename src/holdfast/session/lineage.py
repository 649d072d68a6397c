"""The tree that sessions form by their parents: roots, leaves, paths, siblings, titles, places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from holdfast.session.sessions import EndReason, Fork

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.session.sessions import Session

__all__ = ["children_of", "latest_leaf", "next_title", "path_to", "places_of", "siblings_of"]

_FOLLOWED = {
    EndReason.COMPRESSION: Fork.COMPRESSION,
    EndReason.BRANCHED: Fork.BRANCH,
    EndReason.RESET: Fork.RESET,
}
"""In which child a conversation goes on, by why its session ended."""
_NUMBERED = re.compile(r"(?P<stem>.*) #(?P<number>\d+)", re.DOTALL)
_PLACES = {"folder": "cwd", "branch": "git_branch", "version": "version", "file": "file"}
"""What people ask about where a session took place, and what its metadata call it."""


def children_of(lineage: Iterable[Session], parent: str) -> tuple[Session, ...]:
    """Return the children of a session, oldest first."""
    found = [session for session in lineage if session.parent == parent]
    return tuple(sorted(found, key=lambda session: (session.started, session.id)))


def path_to(lineage: Sequence[Session], id_: str) -> tuple[Session, ...]:
    """Return the sessions from the root down to this one."""
    known = {session.id: session for session in lineage}
    path: list[Session] = []
    # Each is taken out, so that the path ends however the parents lead.
    at = known.pop(id_, None)
    while at is not None:
        path.append(at)
        at = known.pop(at.parent, None) if at.parent else None
    return tuple(reversed(path))


def places_of(path: Sequence[Session]) -> dict[str, str]:
    """Return where a session took place, as far as it or a session before it says.

    A branch goes on where its parent was, so that only what is different is stored with it.

    Args:
        path: The sessions that it came from, the oldest first, and itself.
    """
    found: dict[str, str] = {}
    for session in path:
        imported = session.metadata.get("import")
        about = cast("dict[str, object]", imported if isinstance(imported, dict) else {})
        for label, key in _PLACES.items():
            value = (about if key == "file" else session.metadata).get(key)
            if isinstance(value, str) and value:
                found[label] = value
    return {label: found[label] for label in _PLACES if label in found}


def siblings_of(lineage: Sequence[Session], id_: str) -> tuple[Session, ...]:
    """Return the other children of the session's parent."""
    parent = next((session.parent for session in lineage if session.id == id_), None)
    if parent is None:
        return ()
    return tuple(each for each in children_of(lineage, parent) if each.id != id_)


def latest_leaf(lineage: Sequence[Session], id_: str) -> Session:
    """Return the session in which this one goes on.

    A session that lives is its own leaf. One that ended goes on in the child that it ended for:
    a branch that was made beside it is another conversation. Where no such child is left, the
    end of the line is the answer.
    """
    at = next(session for session in lineage if session.id == id_)
    seen: set[str] = set()
    while not at.is_live and at.id not in seen:
        seen.add(at.id)
        onward = _successor(lineage, at)
        if onward is None:
            break
        at = onward
    return at


def _successor(lineage: Sequence[Session], session: Session) -> Session | None:
    wanted = _FOLLOWED.get(session.end_reason) if session.end_reason else None
    children = [
        child
        for child in children_of(lineage, session.id)
        if child.fork is wanted and wanted is not None and child.trashed is None
    ]
    # The child that a session ends for is begun at the very moment of its end.
    ending = [child for child in children if child.started == session.ended]
    return (ending or children or [None])[-1]


def next_title(title: str, taken: Iterable[str]) -> str:
    """Return the title of the next session of a lineage: `Task`, `Task #2`, `Task #3`."""
    match = _NUMBERED.fullmatch(title)
    stem = match["stem"] if match else title
    if not stem:
        return ""
    highest = 1
    for other in (title, *taken):
        found = _NUMBERED.fullmatch(other)
        if found and found["stem"] == stem:
            highest = max(highest, int(found["number"]))
    return f"{stem} #{highest + 1}"
