"""Every stored spelling in memory, as one text, in which a part of a word is found at once.

Reading the table from end to end takes 5 to 9 ms for 70,000 words, and nearly every search for
a name or an id needs it. The table is read once. After that the words of messages that are new
in the log are added, whoever wrote them, which costs the writers nothing. Words are never taken
out: one that no message has any more finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged
from holdfast.recall.forms import unknown_spellings
from holdfast.stores.sqlite.spelling_list import SEPARATOR, waiting_spellings, words_with

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Reading", "Vocabulary"]

_MOST_WORDS = 1_000_000
"""Words up to which they are held: some 12 MB, or 24 MB when one of them is not Latin."""
_MOST_NEW = 100
"""New messages whose words are added; with more, reading the table takes less time."""
_MOST_ADDED = 10_000
"""Words that are added before the table is read again: most of them are in the text already."""


@dataclass(frozen=True, slots=True)
class Reading:
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
        self, reading: Reading, parts: Sequence[str], most: int
    ) -> dict[str, list[str]] | None:
        """Return stored words that hold each part, or None when there are too many to hold.

        Args:
            reading: The store.
            parts: What to look for.
            most: Words for each part.
        """
        held = self._held
        if held is not None:
            held = _continued(reading, held)
        if held is None:
            held = _whole(reading)
        self._held = held
        return None if held is None else {part: words_with(held.text, part, most) for part in parts}


def _continued(reading: Reading, held: _Held) -> _Held | None:
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


def _whole(reading: Reading) -> _Held | None:
    count, newest = reading.connection.execute(
        "SELECT (SELECT count(*) FROM spellings), (SELECT max(id) FROM messages)"
    ).fetchone()
    if count > _MOST_WORDS:
        return None
    (joined,) = reading.connection.execute(
        "SELECT group_concat(word, ?) FROM spellings", (SEPARATOR,)
    ).fetchone()
    listed = f"{SEPARATOR}{joined}" if joined else ""
    return _Held(reading.file, newest or 0, listed + waiting_spellings(reading.connection))
