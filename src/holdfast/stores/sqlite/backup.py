"""A consistent copy of the store while others go on writing."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.stores.sqlite.failures import explaining

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["copy_to", "sync_directory"]


def copy_to(connection: sqlite3.Connection, path: Path, target: Path) -> None:
    """Copy the store as the connection sees it; the target appears whole or not at all.

    Args:
        connection: One that reads the store.
        path: Where the store is, so that it is not written over.
        target: Where the copy goes; an older copy there is replaced.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        _check_target(path, target)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_leftovers(target)
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            _copy(connection, unfinished)
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


def _check_target(path: Path, target: Path) -> None:
    beside = {path.resolve().with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")}
    is_same = target.exists() and target.samefile(path)
    if is_same or target.resolve() in beside:
        raise StoreError(f"{target} is the store itself; name another file for the copy")
    if target.is_dir():
        raise StoreError(f"{target} is a directory; name a file in it")


def _copy(connection: sqlite3.Connection, unfinished: Path) -> None:
    with explaining(unfinished):
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as copy:
            connection.backup(copy)
        handle = os.open(unfinished, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
