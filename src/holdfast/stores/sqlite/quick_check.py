"""A quick look at a file: what it holds and whether its pages are in order, changing nothing."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.ports import Lease
from holdfast.stores.sqlite.failures import explaining
from holdfast.stores.sqlite.opening import PATIENCE, connect
from holdfast.stores.sqlite.rows import text_from
from holdfast.stores.sqlite.schema import APPLICATION_ID, MIGRATIONS

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

__all__ = ["QuickCheck", "quick_check"]

_MOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickCheck:
    """What a quick look saw."""

    version: int
    newest_version: int
    """The version that this program writes; an older file is brought up to it when opened."""
    bytes: int
    """What the file takes on disk, with what waits beside it."""
    sessions: int = 0
    trashed: int = 0
    messages: int = 0
    leases: tuple[Lease, ...] = ()
    problems: tuple[str, ...] = ()


def quick_check(path: Path) -> QuickCheck:
    """Look at a file without writing to it, not even to bring it up to the present version.

    The pages are checked as far as SQLite can do so in one quick pass; a full check of the
    content is the store's own `check`.

    Raises:
        StoreDamaged: when the file cannot be read as a database.
        StoreError: when it is another program's, or of a version to come.
    """
    try:
        size = sum(
            each.stat().st_size
            for each in (path, path.with_name(f"{path.name}-wal"))
            if each.exists()
        )
        address = f"{path.absolute().as_uri()}?mode=ro"
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be looked at: {error}") from error
    with explaining(path), closing(connect(address, PATIENCE)) as connection:
        version = _number(connection, "PRAGMA user_version")
        if version and _number(connection, "PRAGMA application_id") != APPLICATION_ID:
            raise StoreError(f"{path} is the database of another program; name another file")
        if version > len(MIGRATIONS):
            raise StoreError(
                f"{path} is of version {version}, and this holdfast knows versions up to "
                f"{len(MIGRATIONS)}; install a newer holdfast"
            )
        seen = QuickCheck(version=version, newest_version=len(MIGRATIONS), bytes=size)
        return _counted(connection, seen) if version else seen


def _counted(connection: sqlite3.Connection, seen: QuickCheck) -> QuickCheck:
    kept = "SELECT count(*) FROM sessions WHERE purged IS NULL AND trashed IS"
    found = connection.execute(f"PRAGMA quick_check({_MOST})")
    problems = tuple(str(line) for (line,) in found if line != "ok")
    leases = connection.execute(
        "SELECT s.id, l.holder, l.expires FROM leases AS l JOIN sessions AS s ON s.key = l.session"
    )
    return QuickCheck(
        version=seen.version,
        newest_version=seen.newest_version,
        bytes=seen.bytes,
        sessions=_number(connection, f"{kept} NULL"),
        trashed=_number(connection, f"{kept} NOT NULL"),
        messages=_number(connection, "SELECT count(*) FROM messages"),
        leases=tuple(Lease(text_from(id_), text_from(holder), at) for id_, holder, at in leases),
        problems=problems,
    )


def _number(connection: sqlite3.Connection, statement: str) -> int:
    (number,) = connection.execute(statement).fetchone()
    return int(number)
