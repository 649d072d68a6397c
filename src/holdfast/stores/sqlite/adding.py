"""Writing to many sessions in one transaction: the path of an import.

A small session that is created, written and amended alone takes three transactions, each of which
costs more than its messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.recall.forms import NO_FORMS
from holdfast.session import Session, Spawn
from holdfast.stores.sqlite.appending import grown_by, latest_of, pin_new
from holdfast.stores.sqlite.blobs import put_blobs
from holdfast.stores.sqlite.log import Batch, Place, put
from holdfast.stores.sqlite.sessions import NONE_USED, Grown, add_usage, insert_session
from holdfast.stores.sqlite.spawning import spawn_child
from holdfast.stores.sqlite.views import Places

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.session import Addition
    from holdfast.stores.sqlite.log import Words

__all__ = ["add_all"]

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
) -> Place:
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
                return Place(id_, insert_session(connection, session, None, "", grown), 0)
            # What follows says what is wrong with it.
            insert_session(connection, session, None, "")
    place = grown_by(connection, id_, batch, addition.size)
    if usage is not NONE_USED:
        add_usage(connection, place.key, usage)
    return place


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
