"""The rows of sessions: created, listed, amended, ended."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, SessionEnded
from holdfast.session import CLOSABLE, Usage
from holdfast.stores.sqlite.rows import (
    SELECT_SESSIONS,
    from_json,
    keys_of,
    session_from,
    session_of,
    text_from,
    to_json,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.ports import Amendment, Listing
    from holdfast.session import EndReason, Fork, Session

__all__ = [
    "NONE_USED",
    "Grown",
    "add_usage",
    "amend_session",
    "end_session",
    "give_key",
    "insert_session",
    "key_name",
    "list_sessions",
    "take_key",
]

NONE_USED = Usage()
"""What a message costs that no provider answered."""
_INSERT = """
    INSERT INTO sessions (key, id, root, parent, fork, title, source, model, goal, started,
        touched, ended, end_reason, trashed, size, calls, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, cost, metadata)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True)
class Grown:
    """What is written to a session as it is created."""

    size: int = 0
    """How many messages; the caller writes them."""
    latest: int = 0
    """When the newest of them was said."""
    usage: Usage = NONE_USED


_EMPTY = Grown()


def insert_session(
    connection: sqlite3.Connection,
    session: Session,
    ancestry: tuple[int, int] | None,
    goal: str | bytes,
    grown: Grown = _EMPTY,
) -> int:
    """Add a session and return its key.

    Args:
        connection: The one that writes.
        session: The session; its log begins empty whatever it says.
        ancestry: The keys of root and parent; None for a root.
        goal: What it is about unless it says so itself.
        grown: What is written to it in the same step.
    """
    (key,) = connection.execute("SELECT coalesce(max(key), 0) + 1 FROM sessions").fetchone()
    root, parent = (key, None) if ancestry is None else ancestry
    row = (
        key,
        to_text(session.id),
        root,
        parent,
        None if session.fork is None else session.fork.value,
        to_text(session.title),
        to_text(session.source),
        to_text(session.model),
        to_text(session.goal) or goal,
        session.started,
        max(session.started, session.touched, grown.latest),
        session.ended,
        None if session.end_reason is None else session.end_reason.value,
        session.trashed,
        grown.size,
        *_counts(session.usage + grown.usage),
        to_json(session.metadata),
    )
    try:
        connection.execute(_INSERT, row)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname != "SQLITE_CONSTRAINT_UNIQUE":
            raise
        raise Conflict(f"there is a session {session.id} already; choose another id") from error
    if session.key:
        give_key(connection, key, session.key)
    return key


def give_key(connection: sqlite3.Connection, key: int, name: str) -> None:
    """Give a session the key by which its caller finds it; `Conflict` when another has it.

    A session in the trash loses its key to whoever asks for it.
    """
    holder = connection.execute(
        """
        SELECT s.key, s.id, s.trashed FROM caller_keys AS k JOIN sessions AS s ON s.key = k.session
        WHERE k.name = ?
        """,
        (to_text(name),),
    ).fetchone()
    if holder is not None and holder[0] != key:
        if holder[2] is None:
            raise Conflict(f"session {holder[1]} has the key {name!r} already")
        take_key(connection, holder[0])
    connection.execute(
        "INSERT OR REPLACE INTO caller_keys (session, name) VALUES (?, ?)", (key, to_text(name))
    )


def take_key(connection: sqlite3.Connection, key: int) -> str | None:
    """Take the caller's key from a session, and return it."""
    name = key_name(connection, key)
    connection.execute("DELETE FROM caller_keys WHERE session = ?", (key,))
    return name


def key_name(connection: sqlite3.Connection, key: int) -> str | None:
    """Return the caller's key of a session."""
    row = connection.execute("SELECT name FROM caller_keys WHERE session = ?", (key,)).fetchone()
    return None if row is None else text_from(row[0])


def list_sessions(connection: sqlite3.Connection, wanted: Listing) -> tuple[Session, ...]:
    """Return the sessions that are wanted, the one touched last first."""
    conditions = list(_conditions(wanted))
    tests = "".join(f" AND {test}" for test, _ in conditions)
    values = [value for _, found in conditions for value in found]
    limit = -1 if wanted.limit is None else wanted.limit
    rows = connection.execute(
        f"{SELECT_SESSIONS}{tests} ORDER BY s.touched DESC, s.key DESC LIMIT ? OFFSET ?",
        (*values, limit, wanted.offset),
    )
    return tuple(session_from(row) for row in rows)


def _conditions(wanted: Listing) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield f"s.trashed IS {'NOT ' if wanted.trashed else ''}NULL", ()
    if wanted.sources:
        yield _from_sources(wanted.sources)
    if wanted.exclude_sources:
        test, values = _from_sources(wanted.exclude_sources)
        yield f"NOT {test}", values
    if wanted.since is not None:
        yield "s.touched >= ?", (wanted.since,)
    if wanted.until is not None:
        yield "s.touched <= ?", (wanted.until,)
    if wanted.title:
        yield "instr(casefold(s.title), ?)", (to_text(wanted.title.casefold()),)
    if wanted.live is not None:
        yield f"s.ended IS {'' if wanted.live else 'NOT '}NULL", ()


def _from_sources(sources: Sequence[str]) -> tuple[str, tuple[object, ...]]:
    """Return the test for sources; one that ends in a colon stands for all that begin so."""
    whole = tuple(to_text(source) for source in sources if not source.endswith(":"))
    begun = tuple(to_text(source) for source in sources if source.endswith(":"))
    tests = [*("s.source = ?" for _ in whole), *("instr(s.source, ?) = 1" for _ in begun)]
    return f"({' OR '.join(tests)})", (*whole, *begun)


def amend_session(connection: sqlite3.Connection, id_: str, amendment: Amendment) -> Session:
    """Change what may change about a session."""
    key, stored = keys_of(connection, id_, "key, metadata")
    if amendment.was is not None and from_json(stored) != amendment.was:
        raise Conflict(f"session {id_} was changed by somebody else; look at it again")
    texts = {"title": amendment.title, "goal": amendment.goal, "model": amendment.model}
    for column, text in texts.items():
        if text is not None:
            connection.execute(
                f"UPDATE sessions SET {column} = ? WHERE key = ?", (to_text(text), key)
            )
    if amendment.metadata is not None:
        changed = {**from_json(stored), **amendment.metadata}
        kept = {name: value for name, value in changed.items() if value is not None}
        connection.execute("UPDATE sessions SET metadata = ? WHERE key = ?", (to_json(kept), key))
    if amendment.key:
        give_key(connection, key, amendment.key)
    elif amendment.key is not None:
        take_key(connection, key)
    if amendment.usage is not None:
        add_usage(connection, key, amendment.usage)
    if amendment.parent is not None:
        _adopt(connection, id_, amendment.parent, amendment.fork)
    return session_of(connection, id_)


def _adopt(connection: sqlite3.Connection, id_: str, parent: str, fork: Fork | None) -> None:
    """Let a session that came from none have come from another, with all that came from it."""
    key, before, own_root = keys_of(connection, id_, "key, parent, root")
    parent_key, root = keys_of(connection, parent, "key, root")
    if before is not None or own_root != key:
        raise Conflict(f"session {id_} has come from another one already")
    if root == key:
        raise Conflict(f"session {parent} came from {id_}, so that cannot have come from it")
    connection.execute(
        "UPDATE sessions SET parent = ?, fork = ? WHERE key = ?",
        (parent_key, None if fork is None else fork.value, key),
    )
    connection.execute("UPDATE sessions SET root = ? WHERE root = ?", (root, key))


def end_session(
    connection: sqlite3.Connection, id_: str, reason: EndReason | None, at: int
) -> Session:
    """End a session, or reopen one whose end can be taken back.

    The first end stands: a session that was compacted away does not become one that was closed.
    """
    session = session_of(connection, id_)
    if reason is None and session.end_reason is not None and session.end_reason not in CLOSABLE:
        raise SessionEnded(
            f"session {id_} has ended ({session.end_reason}), and that cannot be taken back"
        )
    if (reason is None) != (session.ended is None):
        connection.execute(
            "UPDATE sessions SET ended = ?, end_reason = ? WHERE id = ?",
            (None if reason is None else at, reason and reason.value, to_text(id_)),
        )
    return session_of(connection, id_)


def add_usage(connection: sqlite3.Connection, key: int, usage: Usage) -> None:
    """Add what a provider reported to a session's totals."""
    connection.execute(
        """
        UPDATE sessions SET calls = calls + ?, input_tokens = input_tokens + ?,
            output_tokens = output_tokens + ?, cache_read_tokens = cache_read_tokens + ?,
            cache_write_tokens = cache_write_tokens + ?, cost = cost + ?
        WHERE key = ?
        """,
        (*_counts(usage), key),
    )


def _counts(usage: Usage) -> tuple[int | float, ...]:
    return (
        usage.calls,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cost,
    )
