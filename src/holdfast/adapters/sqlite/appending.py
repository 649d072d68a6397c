"""Appending to a session: the path that every message of every conversation takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.log import NEWEST_ID, Batch, Place, write
from holdfast.adapters.sqlite.rows import live_key_of, to_text
from holdfast.adapters.sqlite.sessions import add_usage
from holdfast.errors import Conflict
from holdfast.session import Usage

if TYPE_CHECKING:
    import sqlite3

    from holdfast.adapters.sqlite.log import Words
    from holdfast.session import Entry

__all__ = ["NONE_USED", "append_batch", "grown_by"]

NONE_USED = Usage()
"""What a message costs that no provider answered."""
_GROW = f"""
    UPDATE sessions SET size = size + ?, touched = max(touched, ?)
    WHERE id = ? AND ended IS NULL AND trashed IS NULL AND purged IS NULL
    RETURNING key, size, ({NEWEST_ID})
"""
"""One statement in place of two: each costs as much as inserting a short message."""


def append_batch(
    connection: sqlite3.Connection, place: Place, batch: Batch, usage: Usage, index: Words
) -> tuple[Entry, ...]:
    """Write a batch where `grown_by` made room for it, its words to the index."""
    entries = write(connection, place, batch, index)
    if usage is not NONE_USED:
        add_usage(connection, place.key, usage)
    for draft in batch.drafts:
        if draft.pinned:
            return _pinned(connection, place.key, entries, batch)
    return entries


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
    place = _grown(connection, id_, batch)
    if size is not None and place.size != size:
        raise Conflict(
            f"session {id_} was written to by somebody else since it was read "
            f"({place.size} messages, expected {size}); read it again"
        )
    return place


def _grown(connection: sqlite3.Connection, id_: str, batch: Batch) -> Place:
    count = len(batch.drafts)
    if count:
        latest = batch.drafts[0].at
        for draft in batch.drafts:
            latest = max(latest, draft.at)
        grown = connection.execute(_GROW, (count, latest, to_text(id_))).fetchall()
        if grown:
            ((key, size, newest),) = grown
            return Place(id_, key, size - count, newest or 0)
    key, size = live_key_of(connection, id_, "key, size")
    return Place(id_, key, size)


def _pinned(
    connection: sqlite3.Connection, key: int, entries: tuple[Entry, ...], batch: Batch
) -> tuple[Entry, ...]:
    """Pin what is to be pinned from the beginning."""
    chosen = {entry.id for entry, draft in zip(entries, batch.drafts, strict=True) if draft.pinned}
    connection.executemany(
        "INSERT INTO pins (session, message) VALUES (?, ?)", [(key, each) for each in chosen]
    )
    return tuple(
        replace(entry, message=replace(entry.message, pinned=True)) if entry.id in chosen else entry
        for entry in entries
    )
