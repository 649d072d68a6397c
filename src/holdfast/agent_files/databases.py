"""Opens the databases of other agents for reading, also while their owners write.

Nothing is written, neither to the file nor beside it. SQLite makes two files beside a database
with a write-ahead log, whoever opens it, and a reader cannot take them away again. So a log that
is there is read with the care that a living owner needs; where there is none, nobody has the
file open, and it is read as one that does not change. Should it change all the same, that is
said.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import quote

from holdfast.agent_files.files import begins_database
from holdfast.errors import DecodeError
from holdfast.formats.catalog import recognize_tables
from holdfast.formats.events import Problem
from holdfast.formats.reader import EVERYWHERE, Guess

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from holdfast.formats.catalog import Row, Tables
    from holdfast.formats.events import Event

_ZSTD = b"\x28\xb5\x2f\xfd"
_MOST = 256 * 1024 * 1024

PATIENCE = 5.0
"""How many seconds an owner may hold its file, if nobody says otherwise."""
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_CLOSED = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")
_DAMAGES = (sqlite3.Error, UnicodeDecodeError)
"""What reading raises: SQLite quotes the damage in its messages, which is then no text at all."""
_FORMAT = "sqlite"
_LOG_FLAG = 18
"""Which byte of a file is 2 when its changes go to a log before they go to the file."""


def unpacked(value: object) -> object:
    """Return what a value was before it was packed with zstd.

    Any other value comes back as it is, and so does one that is damaged or too large, or that
    nothing here can unpack: whoever reads it sees that it is packed.
    """
    if not isinstance(value, bytes) or not value.startswith(_ZSTD):
        return value
    if find_spec("zstandard") is None:
        return value
    from zstandard import ZstdDecompressor, ZstdError

    try:
        with ZstdDecompressor().stream_reader(value) as stream:
            found = stream.read(_MOST + 1)
    except (ZstdError, MemoryError):
        return value
    return found if 0 < len(found) <= _MOST else value


def detect_database(path: Path, *, patience: float = PATIENCE) -> Guess:
    """Return whose database a file is, by its tables; without a name when it is nobody's.

    Args:
        patience: How many seconds its owner may hold it.

    Raises:
        DecodeError: when the file cannot be read, with the reason.
    """
    with _reading(path, patience) as query:
        tables = query.tables
        found = recognize_tables(tables)
    if found is None:
        names = ", ".join(sorted(tables)[:6]) or "none"
        return Guess("", 0.0, f"no agent that we know has these tables: {names}")
    reader, sign = found
    return Guess(reader.format.name, sign.confidence, sign.reason)


def tell_database(path: Path) -> Iterator[Event]:
    """Tell every session of a database, as it was when the first of them was told.

    Damage in the midst of it is told as a problem, and ends it.

    Raises:
        DecodeError: when the file cannot be read at all, or is of no agent that we know.
    """
    with _reading(path, PATIENCE) as query:
        before = _state(path)
        found = recognize_tables(query.tables)
        if found is None:
            raise DecodeError(_FORMAT, str(path), "this is the database of no agent that we know")
        reader, _ = found
        try:
            yield from reader.read(query)
        except _DAMAGES as error:
            yield Problem(1, f"the rest of the database cannot be read: {_explained(error)}")
        if query.at_rest and before != _state(path):
            yield Problem(1, "its owner wrote to the database while it was read; import it again")


class _Query:
    """A database seen as it was when it was opened."""

    def __init__(self, connection: sqlite3.Connection, *, at_rest: bool) -> None:
        self.at_rest = at_rest
        """Whether it is taken for one that does not change."""
        self._connection = connection
        self._tables = _tables(connection)

    @property
    def tables(self) -> Tables:
        """Return what the database is made of."""
        return self._tables

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        where: Row = EVERYWHERE,
        order: Sequence[str] = (),
    ) -> Iterator[Row]:
        """Return rows one by one, with those of the columns that the table has, unpacked."""
        known = self._tables.get(table, frozenset())
        wanted = [column for column in columns if column in known]
        if not wanted or not where.keys() <= known:
            return
        sorting = [_quoted(column) for column in order if column in known]
        text = f"SELECT {', '.join(map(_quoted, wanted))} FROM {_quoted(table)}"
        if where:
            text += f" WHERE {' AND '.join(f'{_quoted(column)} IS ?' for column in where)}"
        if sorting:
            text += f" ORDER BY {', '.join(sorting)}"
        with closing(self._connection.execute(text, tuple(where.values()))) as cursor:
            for row in cursor:
                yield dict(zip(wanted, map(unpacked, row), strict=True))


@contextmanager
def _reading(path: Path, patience: float) -> Generator[_Query]:
    """Lend a database."""
    with _explaining(path):
        with path.open("rb") as file:
            header = file.read(_LOG_FLAG + 1)
        if not begins_database(header):
            raise DecodeError(_FORMAT, str(path), "this is no SQLite database")
        try:
            logged = path.with_name(f"{path.name}-wal").stat().st_size
        except FileNotFoundError:
            logged = 0
        at_rest = header[_LOG_FLAG:] == b"\x02" and not logged
        mode = "immutable=1" if at_rest else "mode=ro"
        address = f"file:{quote(str(path.absolute()))}?{mode}"
        connection = sqlite3.connect(
            address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False
        )
        try:
            connection.text_factory = partial(str, encoding="utf-8", errors="replace")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("BEGIN")
            # The first look fixes what is seen.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except _DAMAGES:
            connection.close()
            raise
    with closing(connection):
        with _explaining(path):
            query = _Query(connection, at_rest=at_rest)
        yield query


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _tables(connection: sqlite3.Connection) -> Tables:
    named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    listed = "SELECT name FROM pragma_table_info(?)"
    return {
        name: frozenset(column for (column,) in connection.execute(listed, (name,)))
        for (name,) in named
    }


@contextmanager
def _explaining(path: Path) -> Generator[None]:
    try:
        yield
    except _DAMAGES as error:
        raise DecodeError(_FORMAT, str(path), _explained(error)) from error
    except OSError as error:
        raise DecodeError(_FORMAT, str(path), f"it cannot be read ({error.strerror})") from error


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _explained(error: sqlite3.Error | UnicodeDecodeError) -> str:
    # Errors of the Python module have no name of SQLite's.
    name = str(getattr(error, "sqlite_errorname", None) or "")
    if name.startswith(_BUSY):
        return "its owner is writing to it; try again when it is done"
    if name.startswith(_CLOSED):
        return f"it cannot be opened ({error}); look at its permissions"
    return f"it is damaged ({error}); let its owner repair it, or import a copy of it"
