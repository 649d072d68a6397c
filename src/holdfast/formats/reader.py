"""What a reader of session files or of a database offers, and what readers share.

A session file is given as JSON records, a database as rows; nothing here opens a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

__all__ = [
    "EVERYWHERE",
    "LIKELY",
    "SURE",
    "DatabaseQuery",
    "DatabaseReader",
    "Format",
    "KeyAllocator",
    "Row",
    "SessionReader",
    "Sign",
    "Tables",
    "everywhere",
    "folder_of",
    "parents_first",
]

SURE = 1.0
"""For a signature that no other format has."""
LIKELY = 0.8


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file that can be read."""

    name: str
    description: str
    dialect: str
    """The provider dialect that its messages speak, or are closest to."""
    writable: bool
    agent: str = ""
    """Whose sessions these are, where the name is not the agent's: some keep them in two ways."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Why records are taken for a format."""

    reason: str
    confidence: float = SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReader:
    """What is known about one agent's session files."""

    format: Format
    recognize: Callable[[Sequence[SourceRecord]], Sign | None]
    """Says why the first records of a file are this format; None when they are not."""
    read: Callable[[Iterable[SourceRecord]], Iterator[Event]]
    """Tells a file record by record, holding no more of it than it must."""
    write: Callable[[Iterable[Event]], Iterator[str]] | None = None
    """Returns the lines of a file, without line ends; None where a format is only read."""
    spread: Callable[[str], str] | None = None
    """Where a session is spread over several files: returns what their paths have in common.

    Those files are read at once, and all of a folder where that is nothing.
    """


def folder_of(file: str) -> str:
    """Return the name of the folder that a file lies in; nothing for a bare name."""
    return file.replace("\\", "/").rpartition("/")[0].rpartition("/")[2]


def everywhere(_: str) -> str:
    """Return what paths have in common where files of a session lie anywhere in a folder."""
    return ""


Row: TypeAlias = "JsonObject"
"""The columns of a row by name: numbers, text, bytes or nothing."""
Tables: TypeAlias = "Mapping[str, frozenset[str]]"
"""The columns of each table by its name."""

EVERYWHERE: Row = MappingProxyType({})


class DatabaseQuery(Protocol):
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
    read: Callable[[DatabaseQuery], Iterator[Event]]
    """Tells every session, parents before their children."""


class KeyAllocator:
    """Allocates unique keys: the agent's own id of an entry, or its place in the file."""

    def __init__(self) -> None:
        """Start with no name."""
        self._taken: set[str] = set()
        self._line = 0
        self._count = 0
        """How many names the line gave; a document is one line of many entries."""

    def take(self, id: str, line: int) -> str:  # noqa: A002
        """Return a name for an entry of a line: its id, unless it has none or it was used."""
        if line != self._line:
            self._line, self._count = line, 0
        name = id or self._place()
        while name in self._taken:
            name = self._place()
        self._taken.add(name)
        return name

    def _place(self) -> str:
        self._count += 1
        return f"#{self._line}.{self._count - 1}" if self._count > 1 else f"#{self._line}"


def parents_first(parents: Mapping[str, str]) -> Iterator[str]:
    """Return the names of sessions in their order, save that a parent goes before its children.

    Each is returned once, also where sessions claim to be parents of each other.

    Args:
        parents: The parent of each session, which need not be among them.
    """
    done: set[str] = set()
    for name in parents:
        path: list[str] = []
        at = name
        while at in parents and at not in done:
            done.add(at)
            path.append(at)
            at = parents[at]
        yield from reversed(path)
