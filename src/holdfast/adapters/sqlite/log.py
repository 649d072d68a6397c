"""Writing to the log: rows, blobs and words of one batch in one go.

Everything that takes time is done before the transaction begins, so that other writers wait for
the writing alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from holdfast.adapters.sqlite.blobs import put_blobs, stored_whole
from holdfast.adapters.sqlite.rows import KINDS, ROLES
from holdfast.session import MESSAGE_ID_MARK, Entry, Kind, bare_text, pack, searchable, squeeze
from holdfast.transcript import Text, ToolResult

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.session import Draft
    from holdfast.transcript import Content, Message, Part

__all__ = ["NEWEST_ID", "Batch", "Place", "Words", "prepare", "put_message_blobs", "write"]

NEWEST_ID = "SELECT seq FROM sqlite_sequence WHERE name = 'messages'"
"""Gives the newest id that any message had: nothing when there never was one."""
_INSERT = """
    INSERT INTO messages (id, session, position, role, kind, at, tokens, body, whole, stands_for)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


class Words(Protocol):
    """Where the words of messages go."""

    def add(self, connection: sqlite3.Connection, rows: Iterable[tuple[int, str]]) -> None:
        """Take what messages say, by their ids."""
        ...


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
    bodies: list[str | bytes | None] = []
    wholes: list[bytes | None] = []
    texts: list[str] = []
    # One loop without functions inside: most batches are one message, and each step shows.
    for draft in drafts:
        bodies.append(None if _waits(draft) else _packed(draft.message, blobs))
        wholes.append(None if draft.whole is None else _packed_whole(draft.whole, blobs))
        if kind is Kind.SAID:
            texts.append(searchable(draft.whole or draft.message))
    return Batch(tuple(drafts), tuple(bodies), tuple(wholes), blobs, tuple(texts))


def write(
    connection: sqlite3.Connection, place: Place, batch: Batch, index: Words | None
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
    number = int(kind)
    entries: list[Entry] = []
    rows: list[tuple[object, ...]] = []
    late: dict[bytes, tuple[int, bytes]] = {}
    for offset, draft in enumerate(batch.drafts):
        id_, position, message = first + offset, place.size + 1 + offset, draft.message
        body, whole = batch.bodies[offset], batch.wholes[offset]
        if body is None:
            message = _named(message, id_)
            body = _packed(message, late)
        entry = Entry(
            id=id_,
            session=place.id,
            position=position,
            kind=kind,
            message=message,
            at=draft.at,
            tokens=draft.tokens,
            shortened=whole is not None,
            stands_for=draft.stands_for,
        )
        entries.append(entry)
        role = ROLES.index(message.role)
        said = (role, number, draft.at, draft.tokens)
        rows.append((id_, place.key, position, *said, body, whole, draft.stands_for))
    connection.executemany(_INSERT, rows)
    put_blobs(connection, {**batch.blobs, **late} if late else batch.blobs)
    if index is not None:
        index.add(connection, enumerate(batch.texts, start=first))
    return tuple(entries)


def put_message_blobs(
    connection: sqlite3.Connection, message: Message, *, is_whole: bool = False
) -> str | bytes:
    """Store the blobs of one message and return its body, or the hash of it as a whole one."""
    blobs: dict[bytes, tuple[int, bytes]] = {}
    body = _packed_whole(message, blobs) if is_whole else _packed(message, blobs)
    put_blobs(connection, blobs)
    return body


def _newest_id(connection: sqlite3.Connection) -> int:
    (newest,) = connection.execute(f"SELECT ({NEWEST_ID})").fetchone()
    return newest or 0


def _packed(message: Message, blobs: dict[bytes, tuple[int, bytes]]) -> str | bytes:
    """Return the body of a message, and add what it refers to."""
    text = bare_text(message)
    if text is not None:
        return text
    found = pack(message)
    for digest, content in found.blobs.items():
        if digest not in blobs:
            blobs[digest] = len(content), squeeze(content)
    return found.body


def _packed_whole(message: Message, blobs: dict[bytes, tuple[int, bytes]]) -> bytes:
    """Add a whole message to the blobs, and return its hash."""
    content = stored_whole(_packed(message, blobs))
    digest = hashlib.sha256(content).digest()
    blobs[digest] = len(content), squeeze(content)
    return digest


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
