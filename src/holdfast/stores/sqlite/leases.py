"""Leases: who compacts which session, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.ports import Lease
from holdfast.stores.sqlite.rows import key_of, text_from, to_text

if TYPE_CHECKING:
    import sqlite3

__all__ = ["acquire_lease", "release_lease"]


def acquire_lease(connection: sqlite3.Connection, lease: Lease, now: int) -> Lease:
    """Take a lease that is free, expired or one's own; another's is returned as it is."""
    key = key_of(connection, lease.session)
    connection.execute(
        """
        INSERT INTO leases (session, holder, expires) VALUES (?, ?, ?)
        ON CONFLICT (session) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
        WHERE leases.holder = excluded.holder OR leases.expires <= ?
        """,
        (key, to_text(lease.holder), lease.expires, now),
    )
    holder, expires = connection.execute(
        "SELECT holder, expires FROM leases WHERE session = ?", (key,)
    ).fetchone()
    return Lease(lease.session, text_from(holder), expires)


def release_lease(connection: sqlite3.Connection, lease: Lease) -> None:
    """Give back a lease if it is still one's own."""
    connection.execute(
        "DELETE FROM leases WHERE session = ? AND holder = ?",
        (key_of(connection, lease.session), to_text(lease.holder)),
    )
