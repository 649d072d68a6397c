"""Writing to the log: rows, blobs and words of one batch in one go.

Everything that takes time is done before the transaction begins, so that other writers wait for
the writing alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from holdfast.recall.folding import Forms, index_forms
from holdfast.session import Entry, Kind, Packer, names_itself, searchable, with_own_id
from holdfast.session.sessions import check_size
from holdfast.stores.sqlite.rows import ROLES, live_key_of, put_blobs, stored_whole, to_text
from holdfast.stores.sqlite.sessions import ADDED_USAGE, NONE_USED, add_usage, counts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from holdfast.session import Draft, Usage
    from holdfast.transcript import Message

NEWEST_ID = "SELECT seq FROM sqlite_sequence WHERE name = 'messages'"
"""Gives the newest id that any message had: nothing when there never was one."""
_INSERT = """
    INSERT INTO messages (id, session, position, role, kind, at, tokens, body, whole, stands_for)
    VALUES """
_ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_AT_ONCE = 50
"""Rows that one statement inserts: that takes two thirds of the time of one by one."""


class Words(Protocol):
    """Where the words of messages go."""

    def put(self, connection: sqlite3.Connection, ids: Sequence[int], forms: Forms) -> None:
        """Take what messages say, by their ids."""
        ...


Said: TypeAlias = tuple[int, int, int, int, str | bytes | None, bytes | None, int | None]
"""The columns of a message that do not depend on where it goes: role to `stands_for`."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Drafts made ready to be written."""

    kind: Kind
    drafts: Sequence[Draft]
    said: Sequence[Said]
    """Their rows; the body is None where the text waits for its own id."""
    blobs: Mapping[bytes, tuple[int, bytes]]
    """What the bodies refer to: size and squeezed content by hash."""
    forms: Forms
    """What a search may find of each; of nothing for derived messages."""


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where a batch goes."""

    id: str
    key: int
    size: int
    """The newest position that is taken."""
    newest: int | None = None
    """The newest id that any message of the store had, where it is known."""


def prepare(drafts: Sequence[Draft], kind: Kind) -> Batch:
    """Pack the drafts, and gather the words of those that a search should find."""
    packer, number = Packer(), int(kind)
    said: list[Said] = []
    texts: list[str] = []
    # One loop without functions inside: most batches are one message, and each step shows.
    for draft in drafts:
        message, whole, stands_for = draft.message, draft.whole, draft.stands_for
        body = None if names_itself(draft) else packer.pack(message)
        digest = None if whole is None else _packed_whole(whole, packer)
        role = ROLES.index(message.role)
        said.append((role, number, draft.at, draft.tokens, body, digest, stands_for))
        if kind is Kind.SAID:
            texts.append(searchable(whole or message))
    return Batch(kind, drafts, said, packer.blobs, index_forms(texts))


def write(
    connection: sqlite3.Connection, place: LogPlace, batch: Batch, index: Words | None
) -> tuple[Entry, ...]:
    """Add the rows of a batch and return them as entries.

    Args:
        connection: The one that writes.
        place: The session.
        batch: What `prepare` returned.
        index: Where the words go; None for derived messages.
    """
    if not batch.drafts:
        return ()
    first = put(connection, place, batch, index)
    return tuple(
        [
            Entry(
                id=first + offset,
                session=place.id,
                position=place.size + 1 + offset,
                kind=batch.kind,
                message=draft.message
                if said[4] is not None
                else with_own_id(draft.message, first + offset),
                at=draft.at,
                tokens=draft.tokens,
                shortened=draft.whole is not None,
                stands_for=draft.stands_for,
            )
            for offset, (draft, said) in enumerate(zip(batch.drafts, batch.said, strict=True))
        ]
    )


def put(connection: sqlite3.Connection, place: LogPlace, batch: Batch, index: Words | None) -> int:
    """Add the rows of a batch and return the id of the first.

    The caller's transaction moves the size of the session.
    """
    newest = place.newest
    if newest is None:
        (newest,) = connection.execute(f"SELECT ({NEWEST_ID})").fetchone()
    first = 1 + (newest or 0)
    key, position = place.key, place.size + 1
    rows: list[tuple[object, ...]] = [
        (first + offset, key, position + offset, *said) for offset, said in enumerate(batch.said)
    ]
    blobs = batch.blobs
    waiting = [offset for offset, said in enumerate(batch.said) if said[4] is None]
    if waiting:
        packer = Packer()
        for offset in waiting:
            *said, _, whole, stands_for = rows[offset]
            body = packer.pack(with_own_id(batch.drafts[offset].message, first + offset))
            rows[offset] = (*said, body, whole, stands_for)
        blobs = {**blobs, **packer.blobs}
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        marks = ", ".join([_ROW] * len(some))
        connection.execute(_INSERT + marks, [value for row in some for value in row])
    put_blobs(connection, blobs)
    if index is not None:
        index.put(connection, range(first, first + len(rows)), batch.forms)
    return first


def put_message_blobs(
    connection: sqlite3.Connection, message: Message, *, is_whole: bool = False
) -> str | bytes:
    """Store the blobs of one message and return its body, or the hash of it as a whole one."""
    packer = Packer()
    body = _packed_whole(message, packer) if is_whole else packer.pack(message)
    put_blobs(connection, packer.blobs)
    return body


def _packed_whole(message: Message, packer: Packer) -> bytes:
    """Add a whole message to the blobs, and return its hash."""
    return packer.keep(stored_whole(packer.pack(message)))


_FIND = f"""
    SELECT key, size, ({NEWEST_ID}) FROM sessions
    WHERE id = ? AND ended IS NULL AND trashed IS NULL AND purged IS NULL
"""
_GROW = "UPDATE sessions SET size = ?, touched = max(touched, ?) WHERE key = ?"
"""Two statements, because an update that returns something takes longer than both."""
_GROW_AND_ADD = (
    f"UPDATE sessions SET size = ?, touched = max(touched, ?), {ADDED_USAGE} WHERE key = ?"
)


def append_batch(
    connection: sqlite3.Connection, place: LogPlace, batch: Batch, index: Words
) -> tuple[Entry, ...]:
    """Write a batch where `grown_by` made room for it, its words to the index."""
    entries = write(connection, place, batch, index)
    pinned = pin_new(connection, place.key, entries[0].id, batch) if entries else ()
    if not pinned:
        return entries
    return tuple(
        replace(entry, message=replace(entry.message, pinned=True)) if entry.id in pinned else entry
        for entry in entries
    )


def grown_by(
    connection: sqlite3.Connection,
    id_: str,
    batch: Batch,
    usage: Usage = NONE_USED,
    size: int | None = None,
) -> LogPlace:
    """Make the session longer by the batch and return where the batch goes.

    Args:
        connection: The one that writes.
        id_: The session.
        batch: What will be written.
        usage: What the messages cost, added to the session's totals.
        size: How long the session must be for it.
    """
    row = connection.execute(_FIND, (to_text(id_),)).fetchone()
    if row is None:
        # It is not there, or nothing may be appended to it: this says which.
        row = (*live_key_of(connection, id_, "key, size"), None)
    key, held, newest = row
    place = LogPlace(id_, key, held, newest or 0)
    check_size(id_, place.size, size)
    grown = place.size + len(batch.drafts), latest_of(batch)
    if batch.drafts and usage != NONE_USED:
        connection.execute(_GROW_AND_ADD, (*grown, *counts(usage), key))
    elif batch.drafts:
        connection.execute(_GROW, (*grown, key))
    elif usage != NONE_USED:
        add_usage(connection, key, usage)
    return place


def latest_of(batch: Batch) -> int:
    """Return when the newest message of a batch was said."""
    return max([draft.at for draft in batch.drafts], default=0)


def pin_new(connection: sqlite3.Connection, key: int, first: int, batch: Batch) -> frozenset[int]:
    """Pin what is to be pinned from the beginning, and return its ids.

    Args:
        connection: The one that writes.
        key: Of the session.
        first: The id of the first message of the batch.
        batch: What was written.
    """
    chosen = [first + offset for offset, draft in enumerate(batch.drafts) if draft.pinned]
    if chosen:
        connection.executemany(
            "INSERT INTO pins (session, message) VALUES (?, ?)", [(key, each) for each in chosen]
        )
    return frozenset(chosen)
