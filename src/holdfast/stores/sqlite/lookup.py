"""What a search reads: rows of the index, places in the log, and stored spellings.

Matches are streamed from the newest on and counted off, so that a word that everybody says does
not make a search slow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from holdfast.recall.ranking import Candidate, stands
from holdfast.recall.term_index import shortest
from holdfast.stores.sqlite.expressions import expression
from holdfast.stores.sqlite.spelling_list import waiting_spellings, words_with

if TYPE_CHECKING:
    import sqlite3

    from holdfast.recall import Node
    from holdfast.stores.sqlite.scope import Scope

__all__ = ["MOST_HOLDING", "Lookup", "LookupSources"]

_COLUMNS = "m.id, m.session, m.position, m.role, m.at, m.tokens"
_MOST_MATCHES = 30_000
"""Matches of one word that are held against the scope for a loose match: some 40 ms."""
_MOST_SCANNED = 2_000_000
"""Spellings that are read for a part of a word when there are too many to hold in memory."""
_MOST_BEGINNING = 2_000
MOST_HOLDING = 400
"""Words with a part in them of which the shortest are taken."""


@dataclass(frozen=True, slots=True)
class LookupSources:
    """What a search reads that is not in the tables of words."""

    texts_of: Callable[[Sequence[int]], Mapping[int, str]]
    """Gives the searchable text of messages by id."""
    words_holding: Callable[[Sequence[str]], Mapping[str, list[str]] | None]
    """Gives stored words that hold each part, if they are held in memory."""


class Lookup:
    """Reads one store for one search, within its scope."""

    def __init__(
        self, connection: sqlite3.Connection, scope: Scope, sources: LookupSources
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._sources = sources
        self._holding: dict[str, list[str]] = {}

    def narrowed(self) -> Lookup | None:
        """Return a lookup that holds every match against the scope, if this one does not."""
        if not self._scope.is_hopeful:
            return None
        return Lookup(self._connection, self._scope.narrowed(), self._sources)

    def texts(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the searchable text of messages by id."""
        return self._sources.texts_of(ids)

    def total(self) -> int:
        """Return about how many messages there are."""
        (newest,) = self._connection.execute("SELECT max(id) FROM messages").fetchone()
        return newest or 0

    def newest(self, pattern: Node, count: int) -> list[Candidate]:
        """Return the newest matches within the scope, newest first.

        Every match is held against the scope until there are enough. A common word that is hardly
        ever in the scope takes long, and is found all the same.
        """
        rows = self._connection.execute(*self._matching(_COLUMNS, expression(pattern), count, -1))
        return [Candidate(*row) for row in rows]

    def ids(self, pattern: Node, count: int) -> list[int]:
        """Return the ids of the newest matches, newest first.

        They are looked up in the log only when the scope may leave out most of them.
        """
        written = expression(pattern)
        if self._scope.is_narrow:
            statement, values = self._matching("m.id", written, count, _MOST_MATCHES)
        else:
            statement = (
                "SELECT rowid AS id FROM message_words WHERE message_words MATCH ?"
                " ORDER BY rowid DESC LIMIT ?"
            )
            values = written, count
        # One text instead of a thousand rows: each row costs a change between C and Python.
        (listed,) = self._connection.execute(
            f"SELECT group_concat(id) FROM ({statement})", values
        ).fetchone()
        return sorted(map(int, listed.split(",")), reverse=True) if listed else []

    def _matching(
        self, columns: str, written: str, count: int, most: int
    ) -> tuple[str, tuple[str | int, ...]]:
        """Write what reads the newest matches within the scope, of the newest of all."""
        scope = self._scope
        statement = (
            f"SELECT {columns} FROM (SELECT rowid AS id FROM message_words"
            " WHERE message_words MATCH ? AND rowid BETWEEN ? AND ?"
            " ORDER BY rowid DESC LIMIT ?) AS f"
            " CROSS JOIN messages AS m ON m.id = f.id"
            " CROSS JOIN sessions AS s ON s.key = m.session"
            f" WHERE {scope.condition} LIMIT ?"
        )
        return statement, (written, scope.first, scope.last, most, *scope.values, count)

    def messages(self, ids: Sequence[int]) -> list[Candidate]:
        """Return the messages with these ids that are within the scope."""
        marks = ", ".join("?" * len(ids))
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM messages AS m"
            " CROSS JOIN sessions AS s ON s.key = m.session"
            f" WHERE m.id IN ({marks}) AND {self._scope.condition}",
            (*ids, *self._scope.values),
        )
        return [Candidate(*row) for row in rows]

    def standing_at(self, places: Sequence[int]) -> list[Candidate]:
        """Return the messages at these places that are within the scope."""
        if not places:
            return []
        marks = ", ".join(["(?, ?)"] * len(places))
        rows = self._connection.execute(
            f"WITH wanted(session, position) AS (VALUES {marks})"
            f" SELECT {_COLUMNS} FROM wanted AS w"
            " CROSS JOIN messages AS m ON m.session = w.session AND m.position = w.position"
            " CROSS JOIN sessions AS s ON s.key = m.session"
            f" WHERE {self._scope.condition}",
            (*(number for place in places for number in stands(place)), *self._scope.values),
        )
        return [Candidate(*row) for row in rows]

    def names(self, keys: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Return the ids of sessions and of their roots by the sessions' keys."""
        marks = ", ".join("?" * len(keys))
        rows = self._connection.execute(
            "SELECT s.key, s.id, r.id FROM sessions AS s JOIN sessions AS r ON r.key = s.root"
            f" WHERE s.key IN ({marks})",
            tuple(keys),
        )
        return {key: (id_, root) for key, id_, root in rows}

    def words_holding(self, parts: Sequence[str]) -> dict[str, list[str]]:
        """Return for each part of a word the stored words that hold it, the shortest first."""
        wanted = [part for part in dict.fromkeys(parts) if part not in self._holding]
        if wanted:
            found = self._sources.words_holding(wanted) or self._scanned(wanted)
            for part, words in found.items():
                self._holding[part] = shortest(words)
        return {part: self._holding[part] for part in parts}

    def _scanned(self, parts: Sequence[str]) -> dict[str, list[str]]:
        """Read the spellings from end to end: there are too many to hold in memory."""
        held = " OR ".join(["instr(word, ?) > 0"] * len(parts))
        rows = self._connection.execute(
            f"SELECT word FROM (SELECT word FROM spellings LIMIT ?) WHERE {held} LIMIT ?",
            (_MOST_SCANNED, *parts, MOST_HOLDING * len(parts)),
        )
        words = [word for (word,) in rows]
        return {
            part: [
                *(word for word in words if part in word),
                *words_with(self._waiting, part, MOST_HOLDING),
            ]
            for part in parts
        }

    def words_beginning(self, prefix: str) -> list[str]:
        """Return stored words that begin with a prefix."""
        rows = self._connection.execute(
            "SELECT word FROM spellings WHERE word >= ? AND word < ? LIMIT ?",
            (prefix, f"{prefix}\U0010ffff", _MOST_BEGINNING),
        )
        waiting = words_with(self._waiting, prefix, _MOST_BEGINNING)
        found = [*(word for (word,) in rows), *(w for w in waiting if w.startswith(prefix))]
        return list(dict.fromkeys(found))

    @cached_property
    def _waiting(self) -> str:
        return waiting_spellings(self._connection)
