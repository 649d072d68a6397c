"""The rows of sessions and what hangs on them: keys, pins, leases, the trash, small values."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.ports import Amendment, Lease, Listing
from holdfast.session import EndReason, Session, Usage
from holdfast.session.sessions import amended_metadata, check_adoption, ended, id_taken, key_taken
from holdfast.stores.sqlite.rows import (
    SELECT_SESSIONS,
    from_json,
    key_of,
    keys_of,
    session_from,
    session_of,
    text_from,
    to_json,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


NONE_USED = Usage()
ADDED_USAGE = """
    calls = calls + ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
    cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?,
    cost = cost + ?
"""
"""Adds usage to a row of `sessions`; `counts` has the values."""
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
        *counts(session.usage + grown.usage),
        to_json(session.metadata),
    )
    try:
        connection.execute(_INSERT, row)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname != "SQLITE_CONSTRAINT_UNIQUE":
            raise
        raise id_taken(session.id) from error
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
            raise key_taken(name, holder[1])
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
    conditions: list[tuple[str, tuple[object, ...]]] = [
        (f"s.trashed IS {'NOT ' if wanted.trashed else ''}NULL", ())
    ]
    if wanted.sources:
        conditions.append(_from_sources(wanted.sources))
    if wanted.exclude_sources:
        test, values = _from_sources(wanted.exclude_sources)
        conditions.append((f"NOT {test}", values))
    if wanted.since is not None:
        conditions.append(("s.touched >= ?", (wanted.since,)))
    if wanted.until is not None:
        conditions.append(("s.touched <= ?", (wanted.until,)))
    if wanted.title:
        conditions.append(("instr(casefold(s.title), ?)", (to_text(wanted.title.casefold()),)))
    if wanted.live is not None:
        conditions.append((f"s.ended IS {'' if wanted.live else 'NOT '}NULL", ()))
    tests = "".join(f" AND {test}" for test, _ in conditions)
    values = [value for _, found in conditions for value in found]
    limit = -1 if wanted.limit is None else wanted.limit
    rows = connection.execute(
        f"{SELECT_SESSIONS}{tests} ORDER BY s.touched DESC, s.key DESC LIMIT ? OFFSET ?",
        (*values, limit, wanted.offset),
    )
    return tuple(session_from(row) for row in rows)


def _from_sources(sources: Sequence[str]) -> tuple[str, tuple[object, ...]]:
    """Return the test for sources; one that ends in a colon stands for all that begin so."""
    whole = tuple(to_text(source) for source in sources if not source.endswith(":"))
    begun = tuple(to_text(source) for source in sources if source.endswith(":"))
    tests = [*("s.source = ?" for _ in whole), *("instr(s.source, ?) = 1" for _ in begun)]
    return f"({' OR '.join(tests)})", (*whole, *begun)


def amend_session(connection: sqlite3.Connection, id_: str, amendment: Amendment) -> Session:
    """Change what may change about a session."""
    key, stored = keys_of(connection, id_, "key, metadata")
    metadata = amended_metadata(id_, from_json(stored), amendment.metadata or {}, amendment.was)
    texts = {"title": amendment.title, "goal": amendment.goal, "model": amendment.model}
    for column, text in texts.items():
        if text is not None:
            connection.execute(
                f"UPDATE sessions SET {column} = ? WHERE key = ?", (to_text(text), key)
            )
    if amendment.metadata is not None:
        connection.execute(
            "UPDATE sessions SET metadata = ? WHERE key = ?", (to_json(metadata), key)
        )
    if amendment.key:
        give_key(connection, key, amendment.key)
    elif amendment.key is not None:
        take_key(connection, key)
    if amendment.usage is not None:
        add_usage(connection, key, amendment.usage)
    if amendment.parent is not None:
        # Let a session that came from none have come from another, with all that came from it.
        check_adoption(session_of(connection, id_), session_of(connection, amendment.parent))
        (key,) = keys_of(connection, id_, "key")
        parent_key, root = keys_of(connection, amendment.parent, "key, root")
        connection.execute(
            "UPDATE sessions SET parent = ?, fork = ? WHERE key = ?",
            (parent_key, None if amendment.fork is None else amendment.fork.value, key),
        )
        connection.execute("UPDATE sessions SET root = ? WHERE root = ?", (root, key))
    return session_of(connection, id_)


def end_session(
    connection: sqlite3.Connection, id_: str, reason: EndReason | None, at: int
) -> Session:
    """End a session, or reopen one whose end can be taken back."""
    before = session_of(connection, id_)
    after = ended(before, reason, at)
    if after is not before:
        connection.execute(
            "UPDATE sessions SET ended = ?, end_reason = ? WHERE id = ?",
            (after.ended, reason and reason.value, to_text(id_)),
        )
    return after


def add_usage(connection: sqlite3.Connection, key: int, usage: Usage) -> None:
    """Add what a provider reported to a session's totals."""
    connection.execute(f"UPDATE sessions SET {ADDED_USAGE} WHERE key = ?", (*counts(usage), key))


def counts(usage: Usage) -> tuple[int | float, ...]:
    """Return what `ADDED_USAGE` adds, in its order."""
    return (
        usage.calls,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cost,
    )


def set_pin(connection: sqlite3.Connection, id_: str, message_id: int, *, pinned: bool) -> None:
    """Pin a message in a session, or let go of it."""
    key = key_of(connection, id_)
    if not pinned:
        connection.execute("DELETE FROM pins WHERE session = ? AND message = ?", (key, message_id))
        return
    found = connection.execute("SELECT 1 FROM messages WHERE id = ?", (message_id,)).fetchone()
    if found is None:
        raise UnknownSession(f"there is no message {message_id} to pin")
    connection.execute(
        "INSERT OR IGNORE INTO pins (session, message) VALUES (?, ?)", (key, message_id)
    )


def remember_value(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Keep a value under a name, in place of an earlier one."""
    connection.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (to_text(name), to_text(value))
    )


def remembered_value(connection: sqlite3.Connection, name: str) -> str | None:
    """Return the value under a name."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (to_text(name),)).fetchone()
    return None if row is None else text_from(row[0])


def acquire_lease(connection: sqlite3.Connection, lease: Lease, now: int) -> Lease:
    """Take a lease that is free, expired or one's own; another's is returned as it is."""
    key = key_of(connection, lease.session)
    connection.execute(
        """
        INSERT INTO leases (session, holder, expires) VALUES (?, ?, ?)
        ON CONFLICT (session) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
        WHERE leases.holder = excluded.holder OR leases.expires <= ?
        """,
        (key, to_text(lease.holder), lease.expires, now),
    )
    holder, expires = connection.execute(
        "SELECT holder, expires FROM leases WHERE session = ?", (key,)
    ).fetchone()
    return Lease(lease.session, text_from(holder), expires)


def release_lease(connection: sqlite3.Connection, lease: Lease) -> None:
    """Give back a lease if it is still one's own."""
    connection.execute(
        "DELETE FROM leases WHERE session = ? AND holder = ?",
        (key_of(connection, lease.session), to_text(lease.holder)),
    )


def trash_sessions(
    connection: sqlite3.Connection, ids: Sequence[str], at: int, used_since: int | None
) -> int:
    """Put sessions into the trash; returns how many were not there yet.

    Conversations in which anything was said at `used_since` or later are left alone.
    """
    return sum(
        connection.execute(
            """
            UPDATE sessions SET trashed = ?1 WHERE key = ?2 AND trashed IS NULL
                AND (?3 IS NULL OR NOT EXISTS (
                    SELECT 1 FROM sessions AS other
                    WHERE other.root = sessions.root AND other.trashed IS NULL
                        AND other.touched >= ?3
                ))
            """,
            (at, key_of(connection, id_), used_since),
        ).rowcount
        for id_ in ids
    )


def restore_sessions(connection: sqlite3.Connection, ids: Sequence[str]) -> int:
    """Take sessions out of the trash; returns how many were in it."""
    return sum(
        connection.execute(
            "UPDATE sessions SET trashed = NULL WHERE key = ? AND trashed IS NOT NULL",
            (key_of(connection, id_),),
        ).rowcount
        for id_ in ids
    )
