"""What a session shows, from its beginning on: views are written, and the pointer to one swapped.

Child sessions, and writes to many sessions in one transaction, are the path of an import: a small
session that is created, written and amended alone takes three transactions, each of which costs
more than its messages.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from holdfast.errors import StoreError, UnknownSession
from holdfast.recall.folding import NO_FORMS
from holdfast.session import Cause, Draft, Entry, Head, Kind, Session, Spawn, merge_spans
from holdfast.session.sessions import check_generation, unknown_session
from holdfast.stores.sqlite.log import (
    Batch,
    LogPlace,
    grown_by,
    latest_of,
    pin_new,
    prepare,
    put,
    stored_spans,
    write,
)
from holdfast.stores.sqlite.rows import (
    Row,
    compaction_from,
    key_of,
    keys_of,
    live_key_of,
    names_of,
    put_blobs,
    reading,
    to_json,
    to_text,
    view_from,
)
from holdfast.stores.sqlite.sessions import NONE_USED, Grown, insert_session, key_name, take_key

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.session import Addition, Cause, Change, CompactionRecord, View
    from holdfast.stores.sqlite.log import Words


def prepare_change(change: Change) -> Batch:
    """Pack what a change derives, before anybody has to wait for it."""
    drafts = [piece for piece in change.pieces if isinstance(piece, Draft)]
    return prepare(drafts, Kind.DERIVED)


def apply_change(connection: sqlite3.Connection, id_: str, change: Change, batch: Batch) -> Head:
    """Give the session another window if nobody else did since it was read."""
    key, size, generation, view = live_key_of(connection, id_)
    check_generation(id_, generation, change.generation)
    late = said_after(connection, key, change.seen)
    place = LogPlace(id_, key, size)
    return show_change(connection, place, (change, batch), late, view)


def show_change(
    connection: sqlite3.Connection,
    place: LogPlace,
    change: tuple[Change, Batch],
    late: Sequence[tuple[int, int, int]],
    parent: int | None,
) -> Head:
    """Write what a change derives, its view and the record of the pass.

    `late` was said after the change was computed; `parent` is the view that shows now.
    """
    wanted, batch = change
    derived = iter(write(connection, place, batch, None))
    pieces = (piece if isinstance(piece, Entry) else next(derived) for piece in wanted.pieces)
    spans = Places(connection).spans(pieces)
    size = place.size + len(batch.drafts)
    view = insert_view(
        connection,
        place.key,
        (parent, wanted.cause),
        merge_spans([*spans, *late]),
        (size, wanted.at),
    )
    if wanted.compaction is not None:
        _insert_compaction(connection, place.key, wanted.compaction, (parent, view))
    connection.execute(
        """
        UPDATE sessions SET view = ?, tip = ?, size = ?, generation = generation + 1
        WHERE key = ?
        """,
        (view, view, size, place.key),
    )
    (generation,) = connection.execute(
        "SELECT generation FROM sessions WHERE key = ?", (place.key,)
    ).fetchone()
    return Head(generation, view, size)


def move_to(connection: sqlite3.Connection, id_: str, view: int | None, generation: int) -> Head:
    """Show another of the session's views, if nobody else changed what it shows."""
    key, size, current, _ = live_key_of(connection, id_)
    check_generation(id_, current, generation)
    stored_spans(connection, key, view)
    connection.execute(
        "UPDATE sessions SET view = ?, generation = generation + 1 WHERE key = ?", (view, key)
    )
    return Head(current + 1, view, size)


def said_after(
    connection: sqlite3.Connection, key: int, position: int
) -> list[tuple[int, int, int]]:
    """Return what was said in a session after a position, as spans by key."""
    rows = connection.execute(
        """
        SELECT session, position, position FROM messages
        WHERE session = ? AND position > ? AND kind = 0 ORDER BY position
        """,
        (key, position),
    )
    return merge_spans(rows)


def insert_view(
    connection: sqlite3.Connection,
    key: int,
    origin: tuple[int | None, Cause],
    spans: Sequence[Sequence[int]],
    reach: tuple[int, int],
) -> int:
    """Write a view and return its id.

    Args:
        connection: The one that writes.
        key: The session.
        origin: The view that shows now, and why there is another.
        spans: What it shows, by keys.
        reach: The position from which it shows the session's own log, and the time.
    """
    parent, cause = origin
    upto, at = reach
    written = msgspec.json.encode(spans).decode()
    cursor = connection.execute(
        "INSERT INTO views (session, parent, cause, spans, upto, at) VALUES (?, ?, ?, ?, ?, ?)",
        (key, parent, cause.value, written, upto, at),
    )
    return cursor.lastrowid or 0


def views_of(connection: sqlite3.Connection, id_: str) -> tuple[View, ...]:
    """Return every view of a session, oldest first."""
    rows: list[Row] = connection.execute(
        """
        SELECT id, session, parent, cause, spans, upto, at FROM views
        WHERE session = ? ORDER BY id
        """,
        (key_of(connection, id_),),
    ).fetchall()
    keys = {row[1] for row in rows}
    for row in rows:
        with reading(f"view {row[0]}"):
            keys |= {int(span[0]) for span in json.loads(row[4])}
    names = names_of(connection, keys)
    return tuple(view_from(row, names) for row in rows)


def compactions_of(connection: sqlite3.Connection, id_: str) -> tuple[CompactionRecord, ...]:
    """Return every pass over a session, oldest first."""
    rows = connection.execute(
        """
        SELECT id, before, after, at, trigger, strategy, focus, summary, report, duration_ms,
            cost, cache_cost
        FROM compactions WHERE session = ? ORDER BY id
        """,
        (key_of(connection, id_),),
    )
    return tuple(compaction_from(row, id_) for row in rows)


def count_of_compactions(connection: sqlite3.Connection, id_: str) -> int:
    """Return how many passes over a session there were."""
    (count,) = connection.execute(
        "SELECT count(*) FROM compactions WHERE session = ?", (key_of(connection, id_),)
    ).fetchone()
    return int(count)


class Places:
    """Where in the store entries stand, looked up once each within a transaction.

    An import writes many branches in one step, and each shows what those before it show.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._keys: dict[str, int] = {}
        self._there: set[tuple[int, int, int]] = set()

    def spans(self, pieces: Iterable[Entry]) -> list[tuple[int, int, int]]:
        """Return entries by reference; each must stand in the log that it names.

        What is kept of a purged session for others may be shown by them again.
        """
        keys = self._keys
        places: list[tuple[int, int, int]] = []
        for entry in pieces:
            session, position = entry.session, entry.position
            if session not in keys:
                row = self._connection.execute(
                    "SELECT key FROM sessions WHERE id = ?", (to_text(session),)
                ).fetchone()
                if row is None:
                    raise unknown_session(session)
                keys[session] = int(row[0])
            places.append((keys[session], position, position))
        spans = merge_spans(places)
        for key, first, last in set(spans) - self._there:
            (count,) = self._connection.execute(
                "SELECT count(*) FROM messages WHERE session = ? AND position BETWEEN ? AND ?",
                (key, first, last),
            ).fetchone()
            if count != last - first + 1:
                (name,) = (id_ for id_, known in self._keys.items() if known == key)
                raise UnknownSession(f"session {name} has no messages {first} to {last} to show")
            self._there.add((key, first, last))
        return spans


def _insert_compaction(
    connection: sqlite3.Connection,
    key: int,
    record: CompactionRecord,
    views: tuple[int | None, int],
) -> None:
    connection.execute(
        """
        INSERT INTO compactions (session, before, after, at, trigger, strategy, focus, summary,
            report, duration_ms, cost, cache_cost)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            key,
            *views,
            record.at,
            to_text(record.trigger),
            record.strategy,
            to_text(record.focus),
            to_text(record.summary),
            to_json(record.report),
            record.duration_ms,
            record.cost,
            record.cache_cost,
        ),
    )


def spawn_child(
    connection: sqlite3.Connection, spawn: Spawn, batch: Batch | None, places: Places
) -> None:
    """Create the child with its window, and end the parent if asked.

    A parent that is to end must be live: of two that rotate the same session, one wins.

    The batch is what a rotation derives.
    """
    parent = spawn.child.parent
    if parent is None:
        raise StoreError(f"session {spawn.child.id} has no parent to come from")
    if spawn.parent_end is not None:
        live_key_of(connection, parent)
    columns = "key, root, generation, goal"
    parent_key, root, generation, goal = keys_of(connection, parent, columns)
    if spawn.generation is not None:
        check_generation(parent, generation, spawn.generation)
    child = spawn.child
    if spawn.parent_end is not None and child.key in (None, key_name(connection, parent_key)):
        child = replace(child, key=take_key(connection, parent_key))
    key = insert_session(connection, child, (root, parent_key), goal)
    _show(connection, spawn, (key, batch), places)
    connection.execute(
        "INSERT INTO pins (session, message) SELECT ?, message FROM pins WHERE session = ?",
        (key, parent_key),
    )
    if spawn.parent_end is not None:
        connection.execute(
            "UPDATE sessions SET ended = ?, end_reason = ? WHERE key = ?",
            (spawn.child.started, spawn.parent_end.value, parent_key),
        )


def _show(
    connection: sqlite3.Connection, spawn: Spawn, made: tuple[int, Batch | None], places: Places
) -> None:
    """Write the child's first view, and a second one for what happens to its window at once."""
    key, batch = made
    late: list[tuple[int, int, int]] = []
    seen = spawn.seen if spawn.change is None else spawn.change.seen
    if seen is not None:
        parent_key = key_of(connection, spawn.child.parent or "")
        late = said_after(connection, parent_key, seen)
    spans = places.spans(spawn.shows)
    if late:
        spans = merge_spans([*spans, *late])
    view: int | None = None
    if spans:
        reach = (0, spawn.child.started)
        view = insert_view(connection, key, (None, Cause.FORK), spans, reach)
        connection.execute("UPDATE sessions SET view = ?, tip = ? WHERE key = ?", (view, view, key))
    if spawn.change is not None and batch is not None:
        place = LogPlace(spawn.child.id, key, 0)
        show_change(connection, place, (spawn.change, batch), late, view)


_NO_BLOBS: Mapping[bytes, tuple[int, bytes]] = {}


def add_all(
    connection: sqlite3.Connection, additions: Sequence[Addition], batch: Batch, index: Words
) -> None:
    """Create the sessions that are new, and write to all of them.

    A child comes behind its parent.
    """
    places = Places(connection)
    firsts: list[int] = []
    start = 0
    for addition in additions:
        end = start + len(addition.drafts)
        # The blobs and the words are those of all additions.
        drafts, said = batch.drafts[start:end], batch.said[start:end]
        part = Batch(batch.kind, drafts, said, _NO_BLOBS, NO_FORMS)
        start = end
        place = _place(connection, addition, part, places)
        if part.drafts:
            firsts.append(put(connection, place, part, None))
            pin_new(connection, place.key, firsts[-1], part)
    put_blobs(connection, batch.blobs)
    if firsts:
        # One transaction counts ids without a gap, so the index takes those of all at once.
        index.put(connection, range(firsts[0], firsts[0] + len(batch.drafts)), batch.forms)


def _place(
    connection: sqlite3.Connection, addition: Addition, batch: Batch, places: Places
) -> LogPlace:
    """Create the session unless it is there, and make it longer by the batch."""
    usage = addition.usage or NONE_USED
    match addition.to:
        case str(id_):
            pass
        case Spawn(child=child) as spawn:
            if spawn.change is not None:
                raise StoreError(f"session {child.id} is rotated into; that is a step of its own")
            spawn_child(connection, spawn, None, places)
            id_ = child.id
        case Session(id=id_) as session:
            if session.is_live and not addition.size:
                grown = Grown(len(batch.drafts), latest_of(batch), usage)
                return LogPlace(id_, insert_session(connection, session, None, "", grown), 0)
            # What follows says what is wrong with it.
            insert_session(connection, session, None, "")
    return grown_by(connection, id_, batch, usage, addition.size)
