"""The tables, and the steps that bring an older file up to them.

Each step is a function in a list; the file's `user_version` says how many were taken. A step runs
in one transaction with the bump of the version, so that a crash leaves the old version or the
new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.session import Cause, EndReason, Fork
from holdfast.stores.sqlite.index import FIRST_TABLES, MERGING, WAITING_TABLES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from enum import StrEnum

APPLICATION_ID = 0x484F4C44
"""`HOLD`: tells our files from other programs' databases."""

_TABLES = (
    """
    CREATE TABLE meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE sessions (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        root INTEGER NOT NULL REFERENCES sessions(key),
        parent INTEGER REFERENCES sessions(key),
        fork TEXT,
        title TEXT NOT NULL DEFAULT '',
        source TEXT NOT NULL,
        model TEXT NOT NULL DEFAULT '',
        goal TEXT NOT NULL DEFAULT '',
        started INTEGER NOT NULL,
        touched INTEGER NOT NULL,
        ended INTEGER,
        end_reason TEXT,
        trashed INTEGER,
        purged INTEGER,
        size INTEGER NOT NULL DEFAULT 0,
        generation INTEGER NOT NULL DEFAULT 0,
        view INTEGER REFERENCES views(id),
        tip INTEGER REFERENCES views(id),
        calls INTEGER NOT NULL DEFAULT 0,
        input_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        cache_read_tokens INTEGER NOT NULL DEFAULT 0,
        cache_write_tokens INTEGER NOT NULL DEFAULT 0,
        cost REAL NOT NULL DEFAULT 0,
        metadata TEXT NOT NULL DEFAULT '{}'
    )
    """,
    "CREATE INDEX sessions_by_root ON sessions(root)",
    "CREATE INDEX sessions_by_touched ON sessions(touched)",
    """
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL REFERENCES sessions(key),
        position INTEGER NOT NULL,
        role INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        at INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        body NOT NULL,
        whole BLOB,
        stands_for INTEGER
    )
    """,
    "CREATE UNIQUE INDEX messages_by_position ON messages(session, position)",
    """
    CREATE TABLE blobs (
        hash BLOB PRIMARY KEY,
        size INTEGER NOT NULL,
        body BLOB NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE views (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL REFERENCES sessions(key),
        parent INTEGER REFERENCES views(id),
        cause TEXT NOT NULL,
        spans TEXT NOT NULL,
        upto INTEGER NOT NULL,
        at INTEGER NOT NULL
    )
    """,
    "CREATE INDEX views_by_session ON views(session)",
    """
    CREATE TABLE compactions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session INTEGER NOT NULL REFERENCES sessions(key),
        before INTEGER REFERENCES views(id),
        after INTEGER NOT NULL REFERENCES views(id),
        at INTEGER NOT NULL,
        trigger TEXT NOT NULL,
        strategy TEXT NOT NULL,
        focus TEXT NOT NULL,
        summary TEXT NOT NULL,
        report TEXT NOT NULL,
        duration_ms INTEGER NOT NULL,
        cost REAL NOT NULL,
        cache_cost REAL NOT NULL
    )
    """,
    "CREATE INDEX compactions_by_session ON compactions(session)",
    """
    CREATE TABLE pins (
        session INTEGER NOT NULL REFERENCES sessions(key),
        message INTEGER NOT NULL REFERENCES messages(id),
        PRIMARY KEY (session, message)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE leases (
        session INTEGER PRIMARY KEY REFERENCES sessions(key),
        holder TEXT NOT NULL,
        expires INTEGER NOT NULL
    )
    """,
)


def _create(connection: sqlite3.Connection) -> None:
    for statement in (*_TABLES, *FIRST_TABLES):
        connection.execute(statement)


def _index_references(connection: sqlite3.Connection) -> None:
    """Index what refers to other rows: without that, deleting one row reads whole tables."""
    for statement in (
        "CREATE INDEX sessions_by_parent ON sessions(parent)",
        "CREATE INDEX sessions_by_view ON sessions(view)",
        "CREATE INDEX sessions_by_tip ON sessions(tip)",
        "CREATE INDEX views_by_parent ON views(parent)",
        "CREATE INDEX compactions_by_before ON compactions(before)",
        "CREATE INDEX compactions_by_after ON compactions(after)",
        "CREATE INDEX pins_by_message ON pins(message)",
    ):
        connection.execute(statement)


def _let_words_wait(connection: sqlite3.Connection) -> None:
    """Give new words a table to wait in."""
    for statement in WAITING_TABLES:
        connection.execute(statement)


def _merge_ourselves(connection: sqlite3.Connection) -> None:
    """Leave the merging of the index to `merging`, which spreads it over many appends."""
    for statement in MERGING:
        connection.execute(statement)


def _give_sessions_keys(connection: sqlite3.Connection) -> None:
    """Let callers name conversations, in a table of its own: rows of sessions stay as they are."""
    connection.execute(
        """
        CREATE TABLE caller_keys (
            session INTEGER PRIMARY KEY REFERENCES sessions(key),
            name TEXT NOT NULL UNIQUE
        )
        """
    )


MIGRATIONS: Sequence[Callable[[sqlite3.Connection], None]] = (
    _create,
    _index_references,
    _let_words_wait,
    _merge_ourselves,
    _give_sessions_keys,
)
"""The steps in order; a step that was released never changes."""

VERSION = len(MIGRATIONS)


def _whole(column: str, otherwise: str = "0") -> tuple[str, str]:
    return f"typeof({column}) = 'integer'", otherwise


def _named(column: str, kind: type[StrEnum], otherwise: str = "NULL") -> tuple[str, str]:
    names = ", ".join(f"'{each.value}'" for each in kind)
    absent = f"{column} IS NULL OR " if otherwise == "NULL" else ""
    return f"{absent}{column} IN ({names})", otherwise


SOUND = {
    "sessions": {
        "fork": _named("fork", Fork),
        "end_reason": _named("end_reason", EndReason),
        "metadata": ("json_valid(metadata) AND json_type(metadata) = 'object'", "'{}'"),
        **{
            column: _whole(column)
            for column in (
                "started",
                "touched",
                "size",
                "generation",
                "calls",
                "input_tokens",
                "output_tokens",
                "cache_read_tokens",
                "cache_write_tokens",
            )
        },
        "ended": ("ended IS NULL OR typeof(ended) = 'integer'", "0"),
        "trashed": ("trashed IS NULL OR typeof(trashed) = 'integer'", "0"),
        "cost": ("typeof(cost) IN ('real', 'integer')", "0"),
    },
    "messages": {
        **{column: _whole(column) for column in ("session", "at", "tokens")},
        # Out of the way of positions that are taken, and still there to be looked up.
        "position": _whole("position", "-rowid"),
        "kind": ("kind IN (0, 1)", "0"),
    },
    "views": {
        "cause": _named("cause", Cause, "'compaction'"),
        **{column: _whole(column) for column in ("session", "upto", "at")},
    },
    "compactions": {"report": ("json_valid(report) AND json_type(report) = 'object'", "'{}'")},
}
"""What the columns must hold, and what takes the place of anything else."""

TEXTS = {
    "sessions": ("id", "source", "title", "model", "goal"),
    "compactions": ("trigger", "strategy", "focus", "summary"),
    "leases": ("holder",),
    "caller_keys": ("name",),
}
"""The columns that hold texts; bytes that are no text in them keep a row from being read."""
