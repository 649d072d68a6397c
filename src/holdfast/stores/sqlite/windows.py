"""Reading the log: windows through views, stretches, single entries."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged, UnknownSession
from holdfast.session import Entry, Head, Refreshed, Window, likely_hashes, searchable, unpack
from holdfast.stores.sqlite.rows import (
    KINDS,
    ROLES,
    MessageRow,
    fetcher,
    keys_of,
    names_of,
    pins_of,
    reading,
    state_of,
    whole_from,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping

    from holdfast.transcript import Message

COLUMNS = "id, session, position, role, kind, at, tokens, body, whole, stands_for"
"""The columns of a message, in the order that entries are made from."""

_BROKEN = (StoreDamaged, IndexError, KeyError, TypeError)
"""What reading a row that is not as it was written can raise."""
_AT_ONCE = 500
"""Messages that one statement reads; old builds of SQLite take up to 999 values."""
_SPAN = f"""
    SELECT {COLUMNS} FROM messages
    WHERE session = ? AND position BETWEEN ? AND ? ORDER BY position
"""
_SAID = f"""
    SELECT {COLUMNS} FROM messages
    WHERE session = ? AND position > ? AND kind = 0 ORDER BY position
"""
_SAID_BEFORE = f"""
    SELECT {COLUMNS} FROM messages
    WHERE session = ? AND position <= ? AND kind = 0 ORDER BY position DESC LIMIT ?
"""
_SAID_AFTER = f"{_SAID} LIMIT ?"


def head_of(connection: sqlite3.Connection, id_: str) -> Head:
    """Return where the session stands."""
    return Head(*keys_of(connection, id_, "generation, view, size"))


def window_through(
    connection: sqlite3.Connection, id_: str, view: int | None, *, is_current: bool
) -> Window:
    """Return what a view of the session shows now; None is the plain log.

    Args:
        connection: One that sees the store at one moment.
        id_: The session.
        view: The view, unless the current one is wanted.
        is_current: Whether the session's own view is wanted.
    """
    columns = "key, generation, view, size"
    key, generation, current, size = keys_of(connection, id_, columns)
    shown = current if is_current else view
    entries = _shown(connection, key, shown, pins_of(connection, key))
    return Window(Head(generation, current, size), entries)


def refreshed_window(connection: sqlite3.Connection, id_: str, known: Head | None) -> Refreshed:
    """Return the state of a session, and what its window shows beyond what a reader knows."""
    state, key = state_of(connection, id_)
    head = state.head
    if known is None or not known.leads_to(head):
        return Refreshed(state, _shown(connection, key, head.view, state.pins), is_whole=True)
    fresh: tuple[Entry, ...] = ()
    if known.size < head.size:
        rows = connection.execute(_SAID, (key, known.size))
        fresh = _entries(connection, rows, {key: id_}, state.pins)
    return Refreshed(state, fresh, is_whole=False)


def _shown(
    connection: sqlite3.Connection, key: int, view: int | None, pins: frozenset[int]
) -> tuple[Entry, ...]:
    spans, upto = stored_spans(connection, key, view)
    names = names_of(connection, [key, *(span[0] for span in spans)])
    rows: list[MessageRow] = []
    for span in spans:
        rows += connection.execute(_SPAN, span).fetchall()
    rows += connection.execute(_SAID, (key, upto)).fetchall()
    return _entries(connection, rows, names, pins)


def said_since(connection: sqlite3.Connection, id_: str, position: int) -> tuple[Entry, ...]:
    """Return what was said in the session itself after a position."""
    (key,) = keys_of(connection, id_, "key")
    rows = connection.execute(_SAID, (key, position))
    return _entries(connection, rows, {key: id_}, pins_of(connection, key))


def said_near(
    connection: sqlite3.Connection, id_: str, position: int, before: int, after: int
) -> tuple[Entry, ...]:
    """Return the messages said nearest to a position: some up to it, some behind it."""
    (key,) = keys_of(connection, id_, "key")
    rows = connection.execute(_SAID_BEFORE, (key, position, before)).fetchall()[::-1]
    rows += connection.execute(_SAID_AFTER, (key, position, after)).fetchall()
    return _entries(connection, rows, {key: id_}, pins_of(connection, key))


def count_of_said(connection: sqlite3.Connection, id_: str, upto: int) -> int:
    """Return how many messages were said in the session itself up to a position."""
    (key,) = keys_of(connection, id_, "key")
    (count,) = connection.execute(
        "SELECT count(*) FROM messages WHERE session = ? AND position <= ? AND kind = 0",
        (key, upto),
    ).fetchone()
    return count


def entries_between(
    connection: sqlite3.Connection, id_: str, first: int, last: int
) -> tuple[Entry, ...]:
    """Return a stretch of the log, derived entries included."""
    (key,) = keys_of(connection, id_, "key")
    rows = connection.execute(_SPAN, (key, first, last))
    return _entries(connection, rows, {key: id_}, pins_of(connection, key))


def entry_of(connection: sqlite3.Connection, message_id: int) -> Entry:
    """Return one entry."""
    row = _row_of(connection, message_id)
    names = names_of(connection, [row[1]])
    return _entries(connection, [row], names, pins_of(connection, row[1]))[0]


def whole_of(connection: sqlite3.Connection, message_id: int) -> Message:
    """Return a message as it was said; a stand-in leads to what it stands for."""
    return _whole(connection, _row_of(connection, message_id), fetcher(connection))


def texts_of(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, str]:
    """Return the words of messages that a search may find, by id."""
    wanted = list(ids)
    rows: dict[int, MessageRow] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        found = connection.execute(f"SELECT {COLUMNS} FROM messages WHERE id IN ({marks})", some)
        rows.update((row[0], row) for row in found)
    ahead = [digest for row in rows.values() for digest in likely_hashes(row[7])]
    fetch = fetcher(connection, ahead=ahead)
    return {
        id_: searchable(_whole(connection, rows.get(id_) or _row_of(connection, id_), fetch))
        for id_ in wanted
    }


def _whole(
    connection: sqlite3.Connection, row: MessageRow, fetch: Callable[[bytes], bytes]
) -> Message:
    # A stand-in is younger than what it stands for, so that this ends whatever the rows say.
    while row[8] is None and row[9] is not None and row[9] < row[0]:
        row = _row_of(connection, row[9])
    try:
        body = row[7] if row[8] is None else whole_from(fetch(row[8]))
        return unpack(ROLES[row[3]], body, fetch)
    except _BROKEN as error:
        raise _unreadable(row[0], error) from error


def stored_spans(
    connection: sqlite3.Connection, key: int, view: int | None
) -> tuple[list[list[int]], int]:
    """Return the spans of a session's view by keys, and the position it reaches to."""
    if view is None:
        return [], 0
    row = connection.execute(
        "SELECT spans, upto FROM views WHERE id = ? AND session = ?", (view, key)
    ).fetchone()
    if row is None:
        raise UnknownSession(f"the session has no view {view}")
    with reading(f"view {view}"):
        return [[key, first, last] for key, first, last in json.loads(row[0])], row[1]


def _row_of(connection: sqlite3.Connection, message_id: int) -> MessageRow:
    row: MessageRow | None = connection.execute(
        f"SELECT {COLUMNS} FROM messages WHERE id = ?", (message_id,)
    ).fetchone()
    if row is None:
        raise UnknownSession(f"there is no message {message_id}")
    return row


def _entries(
    connection: sqlite3.Connection,
    rows: Iterable[MessageRow],
    names: Mapping[int, str],
    pins: frozenset[int],
) -> tuple[Entry, ...]:
    rows = list(rows)
    # Most messages are their text, which refers to nothing.
    packed = [row[7] for row in rows if not isinstance(row[7], str)]
    ahead = [digest for body in packed for digest in likely_hashes(body)]
    fetch = fetcher(connection, ahead=ahead)
    entries: list[Entry] = []
    for id_, session, position, role, kind, at, tokens, body, whole, stands_for in rows:
        try:
            message = unpack(ROLES[role], body, fetch)
            name, written_as = names[session], KINDS[kind]
        except _BROKEN as error:
            raise _unreadable(id_, error) from error
        if id_ in pins:
            message = replace(message, pinned=True)
        entries.append(
            Entry(
                id=id_,
                session=name,
                position=position,
                kind=written_as,
                message=message,
                at=at,
                tokens=tokens,
                shortened=whole is not None,
                stands_for=stands_for,
            )
        )
    return tuple(entries)


def _unreadable(id_: int, error: Exception) -> StoreDamaged:
    return StoreDamaged(f"message {id_}: {error}; run `holdfast doctor --repair`")
