"""Child sessions, and writes to many sessions in one transaction: the path of an import.

A small session that is created, written and amended alone takes three transactions, each of which
costs more than its messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.recall.folding import NO_FORMS
from holdfast.session import Cause, Session, Spawn, merge_spans
from holdfast.session.sessions import check_generation
from holdfast.stores.sqlite.log import Batch, LogPlace, grown_by, latest_of, pin_new, put
from holdfast.stores.sqlite.rows import key_of, keys_of, live_key_of, put_blobs
from holdfast.stores.sqlite.sessions import (
    NONE_USED,
    Grown,
    insert_session,
    key_name,
    take_key,
)
from holdfast.stores.sqlite.views import Places, insert_view, said_after, show_change

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.session import Addition
    from holdfast.stores.sqlite.log import Words


def spawn_child(
    connection: sqlite3.Connection, spawn: Spawn, batch: Batch | None, places: Places
) -> None:
    """Create the child with its window, and end the parent if asked.

    A parent that is to end must be live: of two that rotate the same session, one wins.

    Args:
        connection: The one that writes.
        spawn: The child.
        batch: What a rotation derives, made ready.
        places: What was looked up in the transaction so far.
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

    Args:
        connection: The one that writes.
        additions: What is to be added, in order; a child comes behind its parent.
        batch: The drafts of all of them, made ready.
        index: Where the words go.
    """
    places = Places(connection)
    firsts: list[int] = []
    for addition, part in zip(additions, _divided(additions, batch), strict=True):
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


def _divided(additions: Sequence[Addition], batch: Batch) -> Iterator[Batch]:
    """Return the part of each addition; the blobs and the words are those of all of them."""
    start = 0
    for addition in additions:
        end = start + len(addition.drafts)
        yield Batch(
            batch.kind,
            batch.drafts[start:end],
            batch.said[start:end],
            _NO_BLOBS,
            NO_FORMS,
        )
        start = end
