"""Tables in memory, so that readers of databases are tested without any."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.catalog import Row, Tables


class Memory:
    """Answers as a database does."""

    def __init__(self, tables: Mapping[str, Sequence[Row]]) -> None:
        """Hold rows; the first of a table has all of its columns."""
        self._rows = tables

    @property
    def tables(self) -> Tables:
        """Return the columns of each table."""
        return {name: frozenset(rows[0]) for name, rows in self._rows.items() if rows}

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        where: Row | None = None,
        order: Sequence[str] = (),
    ) -> Iterator[Row]:
        """Return rows one by one."""
        wanted = where or {}
        found = [
            row
            for row in self._rows.get(table, ())
            if all(row.get(name) == value for name, value in wanted.items())
        ]
        known = [name for name in order if found and name in found[0]]
        for row in sorted(found, key=lambda row: [_rank(row.get(name)) for name in known]):
            yield {name: row[name] for name in columns if name in row}


def _rank(value: object) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return 1, float(value), ""
    return (0, 0.0, "") if value is None else (2, 0.0, str(value))
