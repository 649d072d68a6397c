"""Repairing a store: inside the file where that is enough, else by saving what can be read."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged, StoreError
from holdfast.stores.sqlite.checkup import is_sound
from holdfast.stores.sqlite.mending import mend
from holdfast.stores.sqlite.reading_around import tolerant
from holdfast.stores.sqlite.salvage import Salvaged, save_readable

if TYPE_CHECKING:
    from holdfast.stores.sqlite.connection import Database
    from holdfast.stores.sqlite.index import WordIndex

__all__ = ["repair_database"]


def repair_database(database: Database, index: WordIndex) -> Salvaged:
    """Mend the file, or put a fresh one with everything readable in its place."""
    with suppress(StoreDamaged):
        if _is_sound(database):
            return Salvaged(_mended(database, index), 0)
    database.close()
    try:
        saved = save_readable(database.path)
    except BaseException:
        # What is wrong was said; a file that cannot be opened says it again at its next use.
        with suppress(StoreError):
            database.reopen()
        raise
    index.forget()
    database.reopen()
    return saved


def _is_sound(database: Database) -> bool:
    """Look at the pages; lost entries of SQLite's own indexes are made again first."""
    with database.read() as connection:
        if is_sound(connection):
            return True
    with database.write() as connection:
        with suppress(sqlite3.IntegrityError):
            connection.execute("REINDEX")
        return is_sound(connection)


def _mended(database: Database, index: WordIndex) -> tuple[str, ...]:
    with database.write(index.forget) as connection:
        connection.text_factory = tolerant
        try:
            return tuple(mend(connection, index))
        finally:
            connection.text_factory = str
