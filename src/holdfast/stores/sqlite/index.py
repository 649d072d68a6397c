"""The word index: which messages hold which words, kept in the same transaction as the log.

It holds no text. The table is contentless, with one row for each message that was said, and the
store gives the text again when a row must go. Ranking reads lengths from the log, so the index
does not keep them either. Beside it there is a list of each distinct word: a part of a word is
looked up there, which costs a hundredth of an index over all parts of all texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.recall.folding import fold
from holdfast.recall.forms import index_forms, spellings_among
from holdfast.stores.sqlite.merging import MERGING, merge_some
from holdfast.stores.sqlite.spelling_list import (
    LIST_TABLES,
    WAITING_TABLES,
    add_spellings,
    clear_spellings,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from holdfast.recall.forms import Forms

__all__ = ["FIRST_TABLES", "INDEX_TABLES", "WordIndex"]

FIRST_TABLES = (
    """
    CREATE VIRTUAL TABLE message_words USING fts5(
        text, content='', columnsize=0, tokenize='porter unicode61 remove_diacritics 2'
    )
    """,
    *LIST_TABLES,
)
"""The statements that created the index in the first version."""
INDEX_TABLES = (*FIRST_TABLES, *WAITING_TABLES, *MERGING)
"""The statements that create the index."""

_MOST_KNOWN = 200_000
"""Words that are remembered as seen already: some 20 MB at most."""


class WordIndex:
    """Writes the index of one store, and remembers which words it has seen.

    The memory saves asking the database for each word of each message. It holds what was written,
    so it must be told when a transaction is rolled back.
    """

    def __init__(self) -> None:
        self._known: set[bytes] = set()
        self._connection: sqlite3.Connection | None = None

    def add(self, connection: sqlite3.Connection, rows: Iterable[tuple[int, str]]) -> None:
        """Index messages by id, within the caller's transaction; each id once."""
        texts = dict(rows)
        self.put(connection, list(texts), index_forms(texts.values()))

    def put(self, connection: sqlite3.Connection, ids: Sequence[int], forms: Forms) -> None:
        """Index messages whose forms were made before, within the caller's transaction."""
        if connection is not self._connection:
            # Another connection may be another file under the same name.
            self.forget()
            self._connection = connection
        spoken = [(id_, form) for id_, form in zip(ids, forms.folded, strict=True) if form]
        # Not `-=`, which would walk through all that is known.
        fresh = forms.words - self._known
        connection.executemany("INSERT INTO message_words(rowid, text) VALUES (?, ?)", spoken)
        merge_some(connection, spoken)
        add_spellings(connection, spellings_among(fresh))
        if len(self._known) + len(fresh) > _MOST_KNOWN:
            self._known.clear()
        self._known |= fresh

    def remove(self, connection: sqlite3.Connection, rows: Iterable[tuple[int, str]]) -> None:
        """Take messages out of the index, with the very text that they were indexed with.

        Their spellings stay: other messages may have them, and a spelling that no message has
        finds nothing.
        """
        folded = [(id_, fold(text)) for id_, text in rows if text]
        connection.executemany(
            "INSERT INTO message_words(message_words, rowid, text) VALUES ('delete', ?, ?)", folded
        )
        merge_some(connection, folded)

    def rebuild(self, connection: sqlite3.Connection, rows: Iterable[tuple[int, str]]) -> int:
        """Index everything anew from the log and return how many messages that were."""
        connection.execute("INSERT INTO message_words(message_words) VALUES ('delete-all')")
        clear_spellings(connection)
        self.forget()
        count = 0
        batch: list[tuple[int, str]] = []
        for row in rows:
            batch.append(row)
            count += 1
            if len(batch) >= _BATCH:
                self.add(connection, batch)
                batch.clear()
        self.add(connection, batch)
        return count

    def forget(self) -> None:
        """Drop what is remembered, because a transaction that wrote words was rolled back."""
        self._known.clear()


_BATCH = 500
"""Messages that are held in memory at once while the index is rebuilt."""
