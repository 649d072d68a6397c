"""What every reader of a database offers, and what it asks of the database."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.document import Format
    from holdfast.formats.session_reader import Sign

__all__ = ["EVERYWHERE", "DatabaseReader", "Query", "Row", "Tables"]

Row: TypeAlias = "Mapping[str, object]"
"""The columns of a row by name: numbers, text, bytes or nothing."""
Tables: TypeAlias = "Mapping[str, frozenset[str]]"
"""The columns of each table by its name."""

EVERYWHERE: Row = MappingProxyType({})


class Query(Protocol):
    """A database that is open for reading, seen as it was at one moment."""

    @property
    def tables(self) -> Tables:
        """Return what the database is made of."""
        ...

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        where: Row = EVERYWHERE,
        order: Sequence[str] = (),
    ) -> Iterator[Row]:
        """Return rows one by one.

        Columns that the table does not have are left out, because each release of an agent adds
        some. A table that is not there has no rows.

        Args:
            table: its name.
            columns: which of them are wanted.
            where: values that columns must have.
            order: the columns that rows are sorted by.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseReader:
    """What is known about one agent's database."""

    format: Format
    recognize: Callable[[Tables], Sign | None]
    """Says why tables are those of this agent; None when they are not."""
    read: Callable[[Query], Iterator[Event]]
    """Tells every session, parents before their children."""
