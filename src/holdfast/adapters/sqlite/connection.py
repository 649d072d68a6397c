"""The connections of one store: one that writes, and as many as are reading at this moment.

Everything here may be called from any thread. After a fork the child opens the file anew, because
SQLite's connections do not survive one.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.failures import explaining
from holdfast.adapters.sqlite.opening import PATIENCE, Patience, begin, connect, open_file
from holdfast.errors import StoreBusy, StoreError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

__all__ = ["Database"]


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


_INHERITED: list[_Handles] = []
"""Connections of a parent process: closing them here would disturb it, so they are kept."""


class Database:
    """One file, open for reading and, where the file allows it, for writing."""

    def __init__(
        self, path: Path, patience: Patience = PATIENCE, *, read_only: bool = False
    ) -> None:
        self.path = path
        self._name = os.fspath(path)
        self._patience = patience
        self._read_only = read_only
        self._handles = self._opened()
        self._opening = threading.Lock()

    @property
    def is_read_only(self) -> bool:
        """Say whether the file can only be read."""
        return self._current().writer is None

    @contextmanager
    def read(self) -> Generator[sqlite3.Connection]:
        """Lend a connection that sees the file as it is now, until it is given back."""
        handles = self._current()
        with explaining(self.path):
            connection = self._reader(handles)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(handles, connection)

    @contextmanager
    def write(self) -> Generator[sqlite3.Connection]:
        """Lend the connection that writes: all of what is done with it happens, or nothing."""
        handles = self._current()
        with handles.turn, explaining(self.path):
            connection = self._writer(handles)
            try:
                begin(connection, self._patience)
                self._check_place(handles)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk has rolled back already; what cannot roll back now will on opening.
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise

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

    def reopen(self) -> None:
        """Close every connection and open the file again, as after its replacement."""
        self.close()
        self._handles = self._opened()

    def _opened(self) -> _Handles:
        with explaining(self.path):
            opened = open_file(self.path, self._patience, read_only=self._read_only)
        return _Handles(opened.writer, opened.address, self._place(), os.getpid())

    def _current(self) -> _Handles:
        """Return what is open, or open it anew after a fork or when the file was replaced."""
        handles = self._handles
        if handles.is_closed:
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
        except OSError as error:
            raise StoreError(
                f"{self.path} is gone ({error.strerror}); put it back, or open another store"
            ) from error
        return found.st_dev, found.st_ino

    def _check_place(self, handles: _Handles) -> None:
        """Make sure that no repair put another file in place while we waited for our turn."""
        if handles.place != self._place():
            raise StoreBusy(f"{self.path} was replaced; nothing was written, try again")

    def _closed(self) -> StoreError:
        return StoreError(f"{self.path} was closed; open the store again")

    def _reader(self, handles: _Handles) -> sqlite3.Connection:
        with suppress(IndexError):
            return handles.idle.pop()
        connection = connect(handles.address, self._patience)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _writer(self, handles: _Handles) -> sqlite3.Connection:
        if handles.is_closed:
            raise self._closed()
        if handles.writer is None:
            raise StoreError(f"{self.path} is read-only; nothing can be written to it")
        if handles.writer.in_transaction:
            raise StoreError(f"{self.path}: a write cannot begin inside another one")
        return handles.writer

    def _give_back(self, handles: _Handles, connection: sqlite3.Connection) -> None:
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("COMMIT")
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
