"""Saving what can be read of a damaged file into a fresh one.

The damaged file is kept beside the fresh one under a name that says so. Tables are read row by
row around what cannot be read. A file that cannot say any more which tables it has is told so by
a fresh file: the tables of both begin at the same places, because they were created by the same
statements.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import tempfile
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged, StoreError
from holdfast.stores.sqlite.btree_pages import PAGE, has_header
from holdfast.stores.sqlite.checkup import is_sound, sync_directory
from holdfast.stores.sqlite.failures import explaining, is_damage, is_refusal
from holdfast.stores.sqlite.index import WordIndex
from holdfast.stores.sqlite.mending import mend
from holdfast.stores.sqlite.opening import PATIENCE, open_file
from holdfast.stores.sqlite.reading_around import NOTHING_LOST, Copied, Lost, copy_tables, tolerant

if TYPE_CHECKING:
    from collections.abc import Generator

    from holdfast.stores.sqlite.connection import Database

_MERGED = "merged.db"
"""The damaged file with what waited beside it."""
_NOTHING = "nothing could be read from it, so the fresh file is empty; a backup can take its place"
_INNER = 0x05
"""Marks a page of SQLite's table of tables that leads to others."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What was done to save what could be read."""

    done: tuple[str, ...]
    lost: Lost = NOTHING_LOST

    @property
    def missing(self) -> int:
        """Return how many messages could not be read, at least."""
        return self.lost.messages


def salvage(path: Path) -> tuple[str, ...]:
    """Do what `save_readable` does, and return what was done."""
    return save_readable(path).done


def save_readable(path: Path) -> Salvaged:
    """Put a fresh file with everything that can be read in the place of a damaged one.

    Other programs should not be writing to the file at the time; those that have it open notice
    the fresh one before they write again. Where nothing can be read, the fresh file is empty.

    Raises:
        StoreError: when there is no space or no permission for a fresh file.
    """
    try:
        with (
            explaining(path),
            _holding(path),
            tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as scratch,
        ):
            fresh = Path(scratch) / "fresh.db"
            saved = _saved(path, Path(scratch) / "damaged.db", fresh)
            kept = _swap(path, fresh)
    except OSError as error:
        raise StoreError(f"{path} cannot be repaired: {error.strerror}") from error
    return Salvaged((f"kept the damaged file as {kept}", *saved.done), saved.lost)


def _saved(path: Path, copy: Path, fresh: Path) -> Salvaged:
    """Write everything that can be read into a fresh file; the original is only copied."""
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    waiting = copy.with_name(f"{copy.name}-wal")
    if waiting.exists() and waiting.stat().st_size:
        _has_tables(copy)
        shutil.copyfile(copy, copy.with_name(_MERGED))
    opened = open_file(fresh, PATIENCE)
    if opened.writer is None:
        raise StoreError(f"{fresh.parent} cannot be written; the file stays as it is")
    with closing(opened.writer) as target:
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _tell_its_tables(copy, fresh)
        with closing(sqlite3.connect(copy, isolation_level=None)) as source:
            source.text_factory = tolerant
            target.execute("PRAGMA foreign_keys = OFF")
            target.execute("BEGIN IMMEDIATE")
            try:
                copied = copy_tables(source, target, copy)
            except sqlite3.Error as error:
                # It ends before its tables begin.
                if not is_damage(error):
                    raise
                copied = Copied((), 0)
            target.text_factory = tolerant
            done = (*copied.done, *mend(target, WordIndex())) if copied.rows else (_NOTHING,)
            target.execute("COMMIT")
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Salvaged(done, copied.lost)


def _tell_its_tables(copy: Path, fresh: Path) -> None:
    """Give the copy the tables of a fresh file if it cannot say its own."""
    if _has_tables(copy):
        return
    with copy.open("rb") as file:
        is_begun = has_header(file.read(100))
    # A first page that is in order knows which pages are free, so it is kept as far as it goes.
    if is_begun:
        _transplant_tables(copy, fresh)
    if not is_begun or not _has_tables(copy):
        # Give the copy the first page of a fresh file.
        first = fresh.read_bytes()[:PAGE]
        pages = max(1, -(-copy.stat().st_size // PAGE))
        with copy.open("r+b") as file:
            # The count of pages is believed when the two counters of changes are equal.
            file.write(first[:28] + pages.to_bytes(4, "big") + first[32:])
            # No free pages are known: those that are free are not used again, and not misread.
            file.seek(32)
            file.write(bytes(8))
            file.truncate(pages * PAGE)
        if not _has_tables(copy):
            _transplant_tables(copy, fresh)


def _has_tables(path: Path) -> bool:
    """Say whether a file can tell which tables it has.

    Closing it moves what waits beside the file into it.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = tolerant
        try:
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        except (sqlite3.Error, UnicodeDecodeError):
            return False
    return "messages" in found


def _transplant_tables(copy: Path, fresh: Path) -> None:
    """Add the pages that say which tables there are, and let the first page lead to them."""
    content = fresh.read_bytes()
    first = bytearray(content[:PAGE])
    with copy.open("r+b") as file:
        pages = -(-copy.stat().st_size // PAGE)
        if first[100] == _INNER:
            (count,) = struct.unpack_from(">H", first, 103)
            places = struct.unpack_from(f">{count}H", first, 112)
            for place in (108, *places):
                leaf = int.from_bytes(first[place : place + 4], "big")
                file.seek(pages * PAGE)
                file.write(content[(leaf - 1) * PAGE : leaf * PAGE])
                pages += 1
                first[place : place + 4] = pages.to_bytes(4, "big")
        file.seek(100)
        file.write(first[100:])
        file.seek(28)
        file.write(pages.to_bytes(4, "big"))


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
    fresh.chmod(0o600)
    # Give the damaged file a second name, or copy it where files have only one.
    try:
        kept.hardlink_to(path)
    except OSError:
        shutil.copyfile(path, kept)
        kept.chmod(0o600)
    waiting = path.with_name(f"{path.name}-wal")
    merged = fresh.with_name(_MERGED)
    if merged.exists() and waiting.exists():
        # What waits beside the damaged file must not be taken for the fresh one's. Until that is
        # in place, the damaged file must not be without it either, so it goes into the file first.
        shutil.copyfile(waiting, kept.with_name(f"{kept.name}-wal"))
        merged.chmod(0o600)
        merged.replace(path)
    waiting.unlink(missing_ok=True)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
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


def repair_database(database: Database, index: WordIndex) -> Salvaged:
    """Mend the file, or put a fresh one with everything readable in its place."""
    with suppress(StoreDamaged):
        if _is_sound(database):
            with database.write(index.forget) as connection:
                connection.text_factory = tolerant
                try:
                    return Salvaged(tuple(mend(connection, index)))
                finally:
                    connection.text_factory = str
    database.close()
    try:
        saved = save_readable(database.path)
    except BaseException:
        # What is wrong was said; a file that cannot be opened says it again at its next use.
        with suppress(StoreError):
            database.reopen()
        raise
    index.forget()
    database.reopen()
    return saved


def _is_sound(database: Database) -> bool:
    """Look at the pages; lost entries of SQLite's own indexes are made again first."""
    with database.read() as connection:
        if is_sound(connection):
            return True
    with database.write() as connection:
        with suppress(sqlite3.IntegrityError):
            connection.execute("REINDEX")
        return is_sound(connection)
