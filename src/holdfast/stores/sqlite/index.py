"""The word index: which messages hold which words, kept in the same transaction as the log.

It holds no text. The table is contentless, with one row for each message that was said, and the
store gives the text again when a row must go. Ranking reads lengths from the log, so the index
does not keep them either. Beside it there is a list of each distinct word, in which a part of a
word is looked up: that costs a hundredth of an index over all parts of all texts.

New words wait in a table of their own, one row for each batch, until there are enough of them.
Stored at once, the few new words of a message would change as many pages anywhere in the list:
that was half of all pages that appends in batches wrote, and a third of those of single ones.

Each transaction adds a piece to the index, and a search reads every piece, so pieces must be
merged. Left to itself, FTS5 does that within a commit, hundreds of pages in one go: among a million
messages that held up one batch of 200 in a hundred for 30 to 60 ms. Here some appends merge a few
pages each, which is the same work in all and at most 8 ms of any such batch.

A message is taken out of the index with the text that it was put in with, so that the index must
have been written by the rules in force, or be built anew: the file says which form it has.

A process that searches holds the list of words in memory. Reading the table from end to end takes
5 to 9 ms for 70,000 words, and nearly every search for a name or an id needs it. After the first
time only the words of messages that are new in the log are added, whoever wrote them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdfast.errors import StoreDamaged
from holdfast.recall.folding import Forms, fold, index_forms, spellings_among, unknown_spellings
from holdfast.stores.sqlite.failures import is_damage
from holdfast.stores.sqlite.log import texts_of
from holdfast.stores.sqlite.purging import without_words

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
        # Move the words that wait to the list, in its order: neighbors share a page.
        words = sorted({*waiting_spellings(connection).split(SEPARATOR)} - {""})
        for start in range(0, len(words), _AT_ONCE):
            some = words[start : start + _AT_ONCE]
            marks = ", ".join(["(?)"] * len(some))
            connection.execute(f"INSERT OR IGNORE INTO spellings(word) VALUES {marks}", some)
        connection.execute("DELETE FROM spellings_waiting")


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

    Each word stands between two separators.
    """
    found: dict[str, None] = {}
    at = text.find(part)
    while at >= 0 and len(found) < most:
        end = text.index(SEPARATOR, at)
        found[text[text.rindex(SEPARATOR, 0, at) + 1 : end]] = None
        at = text.find(part, end)
    return list(found)


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
    """Merge some pages if it is time after rows of the index were written or taken out."""
    if not rows or rows[0][0] // _EVERY == (rows[-1][0] + 1) // _EVERY:
        return
    characters = sum([len(text) for _, text in rows])
    # Where there is nothing to merge, this does nothing, whatever the number.
    connection.execute(_MERGE, (_PAGES * (1 + characters // _CHARACTERS),))


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
    rows = connection.execute(
        """
        SELECT m.id FROM messages AS m JOIN sessions AS s ON s.key = m.session
        WHERE m.kind = 0 AND s.purged IS NULL ORDER BY m.id
        """
    )
    texts = (row for (id_,) in rows for row in texts_of(connection, [id_]).items())
    count = index.rebuild(connection, texts)
    connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (_NAME, str(FORM)))
    without_words(connection)
    return count


_MOST_WORDS = 1_000_000
"""Words up to which they are held: some 12 MB, or 24 MB when one of them is not Latin."""
_MOST_NEW = 100
"""New messages whose words are added; with more, reading the table takes less time."""
_MOST_ADDED = 10_000
"""Words that are added before the table is read again: most of them are in the text already."""


@dataclass(frozen=True, slots=True)
class IndexReading:
    """A store as it is at one moment."""

    connection: sqlite3.Connection
    file: object
    """Stands for what the connection has open; another value is another file."""
    texts_of: Callable[[Sequence[int]], Mapping[int, str]]
    """Gives the searchable text of messages by id."""


@dataclass(frozen=True, slots=True)
class _Held:
    """What was read from one file."""

    file: object
    newest: int
    """The last message whose words are in the text."""
    text: str
    """Each word between two separators."""
    added: frozenset[str] = frozenset()


class Vocabulary:
    """Holds the spellings of one store, for any number of threads.

    What is held is replaced as a whole and never changed, so that nobody waits for anybody.
    """

    def __init__(self) -> None:
        self._held: _Held | None = None

    def holding(
        self, reading: IndexReading, parts: Sequence[str], most: int
    ) -> dict[str, list[str]] | None:
        """Return stored words that hold each part, or None when there are too many to hold."""
        held = self._held
        if held is not None:
            held = _continued(reading, held)
        if held is None:
            count, newest = reading.connection.execute(
                "SELECT (SELECT count(*) FROM spellings), (SELECT max(id) FROM messages)"
            ).fetchone()
            if count > _MOST_WORDS:
                held = None
            else:
                (joined,) = reading.connection.execute(
                    "SELECT group_concat(word, ?) FROM spellings", (SEPARATOR,)
                ).fetchone()
                listed = f"{SEPARATOR}{joined}" if joined else ""
                held = _Held(
                    reading.file, newest or 0, listed + waiting_spellings(reading.connection)
                )
        self._held = held
        return None if held is None else {part: words_with(held.text, part, most) for part in parts}


def _continued(reading: IndexReading, held: _Held) -> _Held | None:
    """Add what is new, or return None when all must be read again."""
    if held.file is not reading.file:
        return None
    rows = reading.connection.execute(
        "SELECT id FROM messages WHERE id > ? AND kind = 0 ORDER BY id LIMIT ?",
        (held.newest, _MOST_NEW + 1),
    )
    ids = [id_ for (id_,) in rows]
    if not ids:
        return held
    if len(ids) > _MOST_NEW:
        return None
    try:
        texts = list(reading.texts_of(ids).values())
    except StoreDamaged:
        return None
    fresh = unknown_spellings(texts, held.added)
    added = held.added | fresh
    if len(added) > _MOST_ADDED:
        return None
    text = SEPARATOR.join([held.text[:-1], *sorted(fresh), ""])
    return _Held(held.file, ids[-1], text, added)
