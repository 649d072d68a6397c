"""Long texts and media, each stored once under the hash of its content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged
from holdfast.session import blob_hashes, unsqueeze

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["fetcher", "put_blobs", "references", "stored_whole", "whole_from"]

_BARE = b"t"
"""Marks a whole message that is its text; other whole messages begin as packed ones do."""
_AT_ONCE = 500
"""Blobs that one statement reads; old builds of SQLite take up to 999 values."""


def put_blobs(connection: sqlite3.Connection, blobs: Mapping[bytes, tuple[int, bytes]]) -> None:
    """Store what is not there yet, by hash: size and squeezed content."""
    if blobs:
        connection.executemany(
            "INSERT OR IGNORE INTO blobs (hash, size, body) VALUES (?, ?, ?)",
            [(digest, size, body) for digest, (size, body) in blobs.items()],
        )


def fetcher(
    connection: sqlite3.Connection,
    *,
    is_remembering: bool = True,
    ahead: Iterable[bytes] = (),
) -> Callable[[bytes], bytes]:
    """Return a function that reads blobs.

    Args:
        connection: Where they are.
        is_remembering: Whether one that recurs is read once; not for passes over everything.
        ahead: Blobs that will be asked for: reading many at once takes half the time.
    """
    seen: dict[bytes, bytes] = {}
    waiting = _read_ahead(connection, list(dict.fromkeys(ahead)))

    def fetch(digest: bytes) -> bytes:
        found = seen.get(digest)
        if found is None:
            row = (
                waiting.pop(digest, None)
                or connection.execute(
                    "SELECT body, size FROM blobs WHERE hash = ?", (digest,)
                ).fetchone()
            )
            if row is None:
                raise StoreDamaged(f"the content {digest.hex()[:12]} is missing")
            found = unsqueeze(row[0])
            if len(found) != row[1]:
                raise StoreDamaged(f"the content {digest.hex()[:12]} is not as it was written")
            if is_remembering:
                seen[digest] = found
        return found

    return fetch


def _read_ahead(
    connection: sqlite3.Connection, digests: Sequence[bytes]
) -> dict[bytes, tuple[bytes, int]]:
    found: dict[bytes, tuple[bytes, int]] = {}
    for start in range(0, len(digests), _AT_ONCE):
        some = digests[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        for digest, body, size in connection.execute(
            f"SELECT hash, body, size FROM blobs WHERE hash IN ({marks})", some
        ):
            found[digest] = body, size
    return found


def references(
    body: str | bytes, whole: bytes | None, fetch: Callable[[bytes], bytes]
) -> frozenset[bytes]:
    """Return the blobs that a row refers to; what cannot be read refers to nothing more."""
    found: set[bytes] = set()
    try:
        found |= blob_hashes(body)
        if whole is not None:
            found.add(whole)
            found |= blob_hashes(whole_from(fetch(whole)))
    except (StoreDamaged, TypeError):
        return frozenset(found)
    return frozenset(found)


def stored_whole(body: str | bytes) -> bytes:
    """Return a packed message as the content of a blob."""
    return _BARE + body.encode() if isinstance(body, str) else body


def whole_from(content: bytes) -> str | bytes:
    """Return the packed message that `stored_whole` was given."""
    return content[1:].decode() if content[:1] == _BARE else content
