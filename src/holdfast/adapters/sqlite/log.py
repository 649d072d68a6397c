"""Writing to the log: rows, blobs and words of one batch in one go.

Everything that takes time is done before the transaction begins, so that other writers wait for
the writing alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.blobs import put_blobs, stored_whole
from holdfast.adapters.sqlite.rows import KINDS, ROLE_NUMBERS
from holdfast.session import MESSAGE_ID_MARK, Entry, Kind, pack, searchable, squeeze
from holdfast.transcript import Text, ToolResult

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from holdfast.adapters.sqlite.index import WordIndex
    from holdfast.session import Draft
    from holdfast.transcript import Content, Message, Part

__all__ = ["NEWEST_ID", "Batch", "Place", "prepare", "put_message_blobs", "write"]

NEWEST_ID = "SELECT seq FROM sqlite_sequence WHERE name = 'messages'"
"""Gives the newest id that any message had: nothing when there never was one."""
_INSERT = """
    INSERT INTO messages (id, session, position, role, kind, at, tokens, body, whole, stands_for)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """Drafts made ready to be written."""

    drafts: tuple[Draft, ...]
    bodies: tuple[str | bytes | None, ...]
    """None where the text waits for its own id."""
    wholes: tuple[bytes | None, ...]
    blobs: Mapping[bytes, tuple[int, bytes]]
    """What the bodies refer to: size and squeezed content by hash."""
    texts: tuple[str, ...]
    """What a search may find; empty for derived messages."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a batch goes."""

    id: str
    key: int
    size: int
    """The newest position that is taken."""
    newest: int | None = None
    """The newest id that any message of the store had, where it is known."""


def prepare(drafts: Sequence[Draft], kind: Kind) -> Batch:
    """Pack the drafts, and gather the words of those that a search should find."""
    blobs: dict[bytes, tuple[int, bytes]] = {}

    def packed(message: Message) -> str | bytes:
        found = pack(message)
        for digest, content in found.blobs.items():
            if digest not in blobs:
                blobs[digest] = len(content), squeeze(content)
        return found.body

    def whole_of(draft: Draft) -> bytes | None:
        if draft.whole is None:
            return None
        content = stored_whole(packed(draft.whole))
        digest = hashlib.sha256(content).digest()
        blobs[digest] = len(content), squeeze(content)
        return digest

    said = kind is Kind.SAID
    return Batch(
        tuple(drafts),
        tuple(None if _waits(draft) else packed(draft.message) for draft in drafts),
        tuple(whole_of(draft) for draft in drafts),
        blobs,
        tuple(searchable(draft.whole or draft.message) for draft in drafts) if said else (),
    )


def write(
    connection: sqlite3.Connection, place: Place, batch: Batch, index: WordIndex | None
) -> tuple[Entry, ...]:
    """Add the rows of a batch; the caller's transaction moves the size of the session.

    Args:
        connection: The one that writes.
        place: The session.
        batch: What `prepare` returned.
        index: Where the words go; None for derived messages.
    """
    if not batch.drafts:
        return ()
    first = 1 + (_newest_id(connection) if place.newest is None else place.newest)
    kind = KINDS[index is None]
    entries = tuple(
        Entry(
            id=first + number,
            session=place.id,
            position=place.size + 1 + number,
            kind=kind,
            message=_named(draft.message, first + number) if _waits(draft) else draft.message,
            at=draft.at,
            tokens=draft.tokens,
            shortened=draft.whole is not None,
            stands_for=draft.stands_for,
        )
        for number, draft in enumerate(batch.drafts)
    )
    late: dict[bytes, tuple[int, bytes]] = {}
    rows = [
        (
            entry.id,
            place.key,
            entry.position,
            ROLE_NUMBERS[entry.message.role],
            kind.value,
            entry.at,
            entry.tokens,
            _packed_late(entry.message, late) if body is None else body,
            whole,
            entry.stands_for,
        )
        for entry, body, whole in zip(entries, batch.bodies, batch.wholes, strict=True)
    ]
    connection.executemany(_INSERT, rows)
    put_blobs(connection, {**batch.blobs, **late} if late else batch.blobs)
    if index is not None:
        index.add(connection, [(first + number, text) for number, text in enumerate(batch.texts)])
    return entries


def put_message_blobs(
    connection: sqlite3.Connection, message: Message, *, is_whole: bool = False
) -> str | bytes:
    """Store the blobs of one message and return its body, or the hash of it as a whole one."""
    blobs: dict[bytes, tuple[int, bytes]] = {}
    body = _packed_late(message, blobs)
    if is_whole:
        content = stored_whole(body)
        body = hashlib.sha256(content).digest()
        blobs[body] = len(content), squeeze(content)
    put_blobs(connection, blobs)
    return body


def _newest_id(connection: sqlite3.Connection) -> int:
    (newest,) = connection.execute(f"SELECT ({NEWEST_ID})").fetchone()
    return newest or 0


def _packed_late(message: Message, blobs: dict[bytes, tuple[int, bytes]]) -> str | bytes:
    found = pack(message)
    for digest, content in found.blobs.items():
        blobs[digest] = len(content), squeeze(content)
    return found.body


def _waits(draft: Draft) -> bool:
    """Say whether the text of a shortened message names the message itself."""
    if draft.whole is None and draft.stands_for is None:
        return False
    return any(MESSAGE_ID_MARK in text for text in _texts(draft.message))


def _texts(message: Message) -> list[str]:
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text(text):
                texts.append(text)
            case ToolResult(content=content):
                texts += [piece.text for piece in content if isinstance(piece, Text)]
            case _:
                pass
    return texts


def _named(message: Message, id_: int) -> Message:
    """Return the message with its id in place of the mark."""

    def text(part: Text) -> Text:
        return replace(part, text=part.text.replace(MESSAGE_ID_MARK, str(id_)))

    def content(part: Content) -> Content:
        return text(part) if isinstance(part, Text) else part

    def named(part: Part) -> Part:
        match part:
            case Text():
                return text(part)
            case ToolResult():
                return replace(part, content=tuple(content(piece) for piece in part.content))
            case _:
                return part

    return replace(message, parts=tuple(named(part) for part in message.parts))
