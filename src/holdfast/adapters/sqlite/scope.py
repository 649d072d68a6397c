"""The filters of a search as conditions on the log.

Most filters are about sessions. Where few sessions pass, they are named one by one, and the index
is read only between their first and their last message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.recall import Filters
from holdfast.transcript import Role

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

__all__ = ["ROLES", "Scope", "scope_of"]

ROLES = (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)
"""The roles in the order of their numbers in the log."""

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


def scope_of(connection: sqlite3.Connection, filters: Filters) -> Scope:
    """Return the filters as conditions; what is derived is never found."""
    about_sessions = list(_about_sessions(filters))
    clauses = [*about_sessions, *_about_messages(filters)]
    condition = " AND ".join(text for text, _ in clauses)
    values = tuple(value for _, bound in clauses for value in bound)
    if filters in (Filters(), Filters(include_trashed=True)):
        return Scope(condition, values, is_narrow=False)
    keys = _keys(connection, about_sessions)
    if len(keys) > _NAMED:
        return Scope(condition, values, is_narrow=True)
    first, last = _range(connection, keys)
    return Scope(condition, values, is_narrow=True, first=first, last=last)


def _about_sessions(filters: Filters) -> Iterator[_Clause]:
    # A session that is being deleted is in the trash, and its words may still be in the index.
    yield f"s.{'purged' if filters.include_trashed else 'trashed'} IS NULL", ()
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


def _about_messages(filters: Filters) -> Iterator[_Clause]:
    yield "m.kind = 0", ()
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
