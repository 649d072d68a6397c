"""The trash: sessions out of sight, back again, or gone for good."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.blobs import fetcher, references
from holdfast.adapters.sqlite.rows import key_of, keys_of
from holdfast.adapters.sqlite.windows import texts_of
from holdfast.errors import StoreDamaged, StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Sequence

    from holdfast.adapters.sqlite.index import WordIndex

__all__ = ["drop_blobs", "purge_sessions", "restore_sessions", "still_used", "trash_sessions"]

_AT_ONCE = 500


def trash_sessions(connection: sqlite3.Connection, ids: Sequence[str], at: int) -> int:
    """Put sessions into the trash; returns how many were not there yet."""
    return sum(
        connection.execute(
            "UPDATE sessions SET trashed = ? WHERE key = ? AND trashed IS NULL",
            (at, key_of(connection, id_)),
        ).rowcount
        for id_ in ids
    )


def restore_sessions(connection: sqlite3.Connection, ids: Sequence[str]) -> int:
    """Take sessions out of the trash; returns how many were in it."""
    return sum(
        connection.execute(
            "UPDATE sessions SET trashed = NULL WHERE key = ? AND trashed IS NOT NULL",
            (key_of(connection, id_),),
        ).rowcount
        for id_ in ids
    )


def purge_sessions(
    connection: sqlite3.Connection, ids: Sequence[str], index: WordIndex
) -> tuple[int, frozenset[bytes]]:
    """Delete trashed sessions; returns how many, and the blobs that may be of no use now.

    What another session shows, stands for or pins stays readable through that session: such
    messages are kept without their session's name, out of search. They go with the last session
    that needs them.
    """
    gone = {_trashed_key(connection, id_) for id_ in ids}
    count = len(gone)
    # What was kept for others in earlier purges may be needed no longer.
    gone |= {key for (key,) in connection.execute("SELECT key FROM sessions WHERE purged NOTNULL")}
    connection.execute("PRAGMA defer_foreign_keys = ON")
    needed = _needed(connection, gone)
    loose: set[bytes] = set()
    for key in sorted(gone):
        loose |= _delete_messages(connection, key, needed, index)
        _delete_views(connection, key)
    for key in sorted(gone, reverse=True):
        _delete_session(connection, key)
    return count, frozenset(loose)


def still_used(
    connection: sqlite3.Connection, blobs: Collection[bytes], after: int
) -> tuple[set[bytes], int]:
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
    return used.intersection(blobs), last


def drop_blobs(connection: sqlite3.Connection, blobs: Collection[bytes]) -> None:
    """Delete blobs that nothing refers to."""
    connection.executemany("DELETE FROM blobs WHERE hash = ?", [(digest,) for digest in blobs])


def _trashed_key(connection: sqlite3.Connection, id_: str) -> int:
    key, trashed = keys_of(connection, id_, "key, trashed")
    if trashed is None:
        raise StoreError(f"session {id_} is not in the trash; put it there first")
    return key


def _needed(connection: sqlite3.Connection, gone: Collection[int]) -> set[int]:
    """Return the ids of the messages of sessions that go which those that stay need."""
    needed: set[int] = set()
    for key, first, last in _foreign_spans(connection, gone):
        found = connection.execute(
            "SELECT id FROM messages WHERE session = ? AND position BETWEEN ? AND ?",
            (key, first, last),
        )
        needed.update(id_ for (id_,) in found)
    marks = ", ".join(str(key) for key in gone)
    for statement in (
        f"SELECT message FROM pins WHERE session NOT IN ({marks})",
        f"SELECT stands_for FROM messages WHERE stands_for NOTNULL AND session NOT IN ({marks})",
    ):
        needed.update(id_ for (id_,) in connection.execute(statement))
    # A stand-in that stays needs what it stands for.
    waiting = list(needed)
    while waiting:
        row = connection.execute(
            "SELECT stands_for FROM messages WHERE id = ?", (waiting.pop(),)
        ).fetchone()
        if row and row[0] is not None and row[0] not in needed:
            needed.add(row[0])
            waiting.append(row[0])
    return needed


def _foreign_spans(
    connection: sqlite3.Connection, gone: Collection[int]
) -> Iterator[tuple[int, int, int]]:
    """Return the spans by which sessions that stay show messages of sessions that go."""
    for session, spans in connection.execute("SELECT session, spans FROM views"):
        if session not in gone:
            yield from (tuple(span) for span in json.loads(spans) if span[0] in gone)


def _delete_messages(
    connection: sqlite3.Connection, key: int, needed: Collection[int], index: WordIndex
) -> set[bytes]:
    rows = connection.execute(
        "SELECT id, kind, body, whole FROM messages WHERE session = ?", (key,)
    ).fetchall()
    fetch = fetcher(connection, is_remembering=False)
    loose: set[bytes] = set()
    (purged,) = connection.execute("SELECT purged FROM sessions WHERE key = ?", (key,)).fetchone()
    if purged is None:
        _unindex(connection, [row[0] for row in rows if row[1] == 0], index)
    going = [row for row in rows if row[0] not in needed]
    for _, _, body, whole in going:
        loose |= references(body, whole, fetch)
    connection.executemany("DELETE FROM pins WHERE message = ?", [(row[0],) for row in going])
    connection.executemany("DELETE FROM messages WHERE id = ?", [(row[0],) for row in going])
    return loose


def _unindex(connection: sqlite3.Connection, ids: Sequence[int], index: WordIndex) -> None:
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        try:
            index.remove(connection, texts_of(connection, some).items())
        except StoreDamaged:
            # An entry of the index without its message finds nothing; a repair takes it out.
            continue


def _delete_views(connection: sqlite3.Connection, key: int) -> None:
    connection.execute("UPDATE sessions SET view = NULL, tip = NULL WHERE key = ?", (key,))
    for table in ("compactions", "views", "pins", "leases"):
        connection.execute(f"DELETE FROM {table} WHERE session = ?", (key,))


def _delete_session(connection: sqlite3.Connection, key: int) -> None:
    """Delete the row, or empty it while messages or other sessions hang on it."""
    deleted = connection.execute(
        """
        DELETE FROM sessions WHERE key = ?1
            AND NOT EXISTS (SELECT 1 FROM messages WHERE session = ?1)
            AND NOT EXISTS (SELECT 1 FROM sessions WHERE key != ?1 AND (parent = ?1 OR root = ?1))
        """,
        (key,),
    ).rowcount
    if not deleted:
        connection.execute(
            """
            UPDATE sessions SET purged = trashed, title = '', goal = '', model = '', metadata = '{}'
            WHERE key = ?
            """,
            (key,),
        )
