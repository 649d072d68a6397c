"""Appending to a session: the path that every message of every conversation takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.log import NEWEST_ID, Batch, Place, write
from holdfast.adapters.sqlite.rows import live_key_of
from holdfast.adapters.sqlite.sessions import add_usage
from holdfast.session import Usage

if TYPE_CHECKING:
    import sqlite3

    from holdfast.adapters.sqlite.index import WordIndex
    from holdfast.session import Entry

__all__ = ["append_batch"]

_NONE_USED = Usage()
_COLUMNS = f"key, size, ({NEWEST_ID})"


def append_batch(
    connection: sqlite3.Connection, id_: str, batch: Batch, usage: Usage, index: WordIndex
) -> tuple[Entry, ...]:
    """Write a batch to the end of a session's log, its words to the index."""
    key, size, newest = live_key_of(connection, id_, _COLUMNS)
    entries = write(connection, Place(id_, key, size, newest or 0), batch, index)
    if entries:
        connection.execute(
            "UPDATE sessions SET size = ?, touched = max(touched, ?) WHERE key = ?",
            (size + len(entries), max([entry.at for entry in entries]), key),
        )
    if usage != _NONE_USED:
        add_usage(connection, key, usage)
    return _pinned(connection, key, entries, batch)


def _pinned(
    connection: sqlite3.Connection, key: int, entries: tuple[Entry, ...], batch: Batch
) -> tuple[Entry, ...]:
    """Pin what is to be pinned from the beginning."""
    if not any([draft.pinned for draft in batch.drafts]):
        return entries
    chosen = {entry.id for entry, draft in zip(entries, batch.drafts, strict=True) if draft.pinned}
    connection.executemany(
        "INSERT INTO pins (session, message) VALUES (?, ?)", [(key, each) for each in chosen]
    )
    return tuple(
        replace(entry, message=replace(entry.message, pinned=True)) if entry.id in chosen else entry
        for entry in entries
    )
