"""Child sessions: what they show of their parent, and what becomes of it, in one step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.session import Cause
from holdfast.stores.sqlite.log import Batch, Place
from holdfast.stores.sqlite.rows import key_of, keys_of, live_key_of
from holdfast.stores.sqlite.sessions import insert_session, key_name, take_key
from holdfast.stores.sqlite.views import (
    Places,
    check_generation,
    insert_view,
    merged,
    said_after,
    show_change,
)

if TYPE_CHECKING:
    import sqlite3

    from holdfast.session import Spawn

__all__ = ["spawn_child"]


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
    late: list[list[int]] = []
    seen = spawn.seen if spawn.change is None else spawn.change.seen
    if seen is not None:
        parent_key = key_of(connection, spawn.child.parent or "")
        late = said_after(connection, parent_key, seen)
    spans = places.spans(spawn.shows)
    if late:
        spans = merged([*spans, *late])
    view: int | None = None
    if spans:
        reach = (0, spawn.child.started)
        view = insert_view(connection, key, (None, Cause.FORK), spans, reach)
        connection.execute("UPDATE sessions SET view = ?, tip = ? WHERE key = ?", (view, view, key))
    if spawn.change is not None and batch is not None:
        place = Place(spawn.child.id, key, 0)
        show_change(connection, place, (spawn.change, batch), late, view)
