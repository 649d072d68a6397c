"""Reading the records of a file page by page, and telling to which tables they belong.

SQLite finds a page through the pages above it. When one of those is damaged, everything below is
out of its reach, although it is whole. The format of the pages is documented and does not change.
"""

from __future__ import annotations

import mmap
import sqlite3
import struct
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

Value: TypeAlias = int | float | str | bytes | None

PAGE = 4096
"""The size of a page of our files."""
_MAGIC = b"SQLite format 3\0"
_ROW_LEAF, _ROW_INNER, _KEY_LEAF, _KEY_INNER = 0x0D, 0x05, 0x0A, 0x02
_POINTERS = {_ROW_LEAF: 8, _KEY_LEAF: 8, _KEY_INNER: 12}
"""The kinds of pages with records on them, and where their list of records begins."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_CONSTANTS: dict[int, Value] = {0: None, 8: 0, 9: 1}
_REAL = 7


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One record as it stands on its page."""

    number: int | None
    """The number of the row; None in a table or an index that goes by keys."""
    values: tuple[Value, ...]


def has_header(content: bytes) -> bool:
    """Say whether a file begins as one of ours does."""
    return content.startswith(_MAGIC) and int.from_bytes(content[16:18], "big") == PAGE


def records(path: Path) -> Iterator[PageRecord]:
    """Return every record that stands on a page in use; what is no record is passed over."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        pages = _Pages(content)
        free = pages.free()
        for number in range(1, pages.count + 1):
            if number not in free:
                yield from pages.records(number)


def last_number(path: Path, page: int) -> int:
    """Return the highest row number that the first page of a table leads to; 0 if it has none."""
    with path.open("rb") as file:
        file.seek((page - 1) * PAGE)
        content = file.read(PAGE)
    if len(content) < PAGE or content[0] != _ROW_INNER:
        return 0
    count = min(int.from_bytes(content[3:5], "big"), PAGE // 2 - 6)
    places = struct.unpack_from(f">{count}H", content, 12)
    # A number may end with the page, or be cut off by it where the page is damaged.
    content += bytes(9)
    return max((_varint(content, at + 4)[0] for at in places if at < PAGE - 4), default=0)


class _Pages:
    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self.count = len(content) // PAGE

    def free(self) -> set[int]:
        """Return the pages that hold only what was deleted."""
        found: set[int] = set()
        is_known = has_header(self._content[:100])
        trunk = int.from_bytes(self._content[32:36], "big") if is_known else 0
        while 0 < trunk <= self.count and trunk not in found:
            found.add(trunk)
            page = self._page(trunk)
            following, count = struct.unpack_from(">II", page)
            count = min(count, PAGE // 4 - 2)
            found.update(struct.unpack_from(f">{count}I", page, 8))
            trunk = following
        return found

    def records(self, number: int) -> Iterator[PageRecord]:
        """Return the records of one page."""
        page = self._page(number)
        start = 100 if number == 1 else 0
        kind = page[start]
        if kind not in _POINTERS:
            return
        (count,) = struct.unpack_from(">H", page, start + 3)
        first = start + _POINTERS[kind]
        if first + 2 * count > PAGE:
            return
        for at in struct.unpack_from(f">{count}H", page, first):
            try:
                yield self._record(page, at, kind)
            except (IndexError, ValueError, struct.error):
                continue

    def _page(self, number: int) -> bytes:
        return self._content[(number - 1) * PAGE : number * PAGE]

    def _record(self, page: bytes, at: int, kind: int) -> PageRecord:
        number = None
        length, at = _varint(page, at + 4 if kind == _KEY_INNER else at)
        if kind == _ROW_LEAF:
            number, at = _varint(page, at)
            number -= 2**64 if number >= 2**63 else 0
        record = self._payload(page, at, length, kind)
        end, at = _varint(record, 0)
        kinds: list[int] = []
        while at < end:
            kind, at = _varint(record, at)
            kinds.append(kind)
        values: list[Value] = []
        for kind in kinds:
            if kind >= 12:
                length = (kind - 12) // 2
            else:
                length = 8 if kind == _REAL else _INTEGERS.get(kind, 0)
            values.append(_value(kind, record[at : at + length]))
            at += length
        if at != len(record):
            raise ValueError("a record is longer or shorter than it says")
        return PageRecord(number, tuple(values))

    def _payload(self, page: bytes, at: int, length: int, kind: int) -> bytes:
        """Return a record with what did not fit on its page."""
        most = PAGE - 35 if kind == _ROW_LEAF else (PAGE - 12) * 64 // 255 - 23
        if length <= most:
            return page[at : at + length]
        if length > len(self._content):
            raise ValueError("a record is longer than the file")
        least = (PAGE - 12) * 32 // 255 - 23
        here = least + (length - least) % (PAGE - 4)
        here = here if here <= most else least
        parts = [page[at : at + here]]
        left = length - here
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        while left > 0:
            if not 0 < following <= self.count:
                raise ValueError("the rest of a record is not there")
            rest = self._page(following)
            parts.append(rest[4 : min(PAGE, 4 + left)])
            left -= PAGE - 4
            following = int.from_bytes(rest[:4], "big")
        return b"".join(parts)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | content[place] & 0x7F
        if content[place] < 0x80:
            return value, place + 1
    return value << 8 | content[at + 8], at + 9


def _value(kind: int, content: bytes) -> Value:
    if kind in _CONSTANTS:
        return _CONSTANTS[kind]
    if kind in _INTEGERS:
        return int.from_bytes(content, "big", signed=True)
    if kind == _REAL:
        (real,) = struct.unpack(">d", content)
        return float(real)
    if kind < 12:
        raise ValueError("a value of no known kind")
    if kind % 2:
        try:
            return content.decode()
        except UnicodeDecodeError:
            return content
    return content


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

    def row(self, record: PageRecord) -> tuple[Value, ...] | None:
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

    Nothing waits beside the file; the tables are those of `DISTINCT` that are wanted.
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
