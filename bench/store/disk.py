"""What a store takes on the disk, and what for."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of a closed file; the parts are None where SQLite cannot tell them."""

    size: int
    parts: dict[str, int] | None = None


def on_disk(path: Path) -> Disk:
    """Return the size of a store that nobody has open, so that the file holds everything."""
    sums = {"messages": 0, "index": 0, "blobs": 0, "others": 0}
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.OperationalError):
        rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
        for name, size in rows.fetchall():
            sums[_part(name)] += size
    return Disk(path.stat().st_size, sums if any(sums.values()) else None)


def _part(table: str) -> str:
    if table.startswith(("message_words", "spellings")):
        return "index"
    if table.startswith("messages"):
        return "messages"
    return "blobs" if table.startswith("blobs") else "others"
