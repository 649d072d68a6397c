"""The tree that sessions form by their parents: roots, leaves, paths, siblings, titles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.session.sessions import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.session.sessions import Session

__all__ = ["children_of", "latest_leaf", "next_title", "path_to", "siblings_of"]

_CONTINUES = frozenset({Fork.COMPRESSION, Fork.BRANCH, Fork.RESET})
"""Forks in which the conversation moves on to the child; sub-agents only report back."""
_NUMBERED = re.compile(r"(?P<stem>.*) #(?P<number>\d+)", re.DOTALL)


def children_of(lineage: Iterable[Session], parent: str) -> tuple[Session, ...]:
    """Return the children of a session, oldest first."""
    found = [session for session in lineage if session.parent == parent]
    return tuple(sorted(found, key=lambda session: (session.started, session.id)))


def path_to(lineage: Sequence[Session], id_: str) -> tuple[Session, ...]:
    """Return the sessions from the root down to this one."""
    known = {session.id: session for session in lineage}
    path: list[Session] = []
    at = known.get(id_)
    while at is not None and at not in path:
        path.append(at)
        at = known.get(at.parent) if at.parent else None
    return tuple(reversed(path))


def siblings_of(lineage: Sequence[Session], id_: str) -> tuple[Session, ...]:
    """Return the other children of the session's parent."""
    parent = next((session.parent for session in lineage if session.id == id_), None)
    if parent is None:
        return ()
    return tuple(each for each in children_of(lineage, parent) if each.id != id_)


def latest_leaf(lineage: Sequence[Session], id_: str) -> Session:
    """Return the live session in which this one goes on.

    A session that lives is its own leaf. From one that ended, the newest child in which the
    conversation moved on is followed; where no line leads to a live session, the end of the
    newest line is the answer.
    """
    known = {session.id: session for session in lineage}
    best = known[id_]
    waiting = [best]
    seen: set[str] = set()
    while waiting:
        at = waiting.pop()
        if at.is_live:
            return at
        if at.id in seen:
            continue
        seen.add(at.id)
        onward = [
            child
            for child in children_of(lineage, at.id)
            if child.fork in _CONTINUES and child.trashed is None
        ]
        # The newest child is looked at first; what it leads to comes before its elder siblings.
        waiting += onward
        if onward and at is best:
            best = onward[-1]
    return best


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
