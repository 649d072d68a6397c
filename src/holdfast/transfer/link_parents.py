"""Links sub-agents and forks to their parents, whichever of the two was imported first.

The file of a sub-agent or of a fork names its parent. Where the parent is not stored yet, the
session is stored without one, and gets it as soon as both are there.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import Conflict, UnknownSession
from holdfast.formats.events import native_of
from holdfast.ports import Amendment
from holdfast.session import Fork
from holdfast.transfer.identity import beginning_of, import_record, is_strand, parent_name
from holdfast.transfer.repeated_usage import SessionsByFile, count_apart, count_once, first_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.ports import Store
    from holdfast.session import Draft, Session
    from holdfast.transfer.identity import Identity

__all__ = ["ParentLinker"]

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
            session: The session.
            drafts: What it begins with, as far as it was written with it.
        """
        if session.parent is None:
            self._look_for_twins(session)
        if session.parent is None or is_strand(session):
            return
        if session.fork is Fork.DELEGATION and drafts:
            # There are many sub-agents, and next to none of them begin with what others said.
            mark = native_of(drafts[0].message).mark
            if mark != self._beginning(session.parent):
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

    def _beginning(self, id_: str) -> str:
        """Return the mark of the first message of a parent; empty where it has none any more."""
        if not self._beginnings.get(id_):
            with suppress(UnknownSession):
                self._beginnings[id_] = first_mark(self._store, id_)
        return self._beginnings.get(id_, "")

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
