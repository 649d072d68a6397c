"""Appending to a session: the path that every message of every conversation takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.session.rules import check_size
from holdfast.stores.sqlite.log import NEWEST_ID, Batch, Place, write
from holdfast.stores.sqlite.rows import live_key_of, to_text
from holdfast.stores.sqlite.sessions import NONE_USED, add_usage

if TYPE_CHECKING:
    import sqlite3

    from holdfast.session import Entry, Usage
    from holdfast.stores.sqlite.log import Words

__all__ = ["append_batch", "grown_by", "latest_of", "pin_new"]

_FIND = f"""
    SELECT key, size, ({NEWEST_ID}) FROM sessions
    WHERE id = ? AND ended IS NULL AND trashed IS NULL AND purged IS NULL
"""
_GROW = "UPDATE sessions SET size = ?, touched = max(touched, ?) WHERE key = ?"
"""Two statements, because an update that returns something takes longer than both."""


def append_batch(
    connection: sqlite3.Connection, place: Place, batch: Batch, usage: Usage, index: Words
) -> tuple[Entry, ...]:
    """Write a batch where `grown_by` made room for it, its words to the index."""
    entries = write(connection, place, batch, index)
    if usage is not NONE_USED:
        add_usage(connection, place.key, usage)
    pinned = pin_new(connection, place.key, entries[0].id, batch) if entries else ()
    if not pinned:
        return entries
    return tuple(_as_pinned(entry) if entry.id in pinned else entry for entry in entries)


def grown_by(
    connection: sqlite3.Connection, id_: str, batch: Batch, size: int | None = None
) -> Place:
    """Make the session longer by the batch and return where the batch goes.

    Args:
        connection: The one that writes.
        id_: The session.
        batch: What will be written.
        size: How long the session must be for it.
    """
    place = _found(connection, id_)
    check_size(id_, place.size, size)
    if batch.drafts:
        grown = place.size + len(batch.drafts)
        connection.execute(_GROW, (grown, latest_of(batch), place.key))
    return place


def latest_of(batch: Batch) -> int:
    """Return when the newest message of a batch was said."""
    return max([draft.at for draft in batch.drafts], default=0)


def pin_new(connection: sqlite3.Connection, key: int, first: int, batch: Batch) -> frozenset[int]:
    """Pin what is to be pinned from the beginning, and return its ids.

    Args:
        connection: The one that writes.
        key: Of the session.
        first: The id of the first message of the batch.
        batch: What was written.
    """
    chosen = [first + offset for offset, draft in enumerate(batch.drafts) if draft.pinned]
    if chosen:
        connection.executemany(
            "INSERT INTO pins (session, message) VALUES (?, ?)", [(key, each) for each in chosen]
        )
    return frozenset(chosen)


def _found(connection: sqlite3.Connection, id_: str) -> Place:
    row = connection.execute(_FIND, (to_text(id_),)).fetchone()
    if row is None:
        # It is not there, or nothing may be appended to it: this says which.
        row = (*live_key_of(connection, id_, "key, size"), None)
    key, size, newest = row
    return Place(id_, key, size, newest or 0)


def _as_pinned(entry: Entry) -> Entry:
    return replace(entry, message=replace(entry.message, pinned=True))
