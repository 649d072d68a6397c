"""Copying tables row by row, around pages that cannot be read.

What SQLite cannot reach is looked for on the pages themselves.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.stores.sqlite.btree_pages import DISTINCT, add_found_rows, last_number
from holdfast.stores.sqlite.rows import Row, fetcher, references

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_NUMBERED = ("sessions", "messages", "views", "compactions", "leases", "caller_keys", "set_aside")
_KEYED = {"meta": "key", "pins": "session", "blobs": "hash"}
_NEAR = 2_000
"""Rows that are tried one by one after a damaged one; a page holds fewer."""
_FARTHEST = 2**62
_FAR = 2**20
_MOST_GAPS = 5_000
"""Enough for any damage that leaves something; damaged pages can lead in circles."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What could not be read of a damaged file, as far as anybody can know."""

    messages: int = 0
    """Messages that sessions and views speak of: at least so many are lost."""
    most_messages: int = 0
    """Messages that were numbered and are not there: lost, or deleted before."""
    numbered_sessions: int = 0
    """Sessions that are known to have been numbered and are not there; there may be more."""
    is_least: bool = False
    """Whether more may be lost than is known."""


NOTHING_LOST = Lost()


@dataclass(frozen=True, slots=True)
class Copied:
    """What was read of a damaged file."""

    done: tuple[str, ...]
    rows: int
    lost: Lost = NOTHING_LOST


def copy_tables(source: sqlite3.Connection, target: sqlite3.Connection, file: Path) -> Copied:
    """Copy what can be read of every table.

    The file is the damaged one again, to look at its pages.
    """
    counts: dict[str, int] = {}
    gaps: dict[str, int] = {}
    for table in (*_NUMBERED, *_KEYED):
        counts[table], gaps[table] = _copy(source, target, table)
    # Never give a number again that a lost row may have had.
    with suppress(sqlite3.DatabaseError):
        for name, number in source.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
            if name not in _NUMBERED or not isinstance(number, int) or number >= _FARTHEST:
                continue
            known = target.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, name)
            ).rowcount
            if not known:
                target.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, number))
    wanted = {table for table in DISTINCT if gaps[table]}
    if _missing(target):
        wanted.add("messages")
    found = add_found_rows(file, target, wanted)
    _fetch_missing(source, target)
    done = [
        f"read {counts[table] + found.get(table, 0)} rows of {table}"
        + (f", {found[table]} of them page by page" if found.get(table) else "")
        + (f"; {gaps[table]} stretches could not be read" if gaps[table] else "")
        for table in counts
        if table != "set_aside" or counts[table] or gaps[table]
    ]
    lost = _lost(source, target, file if gaps["sessions"] else None)
    if lost.messages:
        (kept,) = target.execute("SELECT count(*) FROM messages").fetchone()
        at_least = "at least " if lost.is_least else ""
        done.append(
            f"{at_least}{lost.messages} of {kept + lost.messages} messages could not be read"
        )
    return Copied(tuple(done), sum(counts.values()) + sum(found.values()), lost)


def _lost(source: sqlite3.Connection, target: sqlite3.Connection, file: Path | None) -> Lost:
    """Count what is not there; by the numbers given out, too, where a file lost sessions."""
    missing = _missing(target)
    if file is None:
        return Lost(missing, missing)
    numbered: dict[str, int] = {}
    with suppress(sqlite3.DatabaseError):
        rows = source.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        numbered = {name: seq for name, seq in rows if isinstance(seq, int) and seq < _FAR}
        ((page,),) = source.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'")
        numbered["sessions"] = last_number(file, page) % _FAR
    ((messages,), (sessions,)) = target.execute(
        """
        SELECT count(*) FROM messages UNION ALL SELECT count(*) FROM (
            SELECT key FROM sessions UNION SELECT session FROM messages
            UNION SELECT session FROM views
        )
        """
    ).fetchall()
    return Lost(
        missing,
        max(missing, numbered.get("messages", 0) - messages),
        max(0, numbered.get("sessions", 0) - sessions),
        is_least=True,
    )


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> tuple[int, int]:
    """Copy what SQLite can read of a table; returns how many rows, and how many gaps."""
    columns = _columns(source, target, table)
    if not columns:
        return 0, 0
    rows = _Rows(source, table, columns)
    marks = ", ".join("?" * len(columns))
    count = 0
    for row in rows.all_numbered() if table in _NUMBERED else rows.keyed(_KEYED[table]):
        with suppress(sqlite3.IntegrityError):
            count += target.execute(
                f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})", row
            ).rowcount
    return count, rows.gaps


def _missing(target: sqlite3.Connection) -> int:
    """Count the messages that must have been there: positions are given out without gaps."""
    (missing,) = target.execute(
        """
        WITH written(most) AS (
            SELECT max(?, coalesce(max(seq), 0)) FROM sqlite_sequence WHERE name = 'messages'
        ), ends(session, last) AS (
            SELECT key, size FROM sessions
            UNION ALL SELECT session, position FROM messages
            UNION ALL SELECT session, upto FROM views
        ), newest(session, last) AS (
            -- A damaged row may say anything, but not more than were ever written.
            SELECT session, max(last) FROM ends, written
            WHERE typeof(last) = 'integer' AND last BETWEEN 1 AND most
                AND session NOT IN (SELECT key FROM sessions WHERE purged NOTNULL)
            GROUP BY session
        )
        SELECT coalesce(sum(n.last - (
            SELECT count(*) FROM messages AS m
            WHERE m.session = n.session AND m.position BETWEEN 1 AND n.last
        )), 0) FROM newest AS n
        """,
        (_FAR,),
    ).fetchone()
    return int(missing)


def tolerant(raw: bytes) -> str | bytes:
    """Return a stored text, or its bytes where they are no text any more."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


class _Rows:
    """The rows of one table, as far as they can be read."""

    def __init__(self, source: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> None:
        self._source = source
        self._table = table
        self._columns = ", ".join(columns)
        self.gaps = 0

    def all_numbered(self) -> Iterator[Row]:
        """Read a table in order, and then one by one what damage may have led past."""
        yield from self.numbered()
        if not self.gaps:
            return
        with suppress(sqlite3.DatabaseError):
            (most,) = self._source.execute(
                "SELECT max(seq) FROM sqlite_sequence WHERE name = ?", (self._table,)
            ).fetchone()
            for number in range(1, min(most or 0, _FAR) + 1):
                with suppress(sqlite3.DatabaseError):
                    yield from self._source.execute(
                        f"SELECT {self._columns} FROM {self._table} WHERE rowid = ?", (number,)
                    )

    def numbered(self) -> Iterator[Row]:
        """Read a table in the order of its row numbers, and go on behind what is damaged."""
        last = -1
        while self.gaps < _MOST_GAPS:
            try:
                for number, *row in self._after(last):
                    # A damaged page may hold any number; one far ahead would skip all between.
                    if last < number < last + _FAR:
                        last = number
                    yield tuple(row)
            except sqlite3.DatabaseError:
                self.gaps += 1
            else:
                return
            # Python asks for the next row before it gives one out: the last good one is missing.
            with suppress(sqlite3.DatabaseError):
                for number, *row in self._after(last, 1):
                    last = number if last < number < last + _FAR else last
                    yield tuple(row)
            readable = self._next_readable(last)
            if readable is None:
                return
            last = readable

    def keyed(self, key: str) -> Iterator[Row]:
        """Read a table from both ends, as far as each goes."""
        for order in ("ASC", "DESC"):
            try:
                yield from self._source.execute(
                    f"SELECT {self._columns} FROM {self._table} ORDER BY {key} {order}"
                )
            except sqlite3.DatabaseError:
                self.gaps = 1
            else:
                return

    def _after(self, number: int, most: int = -1) -> Iterator[Row]:
        # Not "greater than": that would look at the page of the number itself, too.
        return self._source.execute(
            f"SELECT rowid, {self._columns} FROM {self._table} WHERE rowid >= ?"
            " ORDER BY rowid LIMIT ?",
            (number + 1, most),
        )

    def _next_readable(self, after: int) -> int | None:
        """Return the least number behind which a row can be read, or None at the end."""
        for number in range(after + 1, after + 1 + _NEAR):
            if self._can_read_after(number):
                return number
        failing, step = after + _NEAR, _NEAR
        while failing + step < _FARTHEST and not self._can_read_after(failing + step):
            failing, step = failing + step, step * 2
        working = failing + step
        if working >= _FARTHEST:
            return None
        while working - failing > 1:
            middle = (failing + working) // 2
            if self._can_read_after(middle):
                working = middle
            else:
                failing = middle
        return working

    def _can_read_after(self, number: int) -> bool:
        try:
            next(iter(self._after(number, 1)), None)
        except sqlite3.DatabaseError:
            return False
        return True


def _columns(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Return the columns that both files have; a table that only the old one has is made."""

    def names(connection: sqlite3.Connection) -> list[str]:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]

    found = names(source)
    if found and not names(target):
        target.execute(
            "CREATE TABLE set_aside"
            " (id INTEGER PRIMARY KEY AUTOINCREMENT, place TEXT NOT NULL, content)"
        )
    kept = set(names(target))
    return tuple(name for name in found if name in kept)


def _fetch_missing(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Look up one by one the blobs that messages refer to and that were not reached."""
    fetch = fetcher(target, is_remembering=False)
    for _ in range(2):  # a whole message is a blob that refers to others
        rows = target.execute("SELECT body, whole FROM messages").fetchall()
        wanted = {digest for body, whole in rows for digest in references(body, whole, fetch)}
        known = {digest for (digest,) in target.execute("SELECT hash FROM blobs")}
        for digest in wanted - known:
            with suppress(sqlite3.DatabaseError):
                found = source.execute(
                    "SELECT hash, size, body FROM blobs WHERE hash = ?", (digest,)
                ).fetchall()
                target.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?, ?)", found)
