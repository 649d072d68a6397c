"""Reads JSON values from bytes as they come: a file of any size takes the memory of one line.

A file with a value a line is read line by line. Any other is one JSON document and is read whole.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError
from holdfast.formats.document import Problem
from holdfast.formats.source import Record, parse, values_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["LONGEST_DOCUMENT", "LONGEST_LINE", "stream_records"]

LONGEST_LINE = 64 << 20
"""A longer line is passed over: one picture is a few megabytes, and memory is finite."""
LONGEST_DOCUMENT = 512 << 20
_HEAD = 256 << 10
_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 4
"""How many lines show whether a file is made of lines, should the first be damaged."""


def stream_records(chunks: Iterable[bytes]) -> Iterator[Record | Problem]:
    """Return the JSON values of a file in order, and what of it is none.

    Raises:
        DecodeError: when the file as a whole is not JSON, with the place.
    """
    incoming = iter(chunks)
    head = _head(incoming)
    if not head.strip():
        raise DecodeError("json", "line 1", "the text is empty; expected JSON")
    whole = chain([head.removeprefix(_MARK)], incoming)
    return _lines(whole) if _has_lines(head.removeprefix(_MARK)) else _document(whole)


def _head(incoming: Iterator[bytes]) -> bytes:
    head = bytearray()
    while len(head) < _HEAD and (chunk := next(incoming, None)) is not None:
        head += chunk
    return bytes(head)


def _has_lines(head: bytes) -> bool:
    """Say whether a file holds a value a line; one line alone is a document as well."""
    lines = [line for line in head.split(b"\n", _LOOKED_AT + 1)[:-1] if line.strip()]
    if not lines:
        return head.lstrip().startswith(b"{")
    if lines[0].strip() == b"[":
        return False
    return any(_is_object(line) for line in lines[:_LOOKED_AT])


def _is_object(line: bytes) -> bool:
    found = next(_values(line, 1), None)
    return isinstance(found, Record) and isinstance(found.value, dict)


def _document(chunks: Iterable[bytes]) -> Iterator[Record | Problem]:
    content = bytearray()
    for chunk in chunks:
        content += chunk
        if len(content) > LONGEST_DOCUMENT:
            size = f"{LONGEST_DOCUMENT >> 20} MiB"
            raise DecodeError("json", "the file", f"one JSON document of more than {size}")
    source = parse(bytes(content))
    yield from source.records
    yield from source.problems


def _lines(chunks: Iterable[bytes]) -> Iterator[Record | Problem]:
    # Only a line feed ends a line: U+2028 and its kin stand inside strings.
    kept: list[bytes] = []
    size, number = 0, 1
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            yield from _line([*kept, piece], size + len(piece), number)
            kept, size, number = [], 0, number + 1
        size += len(rest)
        if size <= LONGEST_LINE:
            kept.append(rest)
        else:
            kept = []  # it will be reported by its size alone
    yield from _line(kept, size, number)


def _line(pieces: list[bytes], size: int, number: int) -> Iterator[Record | Problem]:
    if size > LONGEST_LINE:
        yield Problem(number, f"the line is longer than {LONGEST_LINE >> 20} MiB")
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
        yield from values_in(text.strip(), number)


@cache
def _fast() -> tuple[Callable[[bytes], object], tuple[type[Exception], ...]]:
    # It takes a while to load, and most commands read no file.
    from msgspec import DecodeError as Malformed
    from msgspec.json import Decoder

    decode = cast("Callable[[bytes], object]", Decoder().decode)
    return decode, (Malformed, UnicodeDecodeError, RecursionError)
