"""Writing to many sessions in one transaction: the path of an import.

A small session that is created, written and amended alone takes three transactions, each of which
costs more than its messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.appending import NONE_USED, append_batch, grown_by
from holdfast.adapters.sqlite.log import Batch
from holdfast.adapters.sqlite.sessions import insert_session
from holdfast.adapters.sqlite.spawning import spawn_child
from holdfast.errors import StoreError
from holdfast.session import Session, Spawn

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.adapters.sqlite.log import Words
    from holdfast.session import Addition

__all__ = ["add_all"]


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
    gathered = _Gathered()
    for addition, part in zip(additions, _divided(additions, batch), strict=True):
        id_ = _there(connection, addition.to)
        place = grown_by(connection, id_, part, addition.size)
        append_batch(connection, place, part, addition.usage or NONE_USED, gathered)
    index.add(connection, gathered.rows)


class _Gathered:
    """Words that wait, so that the index takes those of many sessions at once."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, str]] = []

    def add(self, connection: sqlite3.Connection, rows: Iterable[tuple[int, str]]) -> None:
        """Let words wait; the connection is the one that will write them."""
        del connection
        self.rows += rows


def _there(connection: sqlite3.Connection, to: str | Session | Spawn) -> str:
    """Create the session unless it is there, and return its id."""
    match to:
        case str():
            return to
        case Spawn(child=child):
            if to.change is not None:
                raise StoreError(f"session {child.id} is rotated into; that is a step of its own")
            spawn_child(connection, to, None)
            return child.id
        case Session():
            insert_session(connection, to, None, "")
            return to.id


def _divided(additions: Sequence[Addition], batch: Batch) -> Iterator[Batch]:
    """Return the part of each addition; the first brings the blobs of all."""
    start, blobs = 0, dict(batch.blobs)
    for addition in additions:
        end = start + len(addition.drafts)
        yield Batch(
            batch.drafts[start:end],
            batch.bodies[start:end],
            batch.wholes[start:end],
            blobs,
            batch.texts[start:end],
        )
        start, blobs = end, {}
