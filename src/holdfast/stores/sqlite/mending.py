"""Mending what a check finds, inside the file: nothing is deleted, what is unreadable is set aside.

What is set aside stands in the table `set_aside`, as it was found, with the place it came from.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged
from holdfast.session import UNDATED, merge_spans, session_id, unpack
from holdfast.stores.sqlite.checkup import EXPECTED_SIZE, blob_problem, row_problem
from holdfast.stores.sqlite.index import INDEX_TABLES, WordIndex, build_index
from holdfast.stores.sqlite.log import put_message_blobs
from holdfast.stores.sqlite.purging import finish_purges
from holdfast.stores.sqlite.rows import ROLES, Row, fetcher, stored_whole, text_from, whole_from
from holdfast.stores.sqlite.schema import SOUND, TEXTS
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator


_LOST = "[holdfast: this content was damaged in the store and could not be read]"
_CREATED = re.compile(r"CREATE (?:VIRTUAL )?TABLE (\w+)")
_SET_ASIDE = """
    CREATE TABLE IF NOT EXISTS set_aside (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        place TEXT NOT NULL,
        content
    )
"""


def mend(connection: sqlite3.Connection, index: WordIndex) -> Iterator[str]:
    """Mend the tables and build the index anew; says what was done."""
    connection.execute("PRAGMA defer_foreign_keys = ON")
    for part in (_blobs, _rows, _texts, _sessions, _bodies, _views, _links, _sizes, finish_purges):
        yield from part(connection)
    for statement in INDEX_TABLES:
        name = _CREATED.search(statement)
        if name:
            connection.execute(f"DROP TABLE IF EXISTS {name[1]}")
        connection.execute(statement)
    count = build_index(connection, index)
    yield f"built the index anew from {count} messages"


def set_aside(connection: sqlite3.Connection, place: str, content: object) -> None:
    """Keep something that cannot stay where it is."""
    connection.execute(_SET_ASIDE)
    connection.execute("INSERT INTO set_aside (place, content) VALUES (?, ?)", (place, content))


def _blobs(connection: sqlite3.Connection) -> Iterator[str]:
    damaged = [
        digest
        for digest, body in connection.execute("SELECT hash, body FROM blobs")
        if blob_problem(digest, body)
    ]
    for digest in damaged:
        (body,) = connection.execute("SELECT body FROM blobs WHERE hash = ?", (digest,)).fetchone()
        set_aside(connection, f"blobs {digest.hex()}", body)
        connection.execute("DELETE FROM blobs WHERE hash = ?", (digest,))
    if damaged:
        yield f"set aside {len(damaged)} contents that are not what was written"


def _rows(connection: sqlite3.Connection) -> Iterator[str]:
    """Give columns that hold no value of theirs the value that says least."""
    for table, columns in SOUND.items():
        for column, (test, otherwise) in columns.items():
            damaged = connection.execute(
                f"SELECT rowid, {column} FROM {table} WHERE NOT ({test})"
            ).fetchall()
            for row, content in damaged:
                set_aside(connection, f"{table} {row} {column}", content)
                connection.execute(
                    f"UPDATE {table} SET {column} = {otherwise} WHERE rowid = ?", (row,)
                )
            if damaged:
                yield f"mended the {column} of {len(damaged)} rows of {table}"


def _texts(connection: sqlite3.Connection) -> Iterator[str]:
    """Keep what can be read of texts that are none any more."""
    for table, columns in TEXTS.items():
        for column in columns:
            found = connection.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
            damaged = [(row, text) for row, text in found if not _is_text(text)]
            for row, text in damaged:
                set_aside(connection, f"{table} {row} {column}", text)
                readable = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
                connection.execute(
                    f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", (readable, row)
                )
            if damaged:
                yield f"mended the {column} of {len(damaged)} rows of {table}"


def _is_text(stored: object) -> bool:
    if not isinstance(stored, str | bytes):
        return False
    try:
        text_from(stored)
    except UnicodeDecodeError:
        return False
    return True


def _sessions(connection: sqlite3.Connection) -> Iterator[str]:
    """Give messages and views whose session is lost a session again."""
    lost = connection.execute(
        """
        SELECT session, min(at) FROM (
            SELECT session, at FROM messages UNION ALL SELECT session, at FROM views
        ) WHERE session NOT IN (SELECT key FROM sessions) GROUP BY session
        """
    ).fetchall()
    for key, at in lost:
        known = time.gmtime(at // 1000 % 2**35) if at > 0 else None
        moment = time.strftime("%Y%m%d_%H%M%S", known) if known else UNDATED
        id_ = session_id(moment, key)
        # What it showed last is not known; its newest view is the likeliest.
        connection.execute(
            """
            INSERT INTO sessions (key, id, root, title, source, started, touched, view, tip)
            SELECT ?1, ?2, ?1, 'Recovered', 'recovered', ?3,
                coalesce((SELECT max(at) FROM messages WHERE session = ?1), ?3), newest, newest
            FROM (SELECT max(id) AS newest FROM views WHERE session = ?1)
            """,
            (key, id_, at),
        )
        yield f"made session {id_} for messages whose own was lost"
    for column, otherwise in (("root", "key"), ("parent", "NULL")):
        count = connection.execute(
            f"""
            UPDATE sessions SET {column} = {otherwise}
            WHERE {column} NOTNULL AND {column} NOT IN (SELECT key FROM sessions)
            """
        ).rowcount
        if count:
            yield f"cut {count} sessions loose from a {column} that is lost"


def _bodies(connection: sqlite3.Connection) -> Iterator[str]:
    fetch = fetcher(connection, is_remembering=False)

    def fetch_or_lost(digest: bytes) -> bytes:
        try:
            return fetch(digest)
        except StoreDamaged:
            return stored_whole(_LOST)[1:]

    damaged = [
        id_
        for id_, role, body, whole in connection.execute(
            "SELECT id, role, body, whole FROM messages"
        )
        if row_problem(role, body, whole, fetch)
    ]
    for id_ in damaged:
        row = connection.execute(
            "SELECT role, body, whole FROM messages WHERE id = ?", (id_,)
        ).fetchone()
        _mend_body(connection, id_, row, fetch_or_lost)
    if damaged:
        yield f"mended {len(damaged)} messages; what they were is set aside"


def _mend_body(
    connection: sqlite3.Connection, id_: int, row: Row, fetch: Callable[[bytes], bytes]
) -> None:
    number, body, whole = row
    role = number if number in range(len(ROLES)) else ROLES.index(Role.USER)
    set_aside(connection, f"messages {id_} role {number}", body)
    mended = put_message_blobs(connection, _readable(ROLES[role], body, fetch))
    if whole is not None:
        set_aside(connection, f"messages {id_} whole", whole)
        found = whole_from(fetch(whole)) if isinstance(whole, bytes) else None
        message = _readable(ROLES[role], found, fetch)
        whole = put_message_blobs(connection, message, is_whole=True)
    connection.execute(
        "UPDATE messages SET role = ?, body = ?, whole = ? WHERE id = ?", (role, mended, whole, id_)
    )


def _readable(role: Role, body: object, fetch: Callable[[bytes], bytes]) -> Message:
    if isinstance(body, str | bytes):
        with suppress(StoreDamaged):
            return unpack(role, body, fetch)
    return Message(role, (Text(_LOST),), form="string")


def _views(connection: sqlite3.Connection) -> Iterator[str]:
    """Let views show what is there of what they showed."""
    for view, spans in connection.execute("SELECT id, spans FROM views ORDER BY id").fetchall():
        present: list[tuple[int, int, int]] = []
        for key, first, last in _spans(spans) or ():
            found = connection.execute(
                """
                SELECT session, position, position FROM messages
                WHERE session = ? AND position BETWEEN ? AND ? ORDER BY position
                """,
                (key, first, last),
            )
            present += merge_spans(found)
        written = json.dumps(present, separators=(",", ":"))
        if present != _spans(spans):
            set_aside(connection, f"views {view} spans", spans)
            connection.execute("UPDATE views SET spans = ? WHERE id = ?", (written, view))
            yield f"view {view} shows what is left of what it showed"


def _spans(text: object) -> list[tuple[int, int, int]] | None:
    try:
        return [(int(key), int(first), int(last)) for key, first, last in json.loads(str(text))]
    except (TypeError, ValueError):
        return None


def _links(connection: sqlite3.Connection) -> Iterator[str]:
    """Point to views that are there: of a lost one, to the session's newest, else the log."""
    for column in ("view", "tip"):
        count = connection.execute(
            f"""
            UPDATE sessions SET {column} = (SELECT max(id) FROM views WHERE session = key),
                generation = generation + 1
            WHERE {column} NOTNULL
                AND NOT EXISTS (SELECT 1 FROM views WHERE id = {column} AND session = key)
            """
        ).rowcount
        if count:
            yield f"pointed {count} sessions to another {column}, because theirs was lost"
    connection.execute("UPDATE views SET parent = NULL WHERE parent NOT IN (SELECT id FROM views)")
    connection.execute(
        "UPDATE compactions SET before = NULL WHERE before NOT IN (SELECT id FROM views)"
    )
    for table, test in _LOOSE.items():
        for row in connection.execute(f"SELECT * FROM {table} WHERE {test}").fetchall():
            set_aside(connection, table, json.dumps(row, default=repr))
        count = connection.execute(f"DELETE FROM {table} WHERE {test}").rowcount
        if count:
            yield f"set aside {count} rows of {table} that refer to what is lost"


_LOOSE = {
    "compactions": "after NOT IN (SELECT id FROM views)"
    " OR session NOT IN (SELECT key FROM sessions)",
    "pins": "message NOT IN (SELECT id FROM messages) OR session NOT IN (SELECT key FROM sessions)",
    "leases": "session NOT IN (SELECT key FROM sessions)",
    "caller_keys": "session NOT IN (SELECT key FROM sessions)",
}


def _sizes(connection: sqlite3.Connection) -> Iterator[str]:
    """Let sessions end where their messages do; those who remember more must read them anew."""
    connection.execute(
        f"""
        UPDATE views SET upto = {_NEWEST} WHERE upto > {_NEWEST}
            AND session IN (SELECT key FROM sessions WHERE purged IS NULL)
        """
    )
    count = connection.execute(
        f"UPDATE sessions SET size = {EXPECTED_SIZE}, generation = generation + 1"
        f" WHERE purged IS NULL AND size != {EXPECTED_SIZE}"
    ).rowcount
    if count:
        yield f"counted the messages of {count} sessions anew"


_NEWEST = """coalesce((
    SELECT max(0, max(position)) FROM messages WHERE messages.session = views.session
), 0)"""
"""The last position of a session's log that is there."""
