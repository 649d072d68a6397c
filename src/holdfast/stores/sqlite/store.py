"""The store on SQLite: each method is one transaction on functions of the modules beside it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.ports import Amendment, Capability, Health, Lease, Listing
from holdfast.recall import Filters, Hit, parse
from holdfast.recall.ladder import search
from holdfast.session import Kind, Refreshed
from holdfast.stores.sqlite import log, rows, sessions, views
from holdfast.stores.sqlite.checkup import copy_to, examine
from holdfast.stores.sqlite.connection import Database
from holdfast.stores.sqlite.failures import explaining
from holdfast.stores.sqlite.index import IndexReading, Vocabulary, WordIndex
from holdfast.stores.sqlite.log import append_batch, grown_by, prepare
from holdfast.stores.sqlite.opening import PATIENCE, LockPatience, checkpoint
from holdfast.stores.sqlite.purging import purge
from holdfast.stores.sqlite.salvage import repair_database
from holdfast.stores.sqlite.search import MOST_HOLDING, Lookup, LookupSources, scope_of
from holdfast.stores.sqlite.sessions import NONE_USED
from holdfast.stores.sqlite.views import add_all

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

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
        Usage,
        View,
        Window,
    )
    from holdfast.transcript import Message


class SqliteStore:
    """Sessions in one file, for any number of threads and processes.

    A file that cannot be written is opened for reading and searching.
    """

    def __init__(
        self, path: Path, patience: LockPatience = PATIENCE, *, read_only: bool = False
    ) -> None:
        self._database = Database(path, patience, read_only=read_only)
        self._index = WordIndex()
        self._vocabulary = Vocabulary()

    @property
    def name(self) -> str:
        """Return the path of the file."""
        return str(self._database.path)

    @property
    def file(self) -> Path:
        """Return where the file is."""
        return self._database.path

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return what it can do: everything."""
        return frozenset(Capability)

    @property
    def is_read_only(self) -> bool:
        """Say whether the file can only be read."""
        return self._database.is_read_only

    def close(self) -> None:
        """Close every connection; closing twice is harmless."""
        self._database.close()

    def checkpoint(self) -> None:
        """Move what waits beside the file into it, while others read and write."""
        with explaining(self.file):
            checkpoint(self.file)

    def create(self, session: Session) -> Session:
        """Add a session without a parent, and return it as stored."""
        if session.parent is not None:
            raise StoreError(f"session {session.id} has a parent; it must be spawned from it")
        with self._writing() as connection:
            sessions.insert_session(connection, session, None, "")
            return rows.session_of(connection, session.id)

    def session(self, id_: str) -> Session:
        """Return a session."""
        with self._database.read() as connection:
            return rows.session_of(connection, id_)

    def keyed(self, key: str) -> Session | None:
        """Return the session outside the trash that the caller gave a key."""
        with self._database.read() as connection:
            return rows.keyed_session(connection, key)

    def state(self, id_: str) -> SessionState:
        """Return everything about a session but its messages."""
        with self._database.read() as connection:
            return rows.state_of(connection, id_)[0]

    def refresh(self, id_: str, known: Head | None) -> Refreshed:
        """Return the state of a session, and what its window shows that a reader does not have."""
        if known is not None:
            with self._database.look() as connection:
                state, _ = rows.state_of(connection, id_)
            if state.head == known:
                return Refreshed(state, (), is_whole=False)
        with self._database.read() as connection:
            return log.refreshed_window(connection, id_, known)

    def sessions(self, wanted: Listing) -> tuple[Session, ...]:
        """Return the sessions that are wanted, the one touched last first."""
        with self._database.read() as connection:
            return sessions.list_sessions(connection, wanted)

    def lineage(self, id_: str) -> tuple[Session, ...]:
        """Return every session with the same root: that one, then the oldest first."""
        with self._database.read() as connection:
            return rows.lineage_of(connection, id_)

    def amend(self, id_: str, amendment: Amendment) -> Session:
        """Change what may change about a session."""
        with self._writing() as connection:
            return sessions.amend_session(connection, id_, amendment)

    def end(self, id_: str, reason: EndReason | None, at: int) -> Session:
        """End a session, or reopen one whose end can be taken back."""
        with self._writing() as connection:
            return sessions.end_session(connection, id_, reason, at)

    def append(
        self,
        id_: str,
        drafts: Sequence[Draft],
        usage: Usage = NONE_USED,
        *,
        size: int | None = None,
    ) -> tuple[Entry, ...]:
        """Write messages to the end of the log, with their words and what they cost."""
        batch = prepare(drafts, Kind.SAID)
        with self._database.write(self._index.forget) as connection:
            place = grown_by(connection, id_, batch, usage, size)
            return append_batch(connection, place, batch, self._index)

    def add(self, additions: Sequence[Addition]) -> None:
        """Write to many sessions in one step, which creates those that are new."""
        batch = prepare([draft for each in additions for draft in each.drafts], Kind.SAID)
        with self._database.write(self._index.forget) as connection:
            add_all(connection, additions, batch, self._index)

    def head(self, id_: str) -> Head:
        """Return where the session stands."""
        with self._database.read() as connection:
            return log.head_of(connection, id_)

    def window(self, id_: str) -> Window:
        """Return what the current view shows."""
        with self._database.read() as connection:
            return log.window_through(connection, id_, None, is_current=True)

    def window_at(self, id_: str, view: int | None) -> Window:
        """Return what another view of the session shows now."""
        with self._database.read() as connection:
            return log.window_through(connection, id_, view, is_current=False)

    def since(self, id_: str, position: int) -> tuple[Entry, ...]:
        """Return what was said in the session itself after a position."""
        with self._database.read() as connection:
            return log.said_since(connection, id_, position)

    def entries(self, id_: str, first: int, last: int) -> tuple[Entry, ...]:
        """Return a stretch of the log, derived entries included."""
        with self._database.read() as connection:
            return log.entries_between(connection, id_, first, last)

    def said(self, id_: str, position: int, *, before: int, after: int) -> tuple[Entry, ...]:
        """Return what was said next to a position, reading nothing else."""
        with self._database.read() as connection:
            return log.said_near(connection, id_, position, before, after)

    def count_said(self, id_: str, upto: int) -> int:
        """Return how many messages were said in the session itself up to a position."""
        with self._database.read() as connection:
            return log.count_of_said(connection, id_, upto)

    def entry(self, message_id: int) -> Entry:
        """Return one entry."""
        with self._database.read() as connection:
            return log.entry_of(connection, message_id)

    def whole(self, message_id: int) -> Message:
        """Return a message as it was said, however the window shows it."""
        with self._database.read() as connection:
            return log.whole_of(connection, message_id)

    def change(self, id_: str, change: Change) -> Head:
        """Give the session another window, unless another came first."""
        batch = views.prepare_change(change)
        with self._writing() as connection:
            return views.apply_change(connection, id_, change, batch)

    def move(self, id_: str, view: int | None, generation: int) -> Head:
        """Show another of the session's views, unless another came first."""
        with self._writing() as connection:
            return views.move_to(connection, id_, view, generation)

    def views(self, id_: str) -> tuple[View, ...]:
        """Return every view that the session had, oldest first."""
        with self._database.read() as connection:
            return views.views_of(connection, id_)

    def tip(self, id_: str) -> int | None:
        """Return the newest view of the line that the session is on."""
        with self._database.read() as connection:
            (tip,) = rows.keys_of(connection, id_, "tip")
            return tip

    def compactions(self, id_: str) -> tuple[CompactionRecord, ...]:
        """Return every pass over the session, oldest first."""
        with self._database.read() as connection:
            return views.compactions_of(connection, id_)

    def count_compactions(self, id_: str) -> int:
        """Return how many passes over the session there were."""
        with self._database.read() as connection:
            return views.count_of_compactions(connection, id_)

    def spawn(self, spawn: Spawn, before_commit: Callable[[], None] | None = None) -> Session:
        """Create a child session and end its parent if asked, in one step."""
        batch = None if spawn.change is None else views.prepare_change(spawn.change)
        last_step = _LastStep(before_commit)
        with last_step.as_it_was(), self._writing() as connection:
            views.spawn_child(connection, spawn, batch, views.Places(connection))
            child = rows.session_of(connection, spawn.child.id)
            last_step()
            return child

    def pin(self, id_: str, message_id: int, *, pinned: bool) -> None:
        """Let compactions of the session keep a message word for word, or no longer."""
        with self._writing() as connection:
            sessions.set_pin(connection, id_, message_id, pinned=pinned)

    def pins(self, id_: str) -> frozenset[int]:
        """Return the ids of the pinned messages."""
        with self._database.read() as connection:
            return rows.pins_of(connection, rows.key_of(connection, id_))

    def remember(self, name: str, value: str) -> None:
        """Keep a small value under a name."""
        with self._writing() as connection:
            sessions.remember_value(connection, name, value)

    def remembered(self, name: str) -> str | None:
        """Return the value kept under a name."""
        with self._database.look() as connection:
            return sessions.remembered_value(connection, name)

    def search(self, query: str, filters: Filters, *, limit: int, now: int) -> tuple[Hit, ...]:
        """Return the best matches, best first."""
        file = self._database.opened
        with self._database.read() as connection:
            # A file that took the place of the other meanwhile has other words.
            known = self._vocabulary if file is self._database.opened else Vocabulary()
            reading = IndexReading(connection, file, lambda ids: log.texts_of(connection, ids))
            sources = LookupSources(
                reading.texts_of, lambda parts: known.holding(reading, parts, MOST_HOLDING)
            )
            index = Lookup(connection, scope_of(connection, filters), sources)
            return search(index, parse(query), limit=limit, now=now)

    def acquire(self, lease: Lease, now: int) -> Lease:
        """Take or renew a lease; what is returned is another's when another holds it."""
        with self._writing() as connection:
            return sessions.acquire_lease(connection, lease, now)

    def release(self, lease: Lease) -> None:
        """Give a lease back; another's lease stays."""
        with self._writing() as connection:
            sessions.release_lease(connection, lease)

    def trash(self, ids: Sequence[str], at: int, *, unless_used_since: int | None = None) -> int:
        """Put sessions into the trash, all of them or none; returns how many."""
        with self._writing() as connection:
            return sessions.trash_sessions(connection, ids, at, unless_used_since)

    def restore(self, ids: Sequence[str]) -> int:
        """Take sessions out of the trash, all of them or none; returns how many."""
        with self._writing() as connection:
            return sessions.restore_sessions(connection, ids)

    def purge(self, ids: Sequence[str]) -> int:
        """Delete trashed sessions for good; what other sessions show of them stays for those."""
        return purge(self._database, ids, self._index)

    def check(self) -> Health:
        """Read everything once and return what is wrong, if anything."""
        with self._database.read() as connection:
            return examine(connection)

    def repair(self) -> tuple[str, ...]:
        """Mend what can be mended; what cannot be read is set aside and never deleted."""
        return repair_database(self._database, self._index).done

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others go on reading and writing."""
        with self._database.read() as connection:
            copy_to(connection, self._database.path, target)

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """Lend the connection that writes; the index forgets what did not happen."""
        with self._database.write(self._index.forget) as connection:
            yield connection


class _LastStep:
    """Calls what the caller gave, and remembers what it raised.

    A caller may use a database of its own; its errors must not be taken for ours.
    """

    def __init__(self, call: Callable[[], None] | None) -> None:
        self._call = call
        self._raised: BaseException | None = None

    def __call__(self) -> None:
        """Take the step."""
        if self._call is None:
            return
        try:
            self._call()
        except BaseException as error:
            self._raised = error
            raise

    @contextmanager
    def as_it_was(self) -> Generator[None]:
        """Raise what the step raised in place of a sentence about the store."""
        try:
            yield
        except StoreError as error:
            if self._raised is not None and error is not self._raised:
                raise self._raised from None
            raise
