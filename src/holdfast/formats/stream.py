"""Reads JSON values from bytes as they come: a file of any size takes the memory of one line.

A file with a value a line is read line by line. Any other is one JSON document and is read whole.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError
from holdfast.formats.document import Problem
from holdfast.formats.loose import is_array
from holdfast.formats.source import Record, parse, values_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["LONGEST_DOCUMENT", "LONGEST_LINE", "is_too_long", "stream_records"]

LONGEST_LINE = 64 << 20
"""A longer line is passed over: one picture is a few megabytes, and memory is finite."""
LONGEST_DOCUMENT = 512 << 20
"""The first line of a file may be as long: it may be a document on a line."""
_TOO_LONG = "the line is longer than"
_EMPTY_LINES = re.compile(rb"\n+")
_HEAD = 256 << 10
_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 4
"""How many lines show whether a file is made of lines, should the first be damaged."""


def stream_records(chunks: Iterable[bytes], file: str = "") -> Iterator[Record | Problem]:
    """Return the JSON values of a file in order, and what of it is none.

    Args:
        chunks: The bytes of the file.
        file: Its path, which goes into everything that is returned.

    Raises:
        DecodeError: when the file as a whole is not JSON, with the place.
    """
    incoming = iter(chunks)
    head = _head(incoming)
    if not head or head.isspace():
        raise DecodeError("json", "line 1", "the text is empty; expected JSON")
    while head.startswith(_MARK):
        head = head.removeprefix(_MARK)
    whole = chain([head], incoming)
    return _lines(whole, file) if _has_lines(head) else _document(whole, file)


def _head(incoming: Iterator[bytes]) -> bytes:
    head = next(incoming, b"")
    while len(head) < _HEAD and (chunk := next(incoming, None)) is not None:
        head += chunk
    return head


def _has_lines(head: bytes) -> bool:
    """Say whether a file holds a value a line; one line alone is a document as well."""
    lines = [line for line in _first_lines(head) if line.strip()]
    if not lines:
        return head.lstrip().startswith(b"{")
    if lines[0].strip() == b"[":
        return False
    first, *others = lines[:_LOOKED_AT]
    if _is_object(first):
        return True
    # A short document may hold a whole object on a line of its own.
    return any(_is_object(line) for line in others) and _is_cut(head)


def _first_lines(head: bytes) -> Iterator[bytes]:
    """Return the lines that a file begins with, as far as they end."""
    start = 0
    for _ in range(_LOOKED_AT + 1):
        end = head.find(b"\n", start)
        if end < 0:
            return
        yield head[start:end]
        start = end + 1


def _is_cut(head: bytes) -> bool:
    """Say whether no whole value begins a file."""
    return not isinstance(next(_values(head, 1), None), Record)


def _is_object(line: bytes) -> bool:
    """Say whether a line holds objects alone; in a document that is laid out it is indented."""
    if line[:1] != b"{":
        return False
    return all(
        isinstance(each, Record) and isinstance(each.value, dict) for each in _values(line, 1)
    )


def _document(chunks: Iterable[bytes], file: str) -> Iterator[Record | Problem]:
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > LONGEST_DOCUMENT:
            size = f"{LONGEST_DOCUMENT >> 20} MiB"
            raise DecodeError("json", "the file", f"one JSON document of more than {size}")
    decode, refusals = _fast()
    try:
        value = decode(content)
    except refusals:
        source = parse(bytes(content))
        yield from _placed((*source.records, *source.problems), file)
    else:
        elements = value if is_array(value) else [value]
        yield from (Record(place, each, file) for place, each in enumerate(elements, 1))


def _lines(chunks: Iterable[bytes], file: str) -> Iterator[Record | Problem]:
    # Only a line feed ends a line: U+2028 and its kin stand inside strings.
    decode, refusals = _fast()
    kept: list[bytes] = []
    size, number = 0, 1
    for chunk in chunks:
        start = 0
        # Searching takes a fraction of what `split` does, which looks at each byte by itself.
        while (end := chunk.find(b"\n", start)) >= 0:
            piece, start = chunk[start:end], end + 1
            # Most lines are whole and well-formed: these take the short way.
            if not piece and not size:
                # Empty lines are counted at once: there may be millions of them.
                if run := _EMPTY_LINES.match(chunk, start):
                    number, start = number + run.end() - start, run.end()
            elif size or len(piece) > LONGEST_LINE:
                yield from _placed(_line([*kept, piece], size + len(piece), number), file)
                kept, size = [], 0
            else:
                try:
                    value = decode(piece)
                except refusals:
                    yield from _placed(_line([piece], len(piece), number), file)
                else:
                    yield Record(number, value, file)
            number += 1
        size += len(chunk) - start
        if size <= _longest(number):
            kept.append(chunk[start:])
        else:
            kept = []  # it will be reported by its size alone
    yield from _placed(_line(kept, size, number), file)


def _longest(number: int) -> int:
    return LONGEST_DOCUMENT if number == 1 else LONGEST_LINE


def is_too_long(problem: Problem) -> bool:
    """Say whether a line was passed over for its length alone."""
    return problem.reason.startswith(_TOO_LONG)


def _placed(found: Iterable[Record | Problem], file: str) -> Iterator[Record | Problem]:
    for each in found:
        match each:
            case Record(line, value):
                yield Record(line, value, file)
            case Problem(line, reason):
                yield Problem(line, reason, file)


def _line(pieces: list[bytes], size: int, number: int) -> Iterator[Record | Problem]:
    if size > _longest(number):
        yield Problem(number, f"{_TOO_LONG} {_longest(number) >> 20} MiB")
        return
    line = b"".join(pieces)
    if line and not line.isspace():
        yield from _values(line, number)


def _values(line: bytes, number: int) -> Iterator[Record | Problem]:
    decode, refusals = _fast()
    try:
        value = decode(line)
    except refusals:
        # The fast reader refuses what others write: NaN, halves of pairs, two values on a line.
        yield from _slow_values(line, number)
    else:
        yield Record(number, value)


def _slow_values(line: bytes, number: int) -> Iterator[Record | Problem]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Problem(number, f"not UTF-8 at byte {error.start + 1} of the line")
    else:
        # Files that were put together have a mark where each of them began.
        yield from values_in(text.strip().lstrip("\ufeff"), number)


@cache
def _fast() -> tuple[Callable[[bytes | bytearray], object], tuple[type[Exception], ...]]:
    # It takes a while to load, and most commands read no file.
    from msgspec import DecodeError as Malformed
    from msgspec.json import Decoder

    decode = cast("Callable[[bytes | bytearray], object]", Decoder().decode)
    return decode, (Malformed, UnicodeDecodeError, RecursionError)
