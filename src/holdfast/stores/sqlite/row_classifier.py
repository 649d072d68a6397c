"""Telling to which table a record belongs, and putting it there if its row is missing."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.stores.sqlite.btree_pages import records

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from holdfast.stores.sqlite.btree_pages import Record, Value

__all__ = ["DISTINCT", "add_found_rows"]

DISTINCT = frozenset({"sessions", "messages", "views", "compactions", "blobs", "meta"})
"""The tables whose records look like those of no other table or index."""
_KINDS: dict[str, tuple[type, ...]] = {
    "INTEGER": (int,),
    "REAL": (int, float),
    "TEXT": (str, bytes),
    "BLOB": (bytes,),
    "": (str, bytes),
}
_HASH = 32


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the records of a table look like."""

    table: str
    names: tuple[str, ...]
    kinds: tuple[tuple[type, ...], ...]
    is_numbered: bool

    def row(self, record: Record) -> tuple[Value, ...] | None:
        """Return the row of a record, or None if it is not one of this table."""
        values = record.values
        if len(values) != len(self.kinds) or self.is_numbered != (record.number is not None):
            return None
        if not all(isinstance(value, kind) for value, kind in zip(values, self.kinds, strict=True)):
            return None
        return (record.number, *values[1:]) if self.is_numbered else values


def add_found_rows(
    file: Path, target: sqlite3.Connection, tables: Collection[str]
) -> dict[str, int]:
    """Add the rows that stand on the pages of a file and that the tables do not have yet.

    Args:
        file: A database in one file, with nothing waiting beside it.
        target: Where the rows go.
        tables: Which of the `DISTINCT` tables are wanted.
    """
    shapes = [_shape(target, table) for table in sorted(tables)]
    added = dict.fromkeys(sorted(tables), 0)
    for record in records(file):
        for shape in shapes:
            row = shape.row(record)
            if row is None or not _is_likely(shape, row):
                continue
            marks = ", ".join("?" * len(row))
            with suppress(sqlite3.IntegrityError):
                added[shape.table] += target.execute(
                    f"INSERT OR IGNORE INTO {shape.table} ({', '.join(shape.names)})"
                    f" VALUES ({marks})",
                    row,
                ).rowcount
    return added


def _shape(target: sqlite3.Connection, table: str) -> _Shape:
    columns = target.execute(f"PRAGMA table_info({table})").fetchall()
    # The number of a row stands beside its record, which has nothing in that place.
    is_numbered = columns[0][2] == "INTEGER" and bool(columns[0][5])
    nothing = type(None)
    kinds = [
        (nothing,)
        if is_numbered and key
        else _KINDS[kind]
        if is_needed or key
        else (*_KINDS[kind], nothing)
        for _, _, kind, is_needed, _, key in columns
    ]
    return _Shape(table, tuple(column[1] for column in columns), tuple(kinds), is_numbered)


def _is_likely(shape: _Shape, row: tuple[Value, ...]) -> bool:
    """Look closer where damage could pass for a row."""
    if shape.table == "messages":
        values = dict(zip(shape.names, row, strict=True))
        return values["role"] in range(4) and values["kind"] in (0, 1)
    if shape.table == "blobs":
        return isinstance(row[0], bytes) and len(row[0]) == _HASH
    return True
