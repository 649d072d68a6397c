"""The index of one search on SQLite: patterns in the language of FTS5, filters as conditions.

Matches are streamed from the newest on and counted off, so that a word that everybody says does
not make a search slow. Most filters are about sessions: where few pass, they are named one by
one, and the index is read only between their first and their last message. What was said in a
session that is in the trash is out of sight, but for what the window of a living fork shows of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.recall import All, Either, Filters, Node, Term, Without
from holdfast.recall.ladder import ROLES
from holdfast.recall.ranking import Candidate, stands
from holdfast.recall.term_index import shortest
from holdfast.stores.sqlite.index import waiting_spellings, words_with

if TYPE_CHECKING:
    import sqlite3


def expression(pattern: Node) -> str:
    """Return a whole pattern."""
    match pattern:
        case Term(words=words, is_prefix=is_prefix):
            return f'"{" ".join(words)}"' + (" *" if is_prefix else "")
        case All(parts):
            return f"({' AND '.join(map(expression, parts))})"
        case Either(parts):
            return f"({' OR '.join(map(expression, parts))})"
        case Without(wanted, unwanted):
            return f"({expression(wanted)} NOT {expression(unwanted)})"
        case _:
            assert_never(pattern)


_NAMED = 300
"""Sessions that are named one by one at most."""
_NEWEST = (1 << 63) - 1

_Clause: TypeAlias = tuple[str, Sequence[str | int]]


@dataclass(frozen=True, slots=True)
class SqlScope:
    """Conditions on `messages AS m` and `sessions AS s`, with the values they are bound to."""

    condition: str
    values: tuple[str | int, ...]
    is_narrow: bool
    """Whether so much may be left out that the newest matches may all be outside."""
    first: int = 0
    last: int = _NEWEST
    """The ids between which all messages of the scope stand; none when `last` is smaller."""
    is_hopeful: bool = False
    """Whether it is taken for wide although it may be narrow: some sources are left out, and most
    messages are of others."""

    def narrowed(self) -> SqlScope:
        """Return the same scope taken for narrow."""
        return replace(self, is_narrow=True, is_hopeful=False)


def scope_of(connection: sqlite3.Connection, filters: Filters) -> SqlScope:
    """Return the filters as conditions; what is derived is never found."""
    spans = [] if filters.include_trashed else _shown_of_trash(connection)
    about_sessions = [_in_sight(filters, spans), *_about_sessions(filters)]
    clauses = [*about_sessions, *_about_messages(filters, spans)]
    condition = " AND ".join(text for text, _ in clauses)
    values = tuple(value for _, bound in clauses for value in bound)
    if replace(filters, include_trashed=False, exclude_sources=()) == Filters():
        is_hopeful = bool(filters.exclude_sources)
        return SqlScope(condition, values, is_narrow=False, is_hopeful=is_hopeful)
    # One more than can be named, if there are more.
    rows = connection.execute(
        f"SELECT s.key FROM sessions AS s WHERE {' AND '.join(text for text, _ in about_sessions)}"
        " LIMIT ?",
        (*(value for _, bound in about_sessions for value in bound), _NAMED + 1),
    )
    keys = [key for (key,) in rows]
    if len(keys) > _NAMED:
        return SqlScope(condition, values, is_narrow=True)
    ends = "SELECT id FROM messages WHERE session = s.key ORDER BY position"
    first, last = connection.execute(
        f"SELECT min(({ends} LIMIT 1)), max(({ends} DESC LIMIT 1))"
        f" FROM sessions AS s WHERE s.key IN ({_marks(keys)})",
        tuple(keys),
    ).fetchone()
    if first is None:
        first, last = 0, -1
    return SqlScope(condition, values, is_narrow=True, first=first, last=last)


def _shown_of_trash(connection: sqlite3.Connection) -> list[list[int]]:
    """Return what living sessions show of trashed ones: key, first and last position."""
    # There are few forks, and an index lists their parents.
    roots = """
        SELECT p.root FROM (SELECT DISTINCT parent FROM sessions WHERE parent NOTNULL) AS f
        CROSS JOIN sessions AS p ON p.key = f.parent WHERE p.trashed NOTNULL AND p.purged ISNULL
    """
    rows = connection.execute(
        f"""
        SELECT s.key, s.trashed, v.spans FROM sessions AS s LEFT JOIN views AS v ON v.id = s.view
        WHERE s.root IN ({roots}) AND s.purged ISNULL
        """
    ).fetchall()
    trashed = {key for key, at, _ in rows if at is not None}
    shown = (written for _, at, written in rows if at is None and written is not None)
    return [span for written in shown for span in _spans(written) if span[0] in trashed]


def _spans(written: str) -> list[list[int]]:
    """Return the spans of a view; one that cannot be read shows nothing, as a check tells."""
    try:
        return [[int(key), int(first), int(last)] for key, first, last in json.loads(written)]
    except (TypeError, ValueError):
        return []


def _in_sight(filters: Filters, spans: Sequence[Sequence[int]]) -> _Clause:
    # A session that is being deleted is in the trash, and its words may still be in the index.
    if filters.include_trashed:
        return "s.purged IS NULL", ()
    if not spans:
        return "s.trashed IS NULL", ()
    # Written out, because there may be more than a statement takes values.
    keys = ", ".join(map(str, sorted({key for key, _, _ in spans})))
    return f"(s.trashed IS NULL OR s.key IN ({keys}))", ()


def _about_sessions(filters: Filters) -> Iterator[_Clause]:
    root = "(SELECT r.id FROM sessions AS r WHERE r.key = s.root)"
    for column, wanted in (
        ("s.id", filters.sessions),
        ("s.model", filters.models),
        (root, filters.lineages),
        (f"{root} NOT", filters.exclude_lineages),
    ):
        if wanted:
            # As one value, because there may be more than a statement takes.
            yield f"{column} IN (SELECT value FROM json_each(?))", (json.dumps(wanted),)
    for sources, negation in ((filters.sources, ""), (filters.exclude_sources, "NOT ")):
        if sources:
            either = " OR ".join("s.source GLOB ?" for _ in sources)
            yield f"{negation}({either})", [_pattern(source) for source in sources]
    if filters.since is not None:
        yield "s.touched >= ?", (filters.since,)
    if filters.until is not None:
        yield "s.started <= ?", (filters.until,)


def _about_messages(filters: Filters, spans: Sequence[Sequence[int]]) -> Iterator[_Clause]:
    yield "m.kind = 0", ()
    if spans:
        listed = ", ".join(f"({key}, {first}, {last})" for key, first, last in spans)
        shown = (
            f"SELECT 1 FROM (VALUES {listed}) WHERE m.session = column1"
            " AND m.position BETWEEN column2 AND column3"
        )
        yield f"(s.trashed IS NULL OR EXISTS ({shown}))", ()
    if filters.roles:
        yield (
            f"m.role IN ({_marks(filters.roles)})",
            [ROLES.index(role) for role in filters.roles],
        )
    if filters.since is not None:
        yield "m.at >= ?", (filters.since,)
    if filters.until is not None:
        yield "m.at <= ?", (filters.until,)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _pattern(source: str) -> str:
    """Return a source as a pattern: one that ends in a colon stands for all that begin with it."""
    literal = "".join(f"[{each}]" if each in "*?[" else each for each in source)
    return f"{literal}*" if source.endswith(":") else literal


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
        self, connection: sqlite3.Connection, scope: SqlScope, sources: LookupSources
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
