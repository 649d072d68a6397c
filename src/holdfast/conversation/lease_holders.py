"""Who holds a lease, and whether that is still to be believed.

A process that was killed leaves its lease behind. Most run out soon. One that was written before
the clock was set back would hold for as long as the clock was wrong, and on this machine a process
that is gone can be told from one that works.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.ports import Lease

__all__ = ["is_running", "lease_holder", "why_void"]

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESSES = Path("/proc/self/ns/pid")
_MARK = "@"
_FEW = 5
"""A lease is renewed long before it runs out: one that is this many lengths ahead is wrong."""
_SHORTEST = 60_000
"""Milliseconds that a lease is taken to last at least: others may take longer ones than we do."""


def lease_holder(thread: str, agent: str, nonce: int) -> str:
    """Return how this process signs a lease: `pid:thread:agent:nonce:@machine`."""
    thread = thread.replace(":", "-")
    return f"{os.getpid()}:{thread}:{agent}:{nonce & 0xFFFFFF:06x}:{_MARK}{_machine()}"


def why_void(lease: Lease, now: int, length: int = _SHORTEST) -> str:
    """Return why a lease that has not run out counts no more; empty while it counts.

    Args:
        lease: Somebody else's lease.
        now: The moment in milliseconds.
        length: How long leases last that are taken here, in milliseconds.
    """
    if lease.expires - now > _FEW * max(length, _SHORTEST):
        return "it would run out far in the future, so it was taken by a clock that was wrong"
    process, _, rest = lease.holder.partition(":")
    if not process.isdecimal() or rest.rpartition(":")[2] != f"{_MARK}{_machine()}":
        return ""
    return "" if is_running(int(process)) else f"process {process} of this machine is gone"


def is_running(process: int) -> bool:
    """Say whether a process of this machine runs; yes where that cannot be known."""
    if sys.platform == "win32":
        # A signal of 0 is Ctrl-C there.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        # Somebody else's process, or a number that is none.
        return True
    return True


@cache
def _machine() -> str:
    """Return what stands for the processes that this one can see.

    A container has processes of its own, and so has every boot: a number means another process
    there.
    """
    known = [socket.gethostname()]
    try:
        known += [_BOOT.read_text("ascii").strip(), str(_PROCESSES.readlink())]
    except OSError:
        # Only Linux says these.
        known.append(sys.platform)
    return hashlib.sha256("\n".join(known).encode("utf-8", "replace")).hexdigest()[:8]
