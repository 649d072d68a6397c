"""The store in memory: each method is one read or one transaction on the tables beside it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.errors import StoreBusy, StoreError, UnknownSession
from holdfast.ports import REQUIRED, Amendment, Capability, Health, Lease, Listing
from holdfast.recall import Filters, Hit, parse
from holdfast.recall.ladder import search
from holdfast.session import Refreshed, Usage, Window
from holdfast.session.sessions import check_generation, ended
from holdfast.stores.memory import changes
from holdfast.stores.memory.tables import FilteredWords, Tables, WordLists, shown_of_trash

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from holdfast.session import (
        Addition,
        Change,
        CompactionRecord,
        Draft,
        EndReason,
        Entry,
        Head,
        Session,
        SessionState,
        Spawn,
        View,
    )
    from holdfast.transcript import Message

_PREFIX = "memory:"
_LONGEST_WAIT = 30.0
"""Seconds that a writer waits for another one."""
_NONE_USED = Usage()


@dataclass(slots=True)
class _Contents:
    """What stores under one name share."""

    tables: Tables = field(default_factory=Tables)
    words: WordLists = field(default_factory=WordLists)
    lock: threading.RLock = field(default_factory=threading.RLock)
    """Held while tables are read, and while what was written is taken over."""
    turn: threading.Lock = field(default_factory=threading.Lock)
    """Held by the thread that writes."""
    writer: int = 0
    """The thread that writes now; 0 is none."""


_SHARED: dict[str, _Contents] = {}
_SHARING = threading.Lock()


def open_memory(url: str) -> MemoryStore:
    """Open the store behind `memory:`, a fresh one, or `memory:NAME`, the same for each NAME."""
    return MemoryStore(url.removeprefix(_PREFIX).strip("/"))


class MemoryStore:
    """Sessions in memory, for any number of threads of one process.

    Stores that were opened under the same name share what is in them, until the process ends.
    """

    def __init__(self, name: str = "") -> None:
        """Open the store under a name, or one that nobody else has."""
        self._name = name
        self._is_closed = False
        if name:
            with _SHARING:
                self._contents = _SHARED.setdefault(name, _Contents())
        else:
            self._contents = _Contents()

    @property
    def name(self) -> str:
        """Return the address of the store."""
        return f"{_PREFIX}{self._name}"

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return what it can do: what every store must, and nothing that takes a file."""
        return REQUIRED

    def close(self) -> None:
        """Refuse every further call; what was stored under a name stays."""
        self._is_closed = True

    def create(self, session: Session) -> Session:
        """Add a session without a parent, and return it as stored."""
        if session.parent is not None:
            raise StoreError(f"session {session.id} has a parent; it must be spawned from it")
        with self._writing() as tables:
            changes.insert_session(tables, session)
            return tables.found(session.id).copied()

    def session(self, id_: str) -> Session:
        """Return a session."""
        with self._reading() as tables:
            return tables.found(id_).copied()

    def keyed(self, key: str) -> Session | None:
        """Return the session outside the trash that the caller gave a key."""
        with self._reading() as tables:
            found = tables.sessions.get(tables.keys.get(key) or "")
            return found.copied() if found and found.session.trashed is None else None

    def state(self, id_: str) -> SessionState:
        """Return everything about a session but its messages."""
        with self._reading() as tables:
            return tables.found(id_).state

    def refresh(self, id_: str, known: Head | None) -> Refreshed:
        """Return the state of a session, and what its window shows that a reader does not have."""
        with self._reading() as tables:
            stored = tables.found(id_)
            head = stored.head
            if known is None or not known.leads_to(head):
                return Refreshed(stored.state, tables.shown(stored, head.view), is_whole=True)
            fresh = tables.said(id_, range(known.size + 1, head.size + 1))
            return Refreshed(stored.state, tables.pinned(stored, fresh), is_whole=False)

    def sessions(self, wanted: Listing) -> tuple[Session, ...]:
        """Return the sessions that are wanted, the one touched last first."""
        with self._reading() as tables:
            found = [
                each
                for each in tables.all_sessions()
                if not each.is_purged and wanted.admits(each.session)
            ]
            found.sort(key=lambda each: (-each.session.touched, -each.number))
            end = None if wanted.limit is None else wanted.offset + wanted.limit
            return tuple(each.copied() for each in found[wanted.offset : end])

    def lineage(self, id_: str) -> tuple[Session, ...]:
        """Return every session with the same root: that one, then the oldest first."""
        with self._reading() as tables:
            return tables.lineage(id_)

    def amend(self, id_: str, amendment: Amendment) -> Session:
        """Change what may change about a session."""
        with self._writing() as tables:
            changes.amend_session(tables, id_, amendment)
            return tables.found(id_).copied()

    def end(self, id_: str, reason: EndReason | None, at: int) -> Session:
        """End a session, or reopen one whose end can be taken back."""
        with self._writing() as tables:
            stored = tables.found(id_)
            tables.sessions[id_] = replace(stored, session=ended(stored.session, reason, at))
            return tables.found(id_).copied()

    def append(
        self,
        id_: str,
        drafts: Sequence[Draft],
        usage: Usage = _NONE_USED,
        *,
        size: int | None = None,
    ) -> tuple[Entry, ...]:
        """Write messages to the end of the log, with their words and what they cost."""
        with self._writing() as tables:
            return changes.append_drafts(tables, id_, drafts, usage, size)

    def add(self, additions: Sequence[Addition]) -> None:
        """Write to many sessions in one step, which creates those that are new."""
        with self._writing() as tables:
            for addition in additions:
                changes.add_to(tables, addition)

    def head(self, id_: str) -> Head:
        """Return where the session stands."""
        with self._reading() as tables:
            return tables.found(id_).head

    def window(self, id_: str) -> Window:
        """Return what the current view shows."""
        with self._reading() as tables:
            stored = tables.found(id_)
            return Window(stored.head, tables.shown(stored, stored.view))

    def window_at(self, id_: str, view: int | None) -> Window:
        """Return what another view of the session shows now."""
        with self._reading() as tables:
            stored = tables.found(id_)
            return Window(stored.head, tables.shown(stored, view))

    def since(self, id_: str, position: int) -> tuple[Entry, ...]:
        """Return what was said in the session itself after a position."""
        with self._reading() as tables:
            stored = tables.found(id_)
            said = tables.said(id_, range(position + 1, stored.session.size + 1))
            return tables.pinned(stored, said)

    def entries(self, id_: str, first: int, last: int) -> tuple[Entry, ...]:
        """Return a stretch of the log, derived entries included."""
        with self._reading() as tables:
            stored = tables.found(id_)
            positions = range(max(1, first), min(last, stored.session.size) + 1)
            return tables.pinned(stored, tables.between(id_, positions))

    def said(self, id_: str, position: int, *, before: int, after: int) -> tuple[Entry, ...]:
        """Return what was said next to a position."""
        with self._reading() as tables:
            stored = tables.found(id_)
            size = stored.session.size
            earlier = tables.said(id_, range(min(position, size), 0, -1))
            later = tables.said(id_, range(max(position, 0) + 1, size + 1))
            near = [*_first(earlier, before)[::-1], *_first(later, after)]
            return tables.pinned(stored, near)

    def count_said(self, id_: str, upto: int) -> int:
        """Return how many messages were said in the session itself up to a position."""
        with self._reading() as tables:
            size = tables.found(id_).session.size
            return sum(1 for _ in tables.said(id_, range(1, min(upto, size) + 1)))

    def entry(self, message_id: int) -> Entry:
        """Return one entry."""
        with self._reading() as tables:
            entry = tables.message(message_id).entry
            home = tables.sessions.get(entry.session)
            return entry if home is None else tables.pinned(home, [entry])[0]

    def whole(self, message_id: int) -> Message:
        """Return a message as it was said, however the window shows it."""
        with self._reading() as tables:
            return tables.whole(message_id)

    def change(self, id_: str, change: Change) -> Head:
        """Give the session another window, unless another came first."""
        with self._writing() as tables:
            return changes.change_window(tables, id_, change)

    def move(self, id_: str, view: int | None, generation: int) -> Head:
        """Show another of the session's views, unless another came first."""
        with self._writing() as tables:
            stored = tables.live(id_)
            check_generation(id_, stored.session.generation, generation)
            stored.shown_by(view)
            session = replace(stored.session, generation=generation + 1)
            moved = replace(stored, session=session, view=view)
            tables.sessions[id_] = moved
            return moved.head

    def views(self, id_: str) -> tuple[View, ...]:
        """Return every view that the session had, oldest first."""
        with self._reading() as tables:
            return tables.found(id_).views

    def tip(self, id_: str) -> int | None:
        """Return the newest view of the line that the session is on."""
        with self._reading() as tables:
            return tables.found(id_).tip

    def compactions(self, id_: str) -> tuple[CompactionRecord, ...]:
        """Return every pass over the session, oldest first."""
        with self._reading() as tables:
            return tables.found(id_).compactions

    def count_compactions(self, id_: str) -> int:
        """Return how many passes over the session there were."""
        with self._reading() as tables:
            return len(tables.found(id_).compactions)

    def spawn(self, spawn: Spawn, before_commit: Callable[[], None] | None = None) -> Session:
        """Create a child session and end its parent if asked, in one step."""
        with self._writing() as tables:
            changes.spawn_child(tables, spawn)
            child = tables.found(spawn.child.id).copied()
            if before_commit is not None:
                before_commit()
            return child

    def pin(self, id_: str, message_id: int, *, pinned: bool) -> None:
        """Let compactions of the session keep a message word for word, or no longer."""
        with self._writing() as tables:
            stored = tables.found(id_)
            if pinned and tables.messages.get(message_id) is None:
                raise UnknownSession(f"there is no message {message_id} to pin")
            pins = stored.pins | {message_id} if pinned else stored.pins - {message_id}
            tables.sessions[id_] = replace(stored, pins=pins)

    def pins(self, id_: str) -> frozenset[int]:
        """Return the ids of the pinned messages."""
        with self._reading() as tables:
            return tables.found(id_).pins

    def remember(self, name: str, value: str) -> None:
        """Keep a small value under a name."""
        with self._writing() as tables:
            tables.values[name] = value

    def remembered(self, name: str) -> str | None:
        """Return the value kept under a name."""
        with self._reading() as tables:
            return tables.values.get(name)

    def search(self, query: str, filters: Filters, *, limit: int, now: int) -> tuple[Hit, ...]:
        """Return the best matches, best first."""
        with self._reading() as tables:
            words, spans = self._contents.words, shown_of_trash(tables)
            index = FilteredWords(tables, words, filters, spans)
            return search(index, parse(query), limit=limit, now=now)

    def acquire(self, lease: Lease, now: int) -> Lease:
        """Take or renew a lease; what is returned is another's when another holds it."""
        with self._writing() as tables:
            tables.found(lease.session)
            held = tables.leases.get(lease.session)
            if held is not None and held.holder != lease.holder and held.expires > now:
                return held
            tables.leases[lease.session] = lease
            return lease

    def release(self, lease: Lease) -> None:
        """Give a lease back; another's lease stays."""
        with self._writing() as tables:
            tables.found(lease.session)
            held = tables.leases.get(lease.session)
            if held is not None and held.holder == lease.holder:
                tables.leases[lease.session] = None

    def trash(self, ids: Sequence[str], at: int, *, unless_used_since: int | None = None) -> int:
        """Put sessions into the trash, all of them or none; returns how many."""
        with self._writing() as tables:
            return changes.trash_sessions(tables, ids, at, unless_used_since)

    def restore(self, ids: Sequence[str]) -> int:
        """Take sessions out of the trash, all of them or none; returns how many."""
        with self._writing() as tables:
            return changes.trash_sessions(tables, ids, None)

    def purge(self, ids: Sequence[str]) -> int:
        """Delete trashed sessions for good; what other sessions show of them stays for those."""
        with self._writing() as tables:
            gone = changes.purge_sessions(tables, ids)
        with self._contents.lock:
            self._contents.words.remove(gone)
        return len(set(ids))

    def check(self) -> Health:
        """Return what the store holds; memory has no damage that could be found here."""
        with self._reading() as tables:
            known = sum(not each.is_purged for each in tables.all_sessions())
            return Health((), sessions=known, messages=len(tables.messages))

    @contextmanager
    def _reading(self) -> Generator[Tables]:
        with self._contents.lock:
            self._check_open()
            yield self._contents.tables

    @contextmanager
    def _writing(self) -> Generator[Tables]:
        """Lend tables to write to: all of what is written there happens, or nothing."""
        contents, thread = self._contents, threading.get_ident()
        self._check_open()
        if contents.writer == thread:
            raise StoreError(f"{self.name}: a write cannot begin inside another one")
        if not contents.turn.acquire(timeout=_LONGEST_WAIT):
            raise StoreBusy(f"{self.name} was held by another thread for too long; try again")
        contents.writer = thread
        try:
            written = contents.tables.begun()
            yield written
            with contents.lock:
                contents.tables.commit(written)
                for entry in written.fresh():
                    contents.words.add(entry.id, contents.tables.text(entry.id))
        finally:
            contents.writer = 0
            contents.turn.release()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self.name} was closed; open the store again")


def _first(entries: Iterator[Entry], count: int) -> list[Entry]:
    return [each for each, _ in zip(entries, range(count), strict=False)]
