"""Pins of sessions, and small values under names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.stores.sqlite.rows import key_of, text_from, to_text

if TYPE_CHECKING:
    import sqlite3

__all__ = ["remember_value", "remembered_value", "set_pin"]


def set_pin(connection: sqlite3.Connection, id_: str, message_id: int, *, pinned: bool) -> None:
    """Pin a message in a session, or let go of it."""
    key = key_of(connection, id_)
    if not pinned:
        connection.execute("DELETE FROM pins WHERE session = ? AND message = ?", (key, message_id))
        return
    found = connection.execute("SELECT 1 FROM messages WHERE id = ?", (message_id,)).fetchone()
    if found is None:
        raise UnknownSession(f"there is no message {message_id} to pin")
    connection.execute(
        "INSERT OR IGNORE INTO pins (session, message) VALUES (?, ?)", (key, message_id)
    )


def remember_value(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Keep a value under a name, in place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (to_text(name), to_text(value))
    )


def remembered_value(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the value under a name."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (to_text(name),)).fetchone()
    return None if row is None else text_from(row[0])
