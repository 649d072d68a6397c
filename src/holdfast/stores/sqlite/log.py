"""The log: batches that are written to it; windows, stretches and entries that are read from it.

Everything that takes time is done before a writing transaction begins, so that other writers wait
for the writing alone. A batch puts rows, blobs and words in one go.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec.structs import replace

from holdfast.errors import StoreDamaged, UnknownSession
from holdfast.recall.folding import Forms, index_forms
from holdfast.session import (
    Entry,
    Head,
    Kind,
    Packer,
    Refreshed,
    Window,
    likely_hashes,
    names_itself,
    searchable,
    unpack,
    with_own_id,
)
from holdfast.session.sessions import check_size
from holdfast.stores.sqlite.rows import (
    KINDS,
    ROLES,
    MessageRow,
    fetcher,
    keys_of,
    live_key_of,
    names_of,
    pins_of,
    put_blobs,
    reading,
    state_of,
    stored_whole,
    to_text,
    whole_from,
)
from holdfast.stores.sqlite.sessions import ADDED_USAGE, NONE_USED, add_usage, counts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence

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

    The words of derived messages go into no index.
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

    What the messages cost is added to its totals. With a `size`, it must be that long before.
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
    """Pin what is to be pinned from the beginning, and return its ids."""
    chosen = [first + offset for offset, draft in enumerate(batch.drafts) if draft.pinned]
    if chosen:
        connection.executemany(
            "INSERT INTO pins (session, message) VALUES (?, ?)", [(key, each) for each in chosen]
        )
    return frozenset(chosen)


COLUMNS = "id, session, position, role, kind, at, tokens, body, whole, stands_for"
"""The columns of a message, in the order that entries are made from."""

_BROKEN = (StoreDamaged, IndexError, KeyError, TypeError)
"""What reading a row that is not as it was written can raise."""
_READ_AT_ONCE = 500
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
    for start in range(0, len(wanted), _READ_AT_ONCE):
        some = wanted[start : start + _READ_AT_ONCE]
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
