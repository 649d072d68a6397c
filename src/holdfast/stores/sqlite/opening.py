"""Opening a file: who may read it, whether it is ours, and which version it is of.

The journal mode is set once, when the file is created. Changing it later under other processes
is how such files get damaged.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from holdfast.errors import StoreDamaged, StoreError, reason_of
from holdfast.stores.sqlite.failures import is_busy, is_refusal
from holdfast.stores.sqlite.index import WordIndex, build_index, is_current
from holdfast.stores.sqlite.purging import erase_where_free
from holdfast.stores.sqlite.schema import APPLICATION_ID, MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_OLDEST = (3, 35)
_STATEMENTS = 256
PAGES = 4_000
"""Of 4 kB, that wait beside the file at most."""
_PASSES = 3
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LockPatience:
    """How long to wait for other writers."""

    tries: int = 15
    timeout_ms: int = 2_000
    """What SQLite itself waits in each try."""
    shortest: float = 0.02
    longest: float = 0.15
    """Seconds between tries, at random, so that waiting writers do not march in step."""

    @property
    def longest_wait(self) -> float:
        """Return how many seconds a writer waits at most, all tries together."""
        return self.tries * (self.timeout_ms / 1000 + self.longest)


PATIENCE = LockPatience()


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that can be used."""

    writer: sqlite3.Connection | None
    """None when the file can only be read."""
    address: str
    """How further connections for reading name the file."""


def open_file(path: Path, patience: LockPatience, *, read_only: bool = False) -> OpenedFile:
    """Open the file, creating it or bringing it up to the present version if need be.

    A file that must not be written is opened for reading.

    With `read_only`, it stays as it is although it could be written.
    """
    if sqlite3.sqlite_version_info < _OLDEST:
        wanted = ".".join(map(str, _OLDEST))
        raise StoreError(
            f"SQLite {wanted} or newer is needed; Python here was built with "
            f"{sqlite3.sqlite_version}"
        )
    try:
        writable = _prepare(path, is_created=not read_only)
        address = path.absolute().as_uri()
    except (OSError, ValueError) as error:
        reason = reason_of(error)
        raise StoreError(f"{path} cannot be used as a store: {reason}") from error
    if writable and not read_only:
        try:
            return OpenedFile(_writer(path, f"{address}?mode=rw", patience), f"{address}?mode=ro")
        except sqlite3.Error as error:
            if not is_refusal(error):
                raise
    return OpenedFile(None, _readable(path, address, patience))


def connect(address: str, patience: LockPatience) -> sqlite3.Connection:
    """Return a connection that leaves transactions to us and may be used from any thread."""
    connection = sqlite3.connect(
        address,
        timeout=patience.timeout_ms / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_STATEMENTS,
        uri=True,
    )
    connection.create_function("casefold", 1, _casefold, deterministic=True)
    return connection


def begin(connection: sqlite3.Connection, patience: LockPatience) -> None:
    """Begin to write; other writers are waited for, readers are never in the way."""
    _patiently(partial(connection.execute, "BEGIN IMMEDIATE"), patience)


def checkpoint(path: Path, patience: LockPatience = PATIENCE) -> None:
    """Move what waits beside a file into it, while others read and write.

    Whoever writes the last page that may wait does it otherwise, and stands still for as long as
    the disk takes.
    """
    address = f"{path.absolute().as_uri()}?mode=rw"
    with closing(connect(address, patience)) as connection:
        for _ in range(_PASSES):
            _, waiting, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            # What was written meanwhile is moved, too: they begin anew beside the file then.
            if waiting == moved:
                break


def migrate(
    connection: sqlite3.Connection,
    patience: LockPatience = PATIENCE,
    steps: Sequence[Callable[[sqlite3.Connection], None]] = MIGRATIONS,
) -> None:
    """Take the steps that the file has not taken, each in one transaction with its number."""
    for number, step in enumerate(steps, start=1):
        begin(connection, patience)
        try:
            # Another process may have taken the step while we waited.
            if _number(connection, "user_version") < number:
                step(connection)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _prepare(path: Path, *, is_created: bool) -> bool:
    """Make sure that there is a file that we may read; say whether we may write it."""
    if path.is_dir():
        raise IsADirectoryError(0, "it is a directory; name a file in it")
    if not path.exists():
        if not is_created:
            raise FileNotFoundError(0, "there is no such file")
        _make_directory(path.parent)
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return True  # another process was faster, and its file is like ours
    # Opening the file here to see whether it works would drop the locks of this process on it.
    effective = os.access in os.supports_effective_ids
    if not os.access(path, os.R_OK, effective_ids=effective):
        raise PermissionError(0, "no permission to read it")
    return os.access(path, os.W_OK, effective_ids=effective)


def _make_directory(path: Path) -> None:
    """Make a directory and those above it, each for the user alone."""
    if not path.exists():
        _make_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def _writer(path: Path, address: str, patience: LockPatience) -> sqlite3.Connection:
    connection = connect(address, patience)
    try:
        version = _patiently(lambda: _recognized(connection, path), patience)
        if not version:
            _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"), patience)
        if version < len(MIGRATIONS):
            _require_search(connection)
            migrate(connection, patience)
        _renew_index(connection, patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        # The same pages are written by every append, and need not be moved into the file so often.
        connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES}")
        connection.execute("PRAGMA foreign_keys = ON")
        erase_where_free(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _renew_index(connection: sqlite3.Connection, patience: LockPatience) -> None:
    """Build the index anew if it was written by other rules than those in force."""
    if is_current(connection):
        return
    begin(connection, patience)
    try:
        if not is_current(connection):  # another process may have been faster
            build_index(connection, WordIndex())
        connection.execute("COMMIT")
    except StoreDamaged:
        # The file can be used without; a repair builds the index from what can be read.
        connection.execute("ROLLBACK")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _require_search(connection: sqlite3.Connection) -> None:
    found = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    if found is None:
        raise StoreError("the SQLite of this Python has no full-text search (FTS5)")


def _readable(path: Path, address: str, patience: LockPatience) -> str:
    """Return how a file is named that can only be read.

    Where the directory is read-only too, SQLite cannot make the files that readers share. The
    file can be read as it stands then, provided that nothing waits beside it.
    """
    journal = path.with_name(f"{path.name}-wal")
    waits = journal.exists() and journal.stat().st_size > 0
    for mode in ("mode=ro",) if waits else ("mode=ro", "mode=ro&immutable=1"):
        connection = connect(f"{address}?{mode}", patience)
        try:
            version = _recognized(connection, path)
        except sqlite3.Error as error:
            if not is_refusal(error):
                raise
            continue
        finally:
            connection.close()
        if version < len(MIGRATIONS):
            raise StoreError(
                f"{path} is of version {version} and must be brought to version "
                f"{len(MIGRATIONS)}, but it is read-only; make it writable once"
            )
        return f"{address}?{mode}"
    raise StoreError(f"{path} cannot be read: its directory must be writable; check permissions")


def _recognized(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a file of ours; 0 is a fresh one."""
    version = _number(connection, "user_version")
    application = _number(connection, "application_id")
    if application != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        # Another process may have filled the file between our statements.
        if tables and _number(connection, "application_id") != APPLICATION_ID:
            raise StoreError(f"{path} is the database of another program; name another file")
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path} is of version {version}, and this holdfast knows versions up to "
            f"{len(MIGRATIONS)}; install a newer holdfast"
        )
    return version


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    (number,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    return int(number)


def _patiently(work: Callable[[], _T], patience: LockPatience) -> _T:
    for left in reversed(range(patience.tries)):
        try:
            return work()
        except sqlite3.Error as error:
            if not is_busy(error) or not left:
                raise
        time.sleep(random.uniform(patience.shortest, patience.longest))
    raise AssertionError("patience allows no try")


def _casefold(text: object) -> str:
    return str(text).casefold()
