"""Which sessions of a family were told in one file, and which files go on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.session import Fork
from holdfast.transfer.identity import is_strand, repeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.session import Session

__all__ = ["Files"]


class Files:
    """A family of sessions, by the files that they were told in."""

    def __init__(self, lineage: Sequence[Session]) -> None:
        """Sort the sessions of a family by those that they came from."""
        self._known = {session.id: session for session in lineage}
        self._firsts: dict[str, Session] = {}
        """What is known of the first sessions of files, by those that are told in them."""
        self._children: dict[str, list[Session]] = {}
        for session in lineage:
            if session.parent is not None:
                self._children.setdefault(session.parent, []).append(session)

    def __contains__(self, id_: str) -> bool:
        """Say whether a session is one of the family."""
        return id_ in self._known

    def first(self, id_: str) -> Session:
        """Return the session of the file that a session is told in."""
        passed: list[str] = []
        session = self._known[id_]
        while is_strand(session) and session.parent in self._known:
            passed.append(session.id)
            session = self._firsts.get(session.parent) or self._known[session.parent]
        # Branches of branches may go any number deep, and each of them is asked for.
        self._firsts.update(dict.fromkeys(passed, session))
        return session

    def told_with(self, id_: str) -> list[Session]:
        """Return the session of a file and the branches that are told in it."""
        found = [self.first(id_)]
        for session in found:  # which grows while it is read
            found += (
                child
                for child in self._children.get(session.id, ())
                if is_strand(child) and child.fork is Fork.BRANCH
            )
        return found

    def told_before(self, id_: str) -> Iterator[Session]:
        """Return what is told in the files that the file of a session goes on from."""
        parent = self.first(id_).parent
        while parent in self._known:
            yield from self.told_with(parent)
            parent = self.first(parent).parent

    def told_after(self, id_: str) -> Iterator[Session]:
        """Return the sessions of files that may repeat the file of a session."""
        for session in self.told_with(id_):
            for child in self._children.get(session.id, ()):
                # There may be any number of sub-agents, and next to none of them repeat anything.
                if not is_strand(child) and (child.fork is Fork.BRANCH or repeats(child)):
                    yield child
