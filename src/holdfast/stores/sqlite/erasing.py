"""Whether the file keeps what was deleted, in pages that nothing refers to any more.

What somebody deletes for good is overwritten. Everything else that is deleted is pieces of the
index that were merged into others: to overwrite them too, as the SQLite of some systems does
unasked, is a seventh of all that appends write.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Generator

__all__ = ["erase_where_free", "erasing"]


def erase_where_free(connection: sqlite3.Connection) -> None:
    """Overwrite only what stands in a page that is written anyway."""
    connection.execute("PRAGMA secure_delete = FAST")


@contextmanager
def erasing(connection: sqlite3.Connection) -> Generator[None]:
    """Overwrite what is deleted meanwhile."""
    connection.execute("PRAGMA secure_delete = ON")
    try:
        yield
    finally:
        erase_where_free(connection)
