"""Looking for damage, all of it or at a glance, and a consistent copy while others write."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged, StoreError
from holdfast.ports import Health, Lease
from holdfast.recall import fold
from holdfast.session import Cause, unpack, unsqueeze
from holdfast.stores.sqlite.failures import explaining, is_damage
from holdfast.stores.sqlite.log import texts_of
from holdfast.stores.sqlite.opening import PATIENCE, connect
from holdfast.stores.sqlite.rows import (
    ROLES,
    SELECT_SESSIONS,
    fetcher,
    session_from,
    text_from,
    whole_from,
)
from holdfast.stores.sqlite.schema import APPLICATION_ID, MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_MOST = 100
"""Problems that are named one by one."""
EXPECTED_SIZE = """max(
    coalesce((SELECT max(position) FROM messages WHERE session = key), 0),
    coalesce((SELECT max(upto) FROM views WHERE session = key), 0)
)"""
"""The newest position of a session. One that a view reaches to is never used again."""
_SAMPLE = 400
_SMALLEST = 512
"""Bytes of the smallest page: SQLite takes less for a file in which nothing was written yet."""
_REPAIR = "run `holdfast doctor --repair`"
_CAUSES = frozenset(cause.value for cause in Cause)
_WORD = re.compile(r"(?<![^\W_])[a-z0-9]{2,}(?![^\W_])")
"""A whole word: one with another letter in it is a word of its own to the index."""


def examine(connection: sqlite3.Connection) -> Health:
    """Return what is wrong, as far as the file can be read."""
    problems: list[str] = []
    more = 0
    for part in (_pages, _links, _rows, _sizes, _views, _bodies, _blobs, _words):
        try:
            found = part(connection)
            problems += islice(found, _MOST - len(problems))
            more += sum(1 for _ in found)
        except sqlite3.Error as error:
            if not is_damage(error) and not isinstance(error, sqlite3.OperationalError):
                raise
            problems.append(f"the file cannot be read to the end: {error}")
    if more:
        problems.append(f"and {more} more")
    return Health(
        tuple(problems),
        sessions=_countable(connection, "SELECT count(*) FROM sessions WHERE purged IS NULL"),
        messages=_countable(connection, "SELECT count(*) FROM messages"),
        bytes=_count(connection, "PRAGMA page_count") * _count(connection, "PRAGMA page_size"),
        version=_count(connection, "PRAGMA user_version"),
    )


def is_sound(connection: sqlite3.Connection) -> bool:
    """Say whether SQLite finds nothing wrong with the pages of the file."""
    try:
        return not list(_pages(connection))
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return False


def row_problem(
    role: int, body: object, whole: object, fetch: Callable[[bytes], bytes]
) -> str | None:
    """Return why a message cannot be read, if it cannot."""
    try:
        if role not in range(len(ROLES)):
            return f"its role is {role!r}"
        if not isinstance(body, str | bytes) or not isinstance(whole, bytes | None):
            return "its content is a number, or nothing"
        unpack(ROLES[role], body, fetch)
        if whole is not None:
            unpack(ROLES[role], whole_from(fetch(whole)), fetch)
    except StoreDamaged as error:
        return str(error)
    return None


def blob_problem(digest: bytes, body: bytes) -> str | None:
    """Return why content is not what its hash says, if it is not."""
    try:
        content = unsqueeze(body)
    except StoreDamaged as error:
        return str(error)
    return None if hashlib.sha256(content).digest() == digest else "its hash is another"


def _pages(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if line != "ok":
            yield f"SQLite: {line}"


def _links(connection: sqlite3.Connection) -> Iterator[str]:
    for table, row, target, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} refers to a row of {target} that is not there"
    wrong = connection.execute(
        """
        SELECT s.id FROM sessions AS s JOIN views AS v ON v.id IN (s.view, s.tip)
        WHERE v.session != s.key
        """
    )
    for (id_,) in wrong:
        yield f"session {id_} shows a view of another session"


def _rows(connection: sqlite3.Connection) -> Iterator[str]:
    for row in connection.execute(SELECT_SESSIONS):
        try:
            session_from(row)
        except StoreDamaged as error:
            yield str(error)
    for id_, cause in connection.execute("SELECT id, cause FROM views"):
        if cause not in _CAUSES:
            yield f"view {id_} has the unknown cause {cause!r}"


def _sizes(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        f"SELECT id, size, {EXPECTED_SIZE} AS newest FROM sessions"
        " WHERE purged IS NULL AND size != newest"
    )
    for id_, size, newest in rows:
        yield f"session {id_} says its newest message is {size}, and it is {newest}"


def _views(connection: sqlite3.Connection) -> Iterator[str]:
    for view, spans in connection.execute("SELECT id, spans FROM views ORDER BY id"):
        try:
            wanted = [(int(key), int(first), int(last)) for key, first, last in json.loads(spans)]
        except (TypeError, ValueError):
            yield f"view {view} cannot be read"
            continue
        for key, first, last in wanted:
            (found,) = connection.execute(
                "SELECT count(*) FROM messages WHERE session = ? AND position BETWEEN ? AND ?",
                (key, first, last),
            ).fetchone()
            if found != last - first + 1:
                yield f"view {view} shows {last - first + 1 - found} messages that are not there"


def _bodies(connection: sqlite3.Connection) -> Iterator[str]:
    fetch = fetcher(connection, is_remembering=False)
    for id_, role, body, whole in connection.execute("SELECT id, role, body, whole FROM messages"):
        problem = row_problem(role, body, whole, fetch)
        if problem:
            yield f"message {id_}: {problem}"


def _blobs(connection: sqlite3.Connection) -> Iterator[str]:
    for digest, body in connection.execute("SELECT hash, body FROM blobs"):
        problem = blob_problem(digest, body)
        if problem:
            yield f"the content {digest.hex()[:12]}: {problem}"


def _words(connection: sqlite3.Connection) -> Iterator[str]:
    """Look up some messages by a word of theirs: the newest ones and some of all the others."""
    rows = connection.execute(
        """
        SELECT m.id FROM messages AS m JOIN sessions AS s ON s.key = m.session
        WHERE m.kind = 0 AND s.purged IS NULL AND (m.id > ?1 - ?2 OR m.id % (?1 / ?2 + 1) = 0)
        """,
        (_count(connection, "SELECT coalesce(max(id), 0) FROM messages"), _SAMPLE),
    )
    for id_ in [id_ for (id_,) in rows]:
        try:
            text = texts_of(connection, [id_])[id_]
        except StoreDamaged:
            continue  # it was named with the bodies
        word = _WORD.search(fold(text).lower())
        if word:
            found = connection.execute(
                "SELECT 1 FROM message_words WHERE message_words MATCH ? AND rowid = ?",
                (f'"{word[0]}"', id_),
            )
            if found.fetchone() is None:
                yield f"message {id_} is missing in the index"


def _countable(connection: sqlite3.Connection, statement: str) -> int:
    """Count what can be counted; that the rest is damaged was said already."""
    try:
        return _count(connection, statement)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return 0


def _count(connection: sqlite3.Connection, statement: str) -> int:
    (found,) = connection.execute(statement).fetchone()
    return int(found)


_QUICK_CHECK_MOST = 3


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
    if 0 < path.stat().st_size < _SMALLEST:
        raise StoreDamaged(f"{path} is cut to {path.stat().st_size} bytes; {_REPAIR}")
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
        if not version:
            return seen
        kept = "SELECT count(*) FROM sessions WHERE purged IS NULL AND trashed IS"
        found = connection.execute(f"PRAGMA quick_check({_QUICK_CHECK_MOST})")
        problems = tuple(str(line) for (line,) in found if line != "ok")
        leases = connection.execute(
            "SELECT s.id, l.holder, l.expires"
            " FROM leases AS l JOIN sessions AS s ON s.key = l.session"
        )
        return replace(
            seen,
            sessions=_number(connection, f"{kept} NULL"),
            trashed=_number(connection, f"{kept} NOT NULL"),
            messages=_number(connection, "SELECT count(*) FROM messages"),
            leases=tuple(Lease(text_from(id_), text_from(name), at) for id_, name, at in leases),
            problems=problems,
        )


def _number(connection: sqlite3.Connection, statement: str) -> int:
    (number,) = connection.execute(statement).fetchone()
    return int(number)


def copy_to(connection: sqlite3.Connection, path: Path, target: Path) -> None:
    """Copy the store as the connection sees it; the target appears whole or not at all.

    The store at the path is not written over; an older copy at the target is.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        own = {path.resolve().with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")}
        is_same = target.exists() and target.samefile(path)
        if is_same or target.resolve() in own:
            raise StoreError(f"{target} is the store itself; name another file for the copy")
        if target.is_dir():
            raise StoreError(f"{target} is a directory; name a file in it")
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_leftovers(target)
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            with explaining(unfinished):
                with closing(sqlite3.connect(unfinished, isolation_level=None)) as copy:
                    connection.backup(copy)
                handle = os.open(unfinished, os.O_RDWR)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
            unfinished.replace(target)
        finally:
            for suffix in ("", "-wal", "-shm", "-journal"):
                unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)
        sync_directory(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}") from error


def _remove_leftovers(target: Path) -> None:
    """Remove what backups to the same target left when they were killed."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d+)\.unfinished(-wal|-shm|-journal)?")
    for beside in target.parent.iterdir():
        found = pattern.fullmatch(beside.name)
        if found and (int(found[1]) == os.getpid() or not _is_running(int(found[1]))):
            beside.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Say whether there may be a process of a number; where that cannot be asked, there may."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def sync_directory(directory: Path) -> None:
    """Make the names in a directory durable."""
    if os.name == "posix":
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
