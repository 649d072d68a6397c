"""The list of spellings: each distinct word of the log once, in which parts of words are looked up.

New words wait in a table of their own, one row for each batch, until there are enough of them.
Stored at once, the few new words of a message would change as many pages anywhere in the list:
that was half of all pages that appends in batches wrote, and a third of those of single ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

__all__ = [
    "LIST_TABLES",
    "SEPARATOR",
    "WAITING_TABLES",
    "add_spellings",
    "clear_spellings",
    "waiting_spellings",
    "words_with",
]

LIST_TABLES = ("CREATE TABLE spellings (word TEXT PRIMARY KEY) WITHOUT ROWID",)
WAITING_TABLES = ("CREATE TABLE spellings_waiting (upto INTEGER PRIMARY KEY, words TEXT NOT NULL)",)
"""What came with a later version. A row is numbered by how many words wait, with its own."""

SEPARATOR = "\n"
"""Stands between words; no word holds one."""
_MOST_WAITING = 8_000
"""Words that wait at most: listing them takes 13 ms, and a search reads them in 0.3 ms."""
_AT_ONCE = 400
"""Words that one statement stores: that takes half of the time of one by one."""
_WAIT = """
    INSERT INTO spellings_waiting (upto, words)
    VALUES ((SELECT coalesce(max(upto), 0) FROM spellings_waiting) + ?, ?)
"""
_WAITING = f"SELECT group_concat(words, '{SEPARATOR}') FROM spellings_waiting"


def add_spellings(connection: sqlite3.Connection, words: Collection[str]) -> None:
    """Store words within the caller's transaction; those that are there already do no harm.

    They are sorted, so that the same messages make the same file.
    """
    if not words:
        return
    upto = connection.execute(_WAIT, (len(words), SEPARATOR.join(sorted(words)))).lastrowid
    if upto is not None and upto >= _MOST_WAITING:
        _list_waiting(connection)


def clear_spellings(connection: sqlite3.Connection) -> None:
    """Take every word out."""
    connection.execute("DELETE FROM spellings")
    connection.execute("DELETE FROM spellings_waiting")


def waiting_spellings(connection: sqlite3.Connection) -> str:
    """Return the words that are not in the list yet, each between two separators."""
    (joined,) = connection.execute(_WAITING).fetchone()
    return f"{SEPARATOR}{joined}{SEPARATOR}" if joined else SEPARATOR


def words_with(text: str, part: str, most: int) -> list[str]:
    """Return the first distinct words of a text that hold a part.

    Args:
        text: Words, each between two separators.
        part: What to look for.
        most: Words that are enough.
    """
    found: dict[str, None] = {}
    at = text.find(part)
    while at >= 0 and len(found) < most:
        end = text.index(SEPARATOR, at)
        found[text[text.rindex(SEPARATOR, 0, at) + 1 : end]] = None
        at = text.find(part, end)
    return list(found)


def _list_waiting(connection: sqlite3.Connection) -> None:
    """Move the words that wait to the list, in its order: neighbors share a page."""
    words = sorted({*waiting_spellings(connection).split(SEPARATOR)} - {""})
    for start in range(0, len(words), _AT_ONCE):
        some = words[start : start + _AT_ONCE]
        marks = ", ".join(["(?)"] * len(some))
        connection.execute(f"INSERT OR IGNORE INTO spellings(word) VALUES {marks}", some)
    connection.execute("DELETE FROM spellings_waiting")
