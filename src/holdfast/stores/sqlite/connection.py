"""The connections of one store: one that writes, and as many as are reading at this moment.

Everything here may be called from any thread. After a fork the child opens the file anew, because
SQLite's connections do not survive one. Transactions are classes, because a generator that holds
another one takes longer than inserting a message.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from holdfast.errors import StoreBusy, StoreError
from holdfast.stores.sqlite.failures import EXPLAINED, explaining, in_words
from holdfast.stores.sqlite.opening import PATIENCE, LockPatience, begin, connect, open_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_T = TypeVar("_T")


class ReadTransaction(Generic[_T]):
    """Lends a connection that sees the file as it is now, until it is given back."""

    __slots__ = ("_connection", "_give_back", "_lend", "_owner", "_path")

    def __init__(
        self,
        path: Path,
        lend: Callable[[], tuple[_T, sqlite3.Connection]],
        give_back: Callable[[_T, sqlite3.Connection], None],
    ) -> None:
        """Look at nothing yet.

        Args:
            path: The file.
            lend: Returns a connection that sees one state of it, and what that belongs to.
            give_back: Takes both again.
        """
        self._path = path
        self._lend = lend
        self._give_back = give_back

    def __enter__(self) -> sqlite3.Connection:
        """Look at the file as it is now."""
        try:
            self._owner, self._connection = self._lend()
        except EXPLAINED as error:
            raise in_words(error, self._path) from error
        return self._connection

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Give the connection back, and raise what SQLite said as a sentence."""
        self._give_back(self._owner, self._connection)
        if isinstance(error, EXPLAINED):
            raise in_words(error, self._path) from error


@dataclass(frozen=True, slots=True)
class WriterTurns(Generic[_T]):
    """Who may write to a file."""

    path: Path
    begin: Callable[[], tuple[_T, sqlite3.Connection]]
    """Waits for the turn and begins; what comes with the connection is given back at the end."""
    end: Callable[[_T], None]


class WriteTransaction(Generic[_T]):
    """Lends the connection that writes: all of what is done with it happens, or nothing."""

    __slots__ = ("_connection", "_on_rollback", "_turn", "_turns")

    def __init__(self, turns: WriterTurns[_T], on_rollback: Callable[[], None] | None) -> None:
        self._turns = turns
        self._on_rollback = on_rollback

    def __enter__(self) -> sqlite3.Connection:
        """Begin, once it is our turn."""
        try:
            self._turn, self._connection = self._turns.begin()
        except EXPLAINED as error:
            raise in_words(error, self._turns.path) from error
        return self._connection

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Commit, or take everything back and raise what SQLite said as a sentence."""
        try:
            if error is None:
                self._connection.execute("COMMIT")
        except BaseException as failure:
            error = failure
            if not isinstance(failure, EXPLAINED):
                raise
        finally:
            if error is not None:
                # A full disk has rolled back already; what cannot roll back now will on opening.
                with suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                if self._on_rollback is not None:
                    self._on_rollback()
            self._turns.end(self._turn)
        if isinstance(error, EXPLAINED):
            raise in_words(error, self._turns.path) from error


@dataclass(slots=True)
class _Handles:
    """What is open in one process on one file."""

    writer: sqlite3.Connection | None
    address: str
    place: tuple[int, int]
    """Which file it is, whatever its name."""
    process: int
    idle: list[sqlite3.Connection] = field(default_factory=list[sqlite3.Connection])
    turn: threading.RLock = field(default_factory=threading.RLock)
    """Held by the thread that writes."""
    is_closed: bool = False


_TRIES = 10
"""How often a file that is replaced again and again is opened before that is an error."""
_INHERITED: list[_Handles] = []
"""Connections of a parent process: closing them here would disturb it, so they are kept."""


class Database:
    """One file, open for reading and, where the file allows it, for writing."""

    def __init__(
        self, path: Path, patience: LockPatience = PATIENCE, *, read_only: bool = False
    ) -> None:
        self.path = path
        self._name = os.fspath(path)
        self._patience = patience
        self._read_only = read_only
        self._handles = self._opened()
        self._opening = threading.Lock()
        self._turns = WriterTurns(path, self._begin, self._end)

    @property
    def is_read_only(self) -> bool:
        """Say whether the file can only be read."""
        return self._current().writer is None

    @property
    def opened(self) -> object:
        """Return what stands for the file that is open: another value once it was replaced."""
        return self._current()

    def read(self) -> ReadTransaction[_Handles]:
        """Lend a connection that sees the file as it is now, until it is given back."""
        return ReadTransaction(self.path, self._lend, self._give_back)

    def look(self) -> ReadTransaction[_Handles]:
        """Lend a connection for one statement, which sees one state without a transaction.

        It is the one that writes, if nobody does: a write makes all others read their pages again.
        """
        return ReadTransaction(self.path, self._lend_bare, self._give_back_bare)

    def write(self, on_rollback: Callable[[], None] | None = None) -> WriteTransaction[_Handles]:
        """Lend the connection that writes: all of what is done with it happens, or nothing.

        Args:
            on_rollback: Called when nothing happened, before anybody else may write.
        """
        return WriteTransaction(self._turns, on_rollback)

    def close(self) -> None:
        """Close every connection; those that are in use close when they are given back."""
        handles = self._handles
        if handles.process != os.getpid():
            self._handles = _Handles(None, "", (0, 0), os.getpid(), is_closed=True)
            _INHERITED.append(handles)
            return
        with handles.turn:
            handles.is_closed = True
            # The last to close moves what waits beside the file into it, which a reader cannot.
            self._drain(handles)
            if handles.writer is not None:
                handles.writer.close()

    def _begin(self) -> tuple[_Handles, sqlite3.Connection]:
        """Take the turn to write and begin, in the file that stands under the name then."""
        handles = self._handles
        # The name is looked up once a write, after it has begun: a look before tells nothing more.
        if handles.is_closed or handles.process != os.getpid():
            handles = self._current()
        for _ in range(_TRIES):
            connection = self._begun(handles)
            if connection is not None:
                return handles, connection
            handles = self._current()
        raise self._replaced()

    def _end(self, handles: _Handles) -> None:
        """Let the next thread write."""
        handles.turn.release()
        if handles.is_closed:
            self._retire(handles)

    def reopen(self) -> None:
        """Open the file again, as after its replacement, and let go of what was open.

        If it cannot be opened, everything stays as it was.
        """
        former, self._handles = self._handles, self._opened()
        former.is_closed = True
        self._retire(former)

    def _retire(self, handles: _Handles) -> None:
        """Close what nobody uses any more; who still writes closes the rest afterwards."""
        self._drain(handles)
        if handles.writer is not None and handles.turn.acquire(blocking=False):
            try:
                if not handles.writer.in_transaction:
                    handles.writer.close()
            except sqlite3.ProgrammingError:
                pass  # it was closed before
            finally:
                handles.turn.release()

    def _opened(self) -> _Handles:
        for _ in range(_TRIES):
            before = None
            with suppress(StoreError):
                before = self._place()
            with explaining(self.path):
                opened = open_file(self.path, self._patience, read_only=self._read_only)
            place = self._place()
            if before in (None, place):
                return _Handles(opened.writer, opened.address, place, os.getpid())
            # Another file took its place while it was opened.
            if opened.writer is not None:
                opened.writer.close()
        raise self._replaced()

    def _begun(self, handles: _Handles) -> sqlite3.Connection | None:
        """Return the connection that writes, or None if another file took its place."""
        if not handles.turn.acquire(timeout=self._patience.longest_wait):
            raise StoreBusy(
                f"{self.path} was held by another thread of this process for too long; "
                "nothing was written, try again"
            )
        connection = None
        try:
            # While we waited, another thread may have opened a file that took its place.
            if handles is self._handles:
                if handles.is_closed:
                    raise self._closed()
                if handles.writer is None:
                    raise StoreError(f"{self.path} is read-only; nothing can be written to it")
                if handles.writer.in_transaction:
                    raise StoreError(f"{self.path}: a write cannot begin inside another one")
                writer = handles.writer
                if self._is_begun(handles, writer):
                    connection = writer
        finally:
            if connection is None:
                handles.turn.release()
        return connection

    def _is_begun(self, handles: _Handles, connection: sqlite3.Connection) -> bool:
        """Begin, and say whether no repair put another file in place; if so, nothing is begun."""
        is_same = False
        try:
            begin(connection, self._patience)
            is_same = handles.place == self._place()
        except sqlite3.Error:
            # What was set aside may be damaged, which is no matter of the file in its place.
            if handles.place == self._place():
                raise
        finally:
            if not is_same and connection.in_transaction:
                connection.execute("ROLLBACK")
        return is_same

    def _current(self) -> _Handles:
        """Return what is open, or open it anew after a fork or when the file was replaced."""
        handles = self._handles
        # One that another thread has put away by now is not closed for good.
        if handles.is_closed and handles is self._handles:
            raise self._closed()
        if handles.process != os.getpid():
            # The lock may have been held by a thread that does not exist here.
            _INHERITED.append(handles)
            self._opening = threading.Lock()
            self._handles = self._opened()
        elif handles.place != self._place():
            with self._opening:
                if self._handles is handles:
                    self.reopen()
        return self._handles

    def _place(self) -> tuple[int, int]:
        try:
            found = os.stat(self._name)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise StoreError(
                f"{self.path} is gone ({reason}); put it back, or open another store"
            ) from error
        return found.st_dev, found.st_ino

    def _replaced(self) -> StoreBusy:
        return StoreBusy(f"{self.path} was replaced; nothing was written, try again")

    def _closed(self) -> StoreError:
        return StoreError(f"{self.path} was closed; open the store again")

    def _lend(self) -> tuple[_Handles, sqlite3.Connection]:
        """Return a connection that sees one state of the file that stands under the name now."""
        for _ in range(_TRIES):
            handles = self._current()
            connection = self._reader(handles)
            try:
                connection.execute("BEGIN")
                # The first read fixes the state; what lies beside the file may be gone by then.
                connection.execute("PRAGMA schema_version")
            except sqlite3.Error:
                connection.close()
                if handles.place == self._place():
                    raise
            else:
                return handles, connection
        raise self._replaced()

    def _lend_bare(self) -> tuple[_Handles, sqlite3.Connection]:
        handles = self._current()
        writer = handles.writer
        if writer is not None and handles.turn.acquire(blocking=False):
            # A thread that writes takes its turn twice; what it has not committed is not shown.
            if not (writer.in_transaction or handles.is_closed):
                return handles, writer
            handles.turn.release()
        return handles, self._reader(handles)

    def _give_back_bare(self, handles: _Handles, connection: sqlite3.Connection) -> None:
        if connection is handles.writer:
            self._end(handles)
        else:
            self._give_back(handles, connection)

    def _reader(self, handles: _Handles) -> sqlite3.Connection:
        # Another thread may take the last one between a question and the answer.
        try:
            return handles.idle.pop()
        except IndexError:
            pass
        connection = connect(handles.address, self._patience)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _give_back(self, handles: _Handles, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("COMMIT")
        except sqlite3.Error:
            pass  # it begins anew when it is lent again, or fails then
        if handles.is_closed:
            connection.close()
        else:
            handles.idle.append(connection)
            # A close that came between the question and the answer has not seen this one.
            if handles.is_closed:
                self._drain(handles)

    @staticmethod
    def _drain(handles: _Handles) -> None:
        while handles.idle:
            with suppress(IndexError):
                handles.idle.pop().close()
