"""Appending to a session: the path that every message of every conversation takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.log import Batch, Place, write
from holdfast.adapters.sqlite.rows import live_key_of
from holdfast.adapters.sqlite.sessions import add_usage
from holdfast.session import Usage

if TYPE_CHECKING:
    import sqlite3

    from holdfast.adapters.sqlite.index import WordIndex
    from holdfast.session import Entry

__all__ = ["append_batch"]

_NONE_USED = Usage()


def append_batch(
    connection: sqlite3.Connection, id_: str, batch: Batch, usage: Usage, index: WordIndex
) -> tuple[Entry, ...]:
    """Write a batch to the end of a session's log, its words to the index."""
    key, size, _, _ = live_key_of(connection, id_)
    entries = write(connection, Place(id_, key, size), batch, index)
    if entries:
        connection.execute(
            "UPDATE sessions SET size = ?, touched = max(touched, ?) WHERE key = ?",
            (size + len(entries), max(entry.at for entry in entries), key),
        )
    if usage != _NONE_USED:
        add_usage(connection, key, usage)
    return entries
