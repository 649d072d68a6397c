"""Edits of small files that several processes share: one at a time, and all or nothing."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import contextmanager, suppress
from tempfile import mkstemp
from typing import TYPE_CHECKING

from holdfast.errors import MemoryRefused

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_DRAFT = ".tmp"
_PAUSE = 0.01
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def locked(file: Path, patience: float) -> Generator[None]:
    """Hold the lock that lies in this file; whoever dies lets go of it.

    Raises:
        MemoryRefused: when somebody else holds it for longer than the patience, in seconds, or
            when a folder is in the place of the file.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    except IsADirectoryError as error:
        # Whoever edits would take it for the file that is edited.
        raise explained(error, file, "opened") from error
    try:
        end = time.monotonic() + patience
        while not _taken(descriptor):
            if time.monotonic() >= end:
                raise MemoryRefused(
                    f"another process has been editing in {file.parent} for {patience:g} seconds; "
                    "nothing was changed, try again"
                )
            time.sleep(_PAUSE)
        try:
            yield
        finally:
            _let_go(descriptor)
    finally:
        os.close(descriptor)


def read_file(file: Path, most: int) -> bytes:
    """Return what a file holds, up to this many bytes.

    A pipe or a device is not opened for reading: nobody may ever write to it.

    Raises:
        MemoryRefused: when it is no file.
        OSError: when it cannot be read.
    """
    descriptor = os.open(file, os.O_RDONLY | _AT_ONCE | _BINARY)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise MemoryRefused(f"{file} is not an ordinary file; move it away")
        return stream.read(most)


def put_in_place(file: Path, content: bytes) -> None:
    """Put a file in the place of another; it is the old one or the new one at every moment.

    The caller holds the lock: drafts of edits that were cut off are swept away. A link stays a
    link, and the file that it leads to is replaced.
    """
    place = file.resolve()
    prefix = f".{place.name}."
    for draft in place.parent.glob(f"{prefix}*{_DRAFT}"):
        draft.unlink(missing_ok=True)
    descriptor, name = mkstemp(_DRAFT, prefix, place.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileNotFoundError):
            os.chmod(name, stat.S_IMODE(place.stat().st_mode))
        os.replace(name, place)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise
    # Make the disk remember the new name; some systems have no way to ask for that.
    with suppress(OSError):
        descriptor = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each for the user alone."""
    if not folder.exists():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def explained(error: OSError, file: Path, verb: str) -> MemoryRefused:
    """Return what the system said about a file as a sentence that says what to do."""
    folder = file.parent
    if error.errno in _FULL:
        return MemoryRefused(
            f"there is no space left for {file}; nothing was changed, make room and try again"
        )
    match error:
        case IsADirectoryError():
            return MemoryRefused(f"{file} is a folder; move it away, a file belongs there")
        case FileExistsError() | NotADirectoryError():
            return MemoryRefused(f"{folder} is not a folder; move away what is in its place")
        case PermissionError():
            return MemoryRefused(
                f"{file} cannot be {verb}: permission denied; look at the permissions of {folder}"
            )
        case _ if error.errno == errno.EROFS:
            return MemoryRefused(f"{file} cannot be {verb}: the disk is read-only")
        case _:
            reason = (error.strerror or str(error)).lower()
            return MemoryRefused(f"{file} cannot be {verb}: {reason}")


if sys.platform == "win32":
    import msvcrt

    def _taken(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _let_go(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _taken(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _let_go(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
