"""Deleting sessions for good, some messages at a time, so that nobody waits long to write.

A session that goes is unknown to everybody from the first transaction on. A note of how far its
messages were taken out of the index is kept until the last one. Whatever stops the work, the next
purge or a repair finds the note and goes on from there.

What somebody deletes for good is overwritten in the file. Everything else that is deleted is pieces
of the index that were merged into others: to overwrite them too, as the SQLite of some systems does
unasked, is a seventh of all that appends write.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged
from holdfast.session import with_originals
from holdfast.session.sessions import not_in_trash
from holdfast.stores.sqlite.log import texts_of
from holdfast.stores.sqlite.rows import fetcher, keys_of, reading, references

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Generator, Iterator, Sequence

    from holdfast.stores.sqlite.connection import Database
    from holdfast.stores.sqlite.index import WordIndex


def erase_where_free(connection: sqlite3.Connection) -> None:
    """Overwrite only what stands in a page that is written anyway."""
    connection.execute("PRAGMA secure_delete = FAST")


@contextmanager
def erasing(connection: sqlite3.Connection) -> Generator[None]:
    """Overwrite what is deleted meanwhile."""
    connection.execute("PRAGMA secure_delete = ON")
    try:
        yield
    finally:
        erase_where_free(connection)


_AT_ONCE = 200
"""Messages or contents that are deleted in one transaction."""
_SHORTEST = 0.005
"""Seconds between transactions: who waits to write looks only now and then."""
_NOTE = "purge:"
_UNFINISHED = f"SELECT key FROM meta WHERE key LIKE '{_NOTE}%'"
"""The notes of deletions that have not come to their end."""
_BEGINNING = -(2**62)
"""Before the first position of a session; a repair may have made negative ones."""


def purge(database: Database, ids: Sequence[str], index: WordIndex) -> int:
    """Delete trashed sessions; returns how many.

    What another session shows, stands for or pins stays readable through that session: such
    messages are kept without their session's name, out of search. They go with the last session
    that needs them. Without sessions, only what an interrupted purge has left is deleted.
    """
    if not ids:
        with database.read() as connection:
            if connection.execute(_UNFINISHED).fetchone() is None:
                return 0
    with database.write(index.forget) as connection, erasing(connection):
        chosen: set[int] = set()
        for id_ in ids:
            key, trashed = keys_of(connection, id_, "key, trashed")
            if trashed is None:
                raise not_in_trash(id_)
            chosen.add(key)
        for key in sorted(chosen):
            # Take a session out of sight, with everything but its messages.
            connection.execute("PRAGMA defer_foreign_keys = ON")
            connection.execute(
                """
                UPDATE sessions SET purged = trashed, view = NULL, tip = NULL,
                    title = '', goal = '', model = '', metadata = '{}'
                WHERE key = ?
                """,
                (key,),
            )
            for table in ("compactions", "views", "pins", "leases", "caller_keys"):
                connection.execute(f"DELETE FROM {table} WHERE session = ?", (key,))
            connection.execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
                (f"{_NOTE}{key}", str(_BEGINNING)),
            )
        gone = _purged(connection)
        needed = _needed(connection, gone)
    for key in sorted(gone):
        reached: int | None = _BEGINNING
        while reached is not None:
            with _taking_turns(), database.write(index.forget) as connection, erasing(connection):
                reached = _delete_some(connection, key, reached, needed, index)
    with database.write(index.forget) as connection, erasing(connection):
        _delete_sessions(connection, gone)
    _sweep(database, index)
    return len(chosen)


@contextmanager
def _taking_turns() -> Generator[None]:
    """Leave the file to others for as long as it was taken from them."""
    begun = time.monotonic()
    yield
    time.sleep(max(_SHORTEST, time.monotonic() - begun))


def finish_purges(connection: sqlite3.Connection) -> Iterator[str]:
    """Delete what an interrupted purge has left, in the caller's transaction.

    The index must be built anew afterwards.
    """
    gone = _purged(connection)
    needed = _needed(connection, gone)
    count = 0
    for key in sorted(gone):
        found = connection.execute("SELECT id FROM messages WHERE session = ?", (key,))
        going = [id_ for (id_,) in found if id_ not in needed]
        with erasing(connection):
            _delete(connection, going)
        count += len(going)
    with erasing(connection):
        _delete_sessions(connection, gone)
    if count:
        yield f"deleted {count} messages of sessions that were deleted before"
    loose = _hashes(connection) - _used(connection, 0)[0] - _set_aside(connection)
    with erasing(connection):
        _drop(connection, loose)
    if loose:
        yield f"deleted {len(loose)} contents that nothing refers to"
    connection.execute(f"DELETE FROM meta WHERE key IN ({_UNFINISHED})")


def without_words(connection: sqlite3.Connection) -> None:
    """Note that the index holds no words any more of what is being deleted."""
    connection.execute(
        f"UPDATE meta SET value = ? WHERE key IN ({_UNFINISHED})", (str(-_BEGINNING),)
    )


def _purged(connection: sqlite3.Connection) -> set[int]:
    """Return sessions that go; what was kept of earlier ones may be needed no longer."""
    rows = connection.execute("SELECT key FROM sessions WHERE purged NOTNULL")
    return {key for (key,) in rows}


def _needed(connection: sqlite3.Connection, gone: Collection[int]) -> set[int]:
    """Return the ids of the messages of sessions that go which those that stay need."""
    needed: set[int] = set()
    for view, session, spans in connection.execute("SELECT id, session, spans FROM views"):
        if session in gone:
            continue
        with reading(f"view {view}"):
            shown = [(key, first, last) for key, first, last in json.loads(spans)]
        for span in shown:
            if span[0] in gone:
                found = connection.execute(
                    "SELECT id FROM messages WHERE session = ? AND position BETWEEN ? AND ?", span
                )
                needed.update(id_ for (id_,) in found)
    marks = ", ".join(str(key) for key in sorted(gone))
    for statement in (
        f"SELECT message FROM pins WHERE session NOT IN ({marks})",
        f"SELECT stands_for FROM messages WHERE stands_for NOTNULL AND session NOT IN ({marks})",
    ):
        needed.update(id_ for (id_,) in connection.execute(statement))

    def stands_for(id_: int) -> int | None:
        row = connection.execute("SELECT stands_for FROM messages WHERE id = ?", (id_,)).fetchone()
        return row[0] if row else None

    return with_originals(needed, stands_for)


def _delete_some(
    connection: sqlite3.Connection, key: int, after: int, needed: Collection[int], index: WordIndex
) -> int | None:
    """Delete the next messages of a session; returns the position reached, or None at the end."""
    note = connection.execute("SELECT value FROM meta WHERE key = ?", (f"{_NOTE}{key}",)).fetchone()
    rows = connection.execute(
        """
        SELECT id, position, kind FROM messages WHERE session = ? AND position > ?
        ORDER BY position LIMIT ?
        """,
        (key, after, _AT_ONCE),
    ).fetchall()
    if not rows:
        return None
    reached = int(rows[-1][1])
    # Without a note, the words of what was kept went in an earlier purge.
    if note is not None and int(note[0]) < reached:
        done = int(note[0])
        said = [id_ for id_, position, kind in rows if kind == 0 and position > done]
        # An entry of the index without its message finds nothing; a repair takes it out.
        with suppress(StoreDamaged):
            index.remove(connection, texts_of(connection, said).items())
        connection.execute(
            "UPDATE meta SET value = ? WHERE key = ?", (str(reached), f"{_NOTE}{key}")
        )
    _delete(connection, [id_ for id_, _, _ in rows if id_ not in needed])
    return reached


def _delete(connection: sqlite3.Connection, ids: Sequence[int]) -> None:
    rows = [(id_,) for id_ in ids]
    connection.executemany("DELETE FROM pins WHERE message = ?", rows)
    connection.executemany("DELETE FROM messages WHERE id = ?", rows)


def _delete_sessions(connection: sqlite3.Connection, gone: Collection[int]) -> None:
    """Delete the rows of sessions on which neither messages nor other sessions hang."""
    for key in sorted(gone, reverse=True):
        connection.execute(
            """
            DELETE FROM sessions WHERE key = ?1
                AND NOT EXISTS (SELECT 1 FROM messages WHERE session = ?1)
                AND NOT EXISTS (
                    SELECT 1 FROM sessions WHERE key != ?1 AND (parent = ?1 OR root = ?1)
                )
            """,
            (key,),
        )


def _sweep(database: Database, index: WordIndex) -> None:
    """Delete the contents that nothing refers to, and then the notes."""
    with database.read() as connection:
        notes = connection.execute(_UNFINISHED).fetchall()
        used, last = _used(connection, 0)
        loose = sorted(_hashes(connection) - used - _set_aside(connection))
    for start in range(0, len(loose), _AT_ONCE):
        with _taking_turns(), database.write(index.forget) as connection, erasing(connection):
            # Only what was written since must be looked at while others wait.
            later, _ = _used(connection, last)
            _drop(connection, set(loose[start : start + _AT_ONCE]) - later)
    with database.write(index.forget) as connection:
        connection.executemany("DELETE FROM meta WHERE key = ?", notes)


def _hashes(connection: sqlite3.Connection) -> set[bytes]:
    return {digest for (digest,) in connection.execute("SELECT hash FROM blobs")}


def _used(connection: sqlite3.Connection, after: int) -> tuple[set[bytes], int]:
    """Return which blobs messages after an id refer to, and the id of the last message."""
    used: set[bytes] = set()
    fetch = fetcher(connection, is_remembering=False)
    last = after
    rows = connection.execute(
        """
        SELECT id, body, whole FROM messages
        WHERE id > ? AND (typeof(body) = 'blob' OR whole NOTNULL) ORDER BY id
        """,
        (after,),
    )
    for id_, body, whole in rows:
        last = id_
        used |= references(body, whole, fetch)
    return used, last


def _set_aside(connection: sqlite3.Connection) -> set[bytes]:
    """Return the blobs that belong to what a repair has set aside."""
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'set_aside'").fetchone()
    if table is None:
        return set()
    fetch = fetcher(connection, is_remembering=False)
    used: set[bytes] = set()
    rows = connection.execute("SELECT place, content FROM set_aside WHERE place LIKE 'messages %'")
    for place, content in rows:
        if str(place).endswith(" whole"):
            used |= references("", content, fetch)
        elif isinstance(content, bytes):
            used |= references(content, None, fetch)
    return used


def _drop(connection: sqlite3.Connection, blobs: Collection[bytes]) -> None:
    connection.executemany("DELETE FROM blobs WHERE hash = ?", [(digest,) for digest in blobs])
