"""Locks on single bytes of a file, which the system takes back from a process that dies."""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import suppress

_PAUSE_S = 0.003

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int | None, at: int) -> bool:
        """Lock one byte of a file; says whether no other process has it."""
        if descriptor is None:
            return True
        os.lseek(descriptor, at, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def unlock(descriptor: int | None, at: int) -> None:
        """Let go of one byte."""
        if descriptor is not None:
            os.lseek(descriptor, at, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def try_lock(descriptor: int | None, at: int) -> bool:
        """Lock one byte of a file; says whether no other process has it."""
        if descriptor is None:
            return True
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
        except OSError as error:
            # A lock that does not work must not stop a conversation.
            return error.errno not in (errno.EAGAIN, errno.EACCES)
        return True

    def unlock(descriptor: int | None, at: int) -> None:
        """Let go of one byte."""
        if descriptor is not None:
            with suppress(OSError):
                fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, at)


def lock_within(descriptor: int | None, at: int, seconds: float) -> bool:
    """Lock one byte of a file as soon as no other process has it; says whether that was in time."""
    end = time.monotonic() + seconds
    while not try_lock(descriptor, at):
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_S)
    return True
