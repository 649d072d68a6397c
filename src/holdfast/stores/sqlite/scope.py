"""The filters of a search as conditions on the log.

Most filters are about sessions. Where few sessions pass, they are named one by one, and the index
is read only between their first and their last message. What was said in a session that is in the
trash is out of sight, but for what the window of a living fork shows of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.recall import Filters
from holdfast.recall.ladder import ROLES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

__all__ = ["Scope", "scope_of"]

_NAMED = 300
"""Sessions that are named one by one at most."""
_NEWEST = (1 << 63) - 1

_Clause: TypeAlias = tuple[str, Sequence[str | int]]


@dataclass(frozen=True, slots=True)
class Scope:
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

    def narrowed(self) -> Scope:
        """Return the same scope taken for narrow."""
        return replace(self, is_narrow=True, is_hopeful=False)


def scope_of(connection: sqlite3.Connection, filters: Filters) -> Scope:
    """Return the filters as conditions; what is derived is never found."""
    spans = [] if filters.include_trashed else _shown_of_trash(connection)
    about_sessions = [_in_sight(filters, spans), *_about_sessions(filters)]
    clauses = [*about_sessions, *_about_messages(filters, spans)]
    condition = " AND ".join(text for text, _ in clauses)
    values = tuple(value for _, bound in clauses for value in bound)
    if replace(filters, include_trashed=False, exclude_sources=()) == Filters():
        is_hopeful = bool(filters.exclude_sources)
        return Scope(condition, values, is_narrow=False, is_hopeful=is_hopeful)
    keys = _keys(connection, about_sessions)
    if len(keys) > _NAMED:
        return Scope(condition, values, is_narrow=True)
    first, last = _range(connection, keys)
    return Scope(condition, values, is_narrow=True, first=first, last=last)


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
            yield f"{column} IN ({_marks(wanted)})", wanted
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


def _keys(connection: sqlite3.Connection, clauses: Sequence[_Clause]) -> list[int]:
    """Return the sessions that pass, one more than can be named if there are more."""
    condition = " AND ".join(text for text, _ in clauses) or "1"
    rows = connection.execute(
        f"SELECT s.key FROM sessions AS s WHERE {condition} LIMIT ?",
        (*(value for _, bound in clauses for value in bound), _NAMED + 1),
    )
    return [key for (key,) in rows]


def _range(connection: sqlite3.Connection, keys: Sequence[int]) -> tuple[int, int]:
    """Return the ids of the first and the last message of sessions."""
    ends = "SELECT id FROM messages WHERE session = s.key ORDER BY position"
    first, last = connection.execute(
        f"SELECT min(({ends} LIMIT 1)), max(({ends} DESC LIMIT 1))"
        f" FROM sessions AS s WHERE s.key IN ({_marks(keys)})",
        tuple(keys),
    ).fetchone()
    return (first, last) if first is not None else (0, -1)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _pattern(source: str) -> str:
    """Return a source as a pattern: one that ends in a colon stands for all that begin with it."""
    literal = "".join(f"[{each}]" if each in "*?[" else each for each in source)
    return f"{literal}*" if source.endswith(":") else literal
