"""Saving what can be read of a damaged file into a fresh one.

The damaged file is kept beside the fresh one under a name that says so. Tables are read row by
row around what cannot be read. A file whose first page is lost gets that page from a fresh file:
the tables of both begin at the same places, because they were created by the same statements.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.backup import sync_directory
from holdfast.adapters.sqlite.failures import explaining, is_refusal
from holdfast.adapters.sqlite.index import WordIndex
from holdfast.adapters.sqlite.mending import mend
from holdfast.adapters.sqlite.opening import PATIENCE, open_file
from holdfast.adapters.sqlite.reading_around import copy_tables, tolerant
from holdfast.errors import StoreDamaged, StoreError

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["salvage"]

_PAGE = 4096


def salvage(path: Path) -> tuple[str, ...]:
    """Put a fresh file with everything that can be read in the place of a damaged one.

    Other programs should not be writing to the file at the time; those that have it open notice
    the fresh one before they write again.

    Raises:
        StoreDamaged: when nothing can be read; the file stays as it is.
        StoreError: when there is no space or no permission for a fresh file.
    """
    try:
        with (
            explaining(path),
            _holding(path),
            tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as scratch,
        ):
            fresh = Path(scratch) / "fresh.db"
            done = _saved(path, Path(scratch) / "damaged.db", fresh)
            kept = _swap(path, fresh)
    except OSError as error:
        raise StoreError(f"{path} cannot be repaired: {error.strerror}") from error
    return (f"kept the damaged file as {kept}", *done)


def _saved(path: Path, copy: Path, fresh: Path) -> list[str]:
    """Write everything that can be read into a fresh file; the original is only copied."""
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    opened = open_file(fresh, PATIENCE)
    if opened.writer is None:
        raise StoreError(f"{fresh.parent} cannot be written; the file stays as it is")
    with closing(opened.writer) as target:
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with closing(_readable(path, copy, fresh)) as source:
            target.execute("PRAGMA foreign_keys = OFF")
            target.execute("BEGIN IMMEDIATE")
            done = copy_tables(source, target)
            target.text_factory = tolerant
            done += mend(target, WordIndex())
            target.execute("COMMIT")
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return done


def _readable(path: Path, copy: Path, fresh: Path) -> sqlite3.Connection:
    """Open the copy, with the first page of a fresh file if its own is of no use."""
    for attempt in range(2):
        if attempt:
            _transplant(copy, fresh)
        connection = sqlite3.connect(copy, isolation_level=None)
        connection.text_factory = tolerant
        try:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        except sqlite3.Error:
            found = set[str]()
        if "messages" in found:
            return connection
        connection.close()
    raise StoreDamaged(
        f"nothing can be read from {path}; it stays as it is, and a backup can take its place"
    )


def _transplant(copy: Path, fresh: Path) -> None:
    first = fresh.read_bytes()[:_PAGE]
    pages = max(1, -(-copy.stat().st_size // _PAGE))
    count = pages.to_bytes(4, "big")
    with copy.open("r+b") as file:
        # The count of pages is believed when the two counters of changes are equal.
        file.write(first[:28] + count + first[32:])
        # No free pages are known: those that are free are not used again, and not misread.
        file.seek(32)
        file.write(bytes(8))
        file.truncate(pages * _PAGE)


def _swap(path: Path, fresh: Path) -> Path:
    """Put the fresh file in place; at every moment there is a file under the name."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    kept = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    with fresh.open("r+b") as file:
        os.fsync(file.fileno())
    os.link(path, kept)
    # What waits beside the damaged file belongs to it, and must not be taken for the fresh one's.
    with suppress(FileNotFoundError):
        path.with_name(f"{path.name}-wal").rename(kept.with_name(f"{kept.name}-wal"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    fresh.chmod(0o600)
    fresh.replace(path)
    sync_directory(path.parent)
    return kept


@contextmanager
def _holding(path: Path) -> Generator[None]:
    """Keep other writers out, as far as the damaged file still lets anybody lock it."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
    try:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            if is_refusal(error):
                raise
        yield
    finally:
        # Closing would write what waits beside the file into the fresh one, so nothing is kept.
        connection.rollback()
        connection.close()
