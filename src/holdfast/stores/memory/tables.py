"""The tables of a store in memory, and transactions on them.

A writer works on tables of its own that lie over the others. Nobody sees them until everything is
written, and if anything fails they are dropped.
"""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import MutableMapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from itertools import count
from typing import TYPE_CHECKING, cast

from holdfast.errors import UnknownSession
from holdfast.session import Entry, Head, Kind, SessionState, searchable
from holdfast.session.sessions import check_live, unknown_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.ports import Lease
    from holdfast.session import CompactionRecord, Session, View
    from holdfast.transcript import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A session with everything that belongs to it but its messages."""

    session: Session
    number: int
    """Counts sessions in the order in which they were created."""
    view: int | None = None
    tip: int | None = None
    pins: frozenset[int] = frozenset()
    views: tuple[View, ...] = ()
    compactions: tuple[CompactionRecord, ...] = ()
    is_purged: bool = False
    """Whether it was deleted, and only what others show of it is left."""

    @property
    def head(self) -> Head:
        """Return where the session stands."""
        return Head(self.session.generation, self.view, self.session.size)

    @property
    def state(self) -> SessionState:
        """Return everything about the session but its messages."""
        return SessionState(
            session=self.copied(),
            head=self.head,
            tip=self.tip,
            pins=self.pins,
            compactions=len(self.compactions),
        )

    def copied(self) -> Session:
        """Return the session with metadata that a caller may change without harm."""
        session = self.session
        if not session.metadata:
            return session
        return replace(session, metadata=deepcopy(dict(session.metadata)))

    def shown_by(self, view: int | None) -> View | None:
        """Return one of the session's views; None is the plain log."""
        if view is None:
            return None
        found = next((each for each in self.views if each.id == view), None)
        if found is None:
            raise UnknownSession(f"the session has no view {view}")
        return found


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """An entry of the log without its pin, and the whole message where it was shortened."""

    entry: Entry
    whole: Message | None = None


def _empty() -> MutableMapping[str, str | None]:
    return {}


@dataclass(slots=True)
class Tables:
    """Everything in a store; None stands for what was deleted in a transaction."""

    sessions: MutableMapping[str, SessionRecord | None] = field(
        default_factory=dict[str, SessionRecord | None]
    )
    families: MutableMapping[str, tuple[str, ...] | None] = field(
        default_factory=dict[str, tuple[str, ...] | None]
    )
    """The ids of sessions by the root that they share."""
    log: MutableMapping[tuple[str, int], MessageRecord | None] = field(
        default_factory=dict[tuple[str, int], MessageRecord | None]
    )
    """Messages by session and position."""
    messages: MutableMapping[int, MessageRecord | None] = field(
        default_factory=dict[int, MessageRecord | None]
    )
    keys: MutableMapping[str, str | None] = field(default_factory=_empty)
    """The ids of sessions by what their callers call them."""
    values: MutableMapping[str, str | None] = field(default_factory=_empty)
    leases: MutableMapping[str, Lease | None] = field(default_factory=dict[str, "Lease | None"])
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """Numbers sessions, views and passes; what is rolled back leaves gaps."""
    ids: Iterator[int] = field(default_factory=lambda: count(1))
    """Numbers messages."""

    def begun(self) -> Tables:
        """Return tables to write to, which lie over these."""
        over = {name: ChainMap({}, getattr(self, name)) for name in _TABLES}
        return Tables(**over, numbers=self.numbers, ids=self.ids)

    def commit(self, written: Tables) -> None:
        """Take over what a transaction wrote."""
        for name in _TABLES:
            changes = cast("ChainMap[object, object]", getattr(written, name)).maps[0]
            table = cast("MutableMapping[object, object]", getattr(self, name))
            for key, value in changes.items():
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value

    def fresh(self) -> list[Entry]:
        """Return what was said in a transaction, in order."""
        written = cast("ChainMap[int, MessageRecord | None]", self.messages).maps[0]
        entries = [each.entry for each in written.values() if each is not None]
        return [each for each in entries if each.kind is Kind.SAID]

    def found(self, id_: str) -> SessionRecord:
        """Return a session; one that is not there raises `UnknownSession`."""
        stored = self.sessions.get(id_)
        if stored is None or stored.is_purged:
            raise unknown_session(id_)
        return stored

    def live(self, id_: str) -> SessionRecord:
        """Return a session to which something may be added."""
        stored = self.found(id_)
        check_live(stored.session, lambda: self.lineage(id_))
        return stored

    def lineage(self, id_: str) -> tuple[Session, ...]:
        """Return every session with the same root: that one, then the oldest first."""
        root = self.found(id_).session.root
        members = [self.sessions.get(each) for each in self.families.get(root) or ()]
        known = [each for each in members if each is not None and not each.is_purged]
        known.sort(key=lambda each: (each.session.id != root, each.session.started, each.number))
        return tuple(each.copied() for each in known)

    def all_sessions(self) -> Iterator[SessionRecord]:
        """Return every session, deleted ones of which something is left included."""
        return (each for each in self.sessions.values() if each is not None)

    def message(self, id_: int) -> MessageRecord:
        """Return a message; one that is not there raises `UnknownSession`."""
        stored = self.messages.get(id_)
        if stored is None:
            raise UnknownSession(f"there is no message {id_}")
        return stored

    def whole(self, id_: int) -> Message:
        """Return a message as it was said; a stand-in leads to what it stands for."""
        stored = self.message(id_)
        while stored.whole is None and stored.entry.stands_for is not None:
            stored = self.message(stored.entry.stands_for)
        return stored.whole or stored.entry.message

    def text(self, id_: int) -> str:
        """Return the words of a message that a search may find."""
        return searchable(self.whole(id_))

    def between(self, id_: str, positions: Iterable[int]) -> Iterator[Entry]:
        """Return the entries of a log at some positions, as far as they are there."""
        for position in positions:
            stored = self.log.get((id_, position))
            if stored is not None:
                yield stored.entry

    def said(self, id_: str, positions: Iterable[int]) -> Iterator[Entry]:
        """Return what was said at some positions of a log."""
        return (each for each in self.between(id_, positions) if each.kind is Kind.SAID)

    def shown(self, stored: SessionRecord, view: int | None) -> tuple[Entry, ...]:
        """Return what a view of a session shows now."""
        through = stored.shown_by(view)
        id_, upto = stored.session.id, through.upto if through else 0
        entries: list[Entry] = []
        for span in through.spans if through else ():
            entries += self.between(span.session, range(span.first, span.last + 1))
        entries += self.said(id_, range(upto + 1, stored.session.size + 1))
        return self.pinned(stored, entries)

    def pinned(self, stored: SessionRecord, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """Return entries with the pins of a session."""
        return tuple(
            replace(each, message=replace(each.message, pinned=True))
            if each.id in stored.pins
            else each
            for each in entries
        )


_TABLES = tuple(each.name for each in fields(Tables) if each.name not in ("numbers", "ids"))


def copied_json(values: Mapping[str, object]) -> dict[str, object]:
    """Return values as a store that writes JSON would return them."""
    return json.loads(json.dumps(values, default=str)) if values else {}
