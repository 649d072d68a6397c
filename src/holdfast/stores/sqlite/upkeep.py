"""The trash: sessions out of sight, and back again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.stores.sqlite.rows import key_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

__all__ = ["restore_sessions", "trash_sessions"]


def trash_sessions(
    connection: sqlite3.Connection, ids: Sequence[str], at: int, used_since: int | None
) -> int:
    """Put sessions into the trash; returns how many were not there yet.

    Args:
        connection: The one that writes.
        ids: The sessions.
        at: The time.
        used_since: Leaves conversations alone in which anything was said at this time or later.
    """
    return sum(
        connection.execute(
            """
            UPDATE sessions SET trashed = ?1 WHERE key = ?2 AND trashed IS NULL
                AND (?3 IS NULL OR NOT EXISTS (
                    SELECT 1 FROM sessions AS other
                    WHERE other.root = sessions.root AND other.trashed IS NULL
                        AND other.touched >= ?3
                ))
            """,
            (at, key_of(connection, id_), used_since),
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
