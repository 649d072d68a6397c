"""SQLite's errors as sentences; the only place that knows its codes."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import StoreBusy, StoreDamaged, StoreError, reason_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_UNDECODABLE = "Could not decode to UTF-8"
"""What Python says of a text that is none; SQLite does not look."""
_LOST = ("no such table", "no such column", "unsupported file format")
"""What SQLite says when schema or header are not those that were written."""
EXPLAINED = (sqlite3.Error, UnicodeDecodeError, OverflowError)
"""What using a file may raise."""
_REFUSAL = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")


@contextmanager
def explaining(path: Path) -> Generator[None]:
    """Turn what SQLite raises inside into a sentence about the file."""
    try:
        yield
    except EXPLAINED as error:
        raise in_words(error, path) from error


def in_words(error: Exception, path: Path) -> StoreError:
    """Return what is raised in place of one of the errors that are `EXPLAINED`."""
    match error:
        case sqlite3.Error():
            return explained(error, path)
        case UnicodeDecodeError():
            # SQLite quotes a damaged schema in its message, which is then no text.
            return StoreDamaged(f"{path} is damaged; run `holdfast doctor --repair`")
        case _:
            return StoreError(f"{path}: a number is larger than 64 bits: {error}")


def explained(error: sqlite3.Error, path: Path) -> StoreError:
    """Return the error as one of ours, with a sentence that says what to do."""
    if is_busy(error):
        return StoreBusy(
            f"{path} was held by other writers for too long; nothing was written, try again"
        )
    if is_damage(error):
        return StoreDamaged(f"{path} is damaged ({error}); run `holdfast doctor --repair`")
    match _name(error):
        case "SQLITE_FULL":
            return StoreError(
                f"there is no space left for {path}; nothing was written, make room and try again"
            )
        case "SQLITE_TOOBIG":
            return StoreError(f"{path}: a message is larger than SQLite can hold; split it")
        case name if name.startswith("SQLITE_IOERR"):
            return StoreError(f"{path} cannot be read or written ({error}); look at the disk")
        case name if name.startswith(_REFUSAL):
            # SQLite only says that it cannot.
            try:
                os.close(os.open(os.devnull, os.O_RDONLY))
            except OSError as cause:
                return StoreError(f"{path} cannot be opened: {reason_of(cause)}")
            return StoreError(f"{path} cannot be written ({error}); look at its permissions")
        case _:
            return StoreError(f"{path} cannot be used ({error}); `holdfast doctor` says more")


def is_busy(error: sqlite3.Error) -> bool:
    """Say whether another connection stood in the way."""
    return _name(error).startswith(_BUSY)


def is_damage(error: sqlite3.Error) -> bool:
    """Say whether the file is not what was written."""
    return _name(error).startswith(_DAMAGE) or str(error).startswith((_UNDECODABLE, *_LOST))


def is_refusal(error: sqlite3.Error) -> bool:
    """Say whether the file system does not let us write."""
    return _name(error).startswith(_REFUSAL)


def _name(error: sqlite3.Error) -> str:
    """Return the name of SQLite's code; errors of the Python module have none."""
    name: object = getattr(error, "sqlite_errorname", "")
    return name if isinstance(name, str) else ""
