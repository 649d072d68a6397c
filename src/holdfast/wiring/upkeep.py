"""Care for the file behind the store: a quick look, a full check, a repair of whatever it takes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite import SqliteStore, salvage
from holdfast.adapters.sqlite.glance import Glance, glance
from holdfast.errors import StoreDamaged

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.ports import Health

__all__ = ["Glance", "Repaired", "glance", "repair_file"]


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was wrong with a store, what was done about it, and how it is now."""

    problems: tuple[str, ...]
    done: tuple[str, ...]
    health: Health


def repair_file(file: Path) -> Repaired:
    """Check everything in a store, and repair it if anything is wrong.

    A file that cannot even be opened is salvaged: what can be read goes into a fresh file, and the
    damaged one is kept beside it.

    Raises:
        StoreError: when nothing can be read, or there is no space or permission for a repair.
    """
    try:
        store = SqliteStore(file)
    except StoreDamaged as error:
        problems, done = (str(error),), salvage(file)
        with closing(SqliteStore(file)) as store:
            return Repaired(problems, done, store.check())
    with closing(store):
        health = store.check()
        if not health.problems:
            return Repaired((), (), health)
        done = store.repair()
        return Repaired(health.problems, done, store.check())
