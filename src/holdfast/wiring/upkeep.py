"""Care for the file behind the store: a quick look, a full check, a repair of whatever it takes."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import StoreDamaged
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.checkup import QuickCheck, quick_check
from holdfast.stores.sqlite.connection import Database
from holdfast.stores.sqlite.index import WordIndex
from holdfast.stores.sqlite.reading_around import NOTHING_LOST, Lost
from holdfast.stores.sqlite.salvage import repair_database, save_readable

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.ports import Health

__all__ = ["QuickCheck", "Repaired", "quick_check", "repair_file"]


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was wrong with a store, what was done about it, and how it is now."""

    problems: tuple[str, ...]
    done: tuple[str, ...]
    health: Health
    lost: Lost = NOTHING_LOST
    """What could not be read, and is only in the damaged file if anywhere."""


def repair_file(file: Path) -> Repaired:
    """Check everything in a store, and repair it if anything is wrong.

    A file that cannot even be opened is salvaged: what can be read goes into a fresh file, and the
    damaged one is kept beside it, also where nothing of it can be read. A deletion that was
    interrupted is brought to its end.

    Raises:
        StoreError: when there is no space or no permission for a repair.
    """
    try:
        with closing(SqliteStore(file)) as store:
            health = store.check()
            if not health.problems:
                store.purge(())
    except StoreDamaged as error:
        problem = str(error).partition("; run ")[0]
        problems, saved = (problem,), save_readable(file)
    else:
        if not health.problems:
            return Repaired((), (), health)
        with closing(Database(file)) as database:
            problems, saved = health.problems, repair_database(database, WordIndex())
    with closing(SqliteStore(file)) as store:
        return Repaired(problems, saved.done, store.check(), saved.lost)
