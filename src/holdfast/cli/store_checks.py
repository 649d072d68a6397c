"""The checks of `doctor` on the store: a quick look that changes nothing."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

from holdfast.cli.check import Check, State
from holdfast.cli.lines import counted, crop
from holdfast.cli.times import clock_time, now_ms
from holdfast.errors import ConfigError, StoreError
from holdfast.ports import Capability
from holdfast.wiring.stores import file_behind, store_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from holdfast.config import Settings
    from holdfast.wiring.upkeep import QuickCheck

__all__ = ["sized", "store_checks"]

_REPAIR = "holdfast doctor --repair"
_LONGEST_SHOWN = 200
_SCARCE = 100 << 20
"""Bytes of free space under which a store is in danger."""
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def store_checks(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the store that the settings name."""
    try:
        file = file_behind(settings.store.url, settings.store.profile, environ)
        if file is None:
            yield _elsewhere(settings, environ)
            return
    except (ConfigError, StoreError) as error:
        yield Check("store", State.FAIL, str(error), "change store.url or store.profile")
        return
    try:
        exists = file.exists()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        shown = crop(str(file), _LONGEST_SHOWN)
        yield Check("store", State.FAIL, f"{shown} cannot be looked at: {reason}")
        return
    yield from _file_checks(file) if exists else _absent(file)


def sized(count: int) -> str:
    """Return a number of bytes in the unit that people would use."""
    size, unit = float(count), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{count:,} bytes" if not unit else f"{size:,.1f} {_UNITS[unit]}"


def _elsewhere(settings: Settings, environ: Mapping[str, str]) -> Check:
    """Look at a store that is no file: it can be asked, and nothing else."""
    with closing(store_of(settings, environ)) as store:
        health = store.check()
        if health.problems:
            return Check("store", State.FAIL, f"{store.name}: {'; '.join(health.problems)}")
        words = [counted(health.sessions, "session"), counted(health.messages, "message")]
        if Capability.DURABLE not in store.capabilities:
            words.append("kept until the process ends")
        return Check("store", State.OK, f"{store.name}: {', '.join(words)}")


def _absent(file: Path) -> Iterator[Check]:
    yield Check("store", State.OK, f"{file} (not made yet)")
    folder = next((each for each in file.parents if each.is_dir()), None)
    if folder is not None:
        yield _space(folder, 0)


def _file_checks(file: Path) -> Iterator[Check]:
    # Imported only here: SQLite is loaded when there is something to look at.
    from holdfast.wiring.upkeep import quick_check

    try:
        seen = quick_check(file)
    except StoreError as error:
        yield Check("store", State.FAIL, str(error))
        return
    yield _contents(file, seen)
    yield _pages(seen)
    yield _space(file.parent, seen.bytes)
    yield from _leases(seen)
    yield from _trash(seen)


def _contents(file: Path, seen: QuickCheck) -> Check:
    words = [counted(seen.sessions, "session"), counted(seen.messages, "message")]
    words += [sized(seen.bytes), f"version {seen.version}"]
    if not os.access(file, os.W_OK):
        words.append("read-only")
    if seen.version < seen.newest_version:
        words.append(f"will be brought to version {seen.newest_version} when it is used")
    return Check("store", State.OK, f"{file}: {', '.join(words)}")


def _pages(seen: QuickCheck) -> Check:
    if seen.problems:
        return Check("store pages", State.FAIL, "; ".join(seen.problems), _REPAIR)
    return Check("store pages", State.OK, "a quick check found no damage")


def _space(folder: Path, stored: int) -> Check:
    free = shutil.disk_usage(folder).free
    words = f"{sized(free)} free"
    if free < max(_SCARCE, stored):
        advice = "make room: a backup or a repair needs as much space as the store takes"
        return Check("store space", State.WARN, words, advice)
    return Check("store space", State.OK, words)


def _leases(seen: QuickCheck) -> Iterator[Check]:
    now = now_ms()
    for lease in seen.leases:
        if lease.expires > now:
            words = f"session {lease.session} is being compacted by {lease.holder}"
            yield Check("lease", State.OK, words)
        else:
            words = (
                f"{lease.holder} left session {lease.session} in the middle of a compaction, "
                f"and its lease ran out {clock_time(lease.expires)}"
            )
            advice = "nothing is lost: the next compaction takes the lease over"
            yield Check("lease", State.WARN, words, advice)


def _trash(seen: QuickCheck) -> Iterator[Check]:
    if seen.trashed:
        words = f"{counted(seen.trashed, 'session')} in the trash"
        advice = "holdfast sessions prune --empty-trash deletes them for good"
        yield Check("trash", State.OK, words, advice)
