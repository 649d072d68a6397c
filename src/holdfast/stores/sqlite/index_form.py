"""The form of the index: what a text is turned into before its words are stored.

A message is taken out of the index with the text that it was put in with. So the index must have
been written by the same rules that are in force now, or be built anew.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from holdfast.stores.sqlite.failures import is_damage
from holdfast.stores.sqlite.purging import without_words
from holdfast.stores.sqlite.windows import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.stores.sqlite.index import WordIndex

__all__ = ["FORM", "build_index", "is_current"]

FORM = 2
"""Goes up with every change of the text that is indexed or of the words that are listed."""
_NAME = "index"
_FIRST = 1
"""The form of files that do not say theirs."""


def is_current(connection: sqlite3.Connection) -> bool:
    """Say whether the index in a file is of the form that is written now."""
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = ?", (_NAME,)).fetchone()
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return True  # what is damaged is repaired when somebody asks for it
        raise
    return str(_FIRST if row is None else row[0]) == str(FORM)


def build_index(connection: sqlite3.Connection, index: WordIndex) -> int:
    """Build the index anew from the log, within the caller's transaction.

    Returns how many messages are in it.
    """
    count = index.rebuild(connection, _searchable_rows(connection))
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_NAME, str(FORM)))
    without_words(connection)
    return count


def _searchable_rows(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    rows = connection.execute(
        """
        SELECT m.id FROM messages AS m JOIN sessions AS s ON s.key = m.session
        WHERE m.kind = 0 AND s.purged IS NULL ORDER BY m.id
        """
    )
    for (id_,) in rows:
        yield from texts_of(connection, [id_]).items()
