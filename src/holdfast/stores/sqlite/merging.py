"""Keeping the word index in few pieces, a little at a time.

Each transaction adds a piece to the index, and a search reads every piece, so pieces must be
merged. Left to itself, FTS5 does that within a commit, hundreds of pages in one go: among a million
messages that held up one batch of 200 in a hundred for 30 to 60 ms. Here some appends merge a few
pages each, which is the same work in all and at most 8 ms of any such batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

__all__ = ["MERGING", "merge_some"]

MERGING = (
    "INSERT INTO message_words(message_words, rank) VALUES ('automerge', 0)",
    "INSERT INTO message_words(message_words, rank) VALUES ('usermerge', 6)",
)
"""What came with a later version: FTS5 merges nothing by itself, and six pieces at a time.

With four, which is usual, appends in batches take 7 % longer, and a search 1 % less.
"""

_EVERY = 16
"""Messages from one merge to the next, counted by their ids: every process counts the same."""
_PAGES = 32
_CHARACTERS = 40_000
"""Text from which a merge takes as many pages again, so that large batches keep up."""
_MERGE = "INSERT INTO message_words(message_words, rank) VALUES ('merge', ?)"


def merge_some(connection: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
    """Merge some pages if it is time after rows of the index were written or taken out.

    Args:
        connection: The one that writes.
        rows: The messages by id, in order, with their texts.
    """
    if not rows or rows[0][0] // _EVERY == (rows[-1][0] + 1) // _EVERY:
        return
    characters = sum([len(text) for _, text in rows])
    # Where there is nothing to merge, this does nothing, whatever the number.
    connection.execute(_MERGE, (_PAGES * (1 + characters // _CHARACTERS),))
