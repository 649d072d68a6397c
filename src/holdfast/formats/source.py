"""Turns text or bytes into JSON records: one document, the elements of an array, or a value a line.

Everything that can be wrong with a text before its meaning matters is caught here: no text at
all, binary content, broken or bottomless JSON, damaged lines. A file with a value a line is read
line by line, so that it takes the memory of one line, whatever its size.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Literal, cast

from msgspec import Struct

from holdfast.errors import DecodeError
from holdfast.formats.events import Problem
from holdfast.formats.json_access import is_array, is_object
from holdfast.formats.reader import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_EXPECTED = "expected a JSON document or one JSON value a line"
_TOO_LONG = "a number has more digits than can be read"
"""The one thing that Python's reader refuses in JSON that is well-formed."""
_SNIFF = 4096


class SourceRecord(Struct, frozen=True, gc=False):
    """One JSON value and where it stood."""

    line: int
    value: object
    file: str = ""
    """Which one, where a session is spread over several."""


@dataclass(frozen=True, slots=True)
class JsonSource:
    """A text as JSON values."""

    layout: Literal["object", "array", "lines"]
    records: tuple[SourceRecord, ...]
    style: Style
    problems: tuple[Problem, ...] = ()


def parse(text: str | bytes) -> JsonSource:
    """Return the JSON values of a text.

    Lines that cannot be read become problems, as long as others can.

    Raises:
        DecodeError: when the text as a whole is not JSON, with the place.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            place = f"byte {error.start}"
            raise DecodeError("json", place, f"this is not UTF-8 text; {_EXPECTED}") from error
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise DecodeError("json", "line 1", f"the text is empty; {_EXPECTED}")
    if "\0" in text:
        place = f"line {text.count(chr(10), 0, text.index(chr(0))) + 1}"
        raise DecodeError("json", place, f"this is binary, not text; {_EXPECTED}")
    style = style_of(text)
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise DecodeError("json", "line 1", "the values are nested too deeply") from None
    except json.JSONDecodeError as error:
        # Read a value a line; a text whose lines are mostly not JSON was one broken
        # document.
        records: list[SourceRecord] = []
        problems: list[Problem] = []
        for found in _scan(text):
            if isinstance(found, SourceRecord):
                records.append(found)
            else:
                problems.append(found)
        whole = sum(is_object(record.value) for record in records)
        if not whole or whole < len(problems):
            place = f"line {error.lineno} column {error.colno}"
            raise DecodeError("json", place, f"{error.msg}; {_EXPECTED}") from error
        return JsonSource("lines", tuple(records), style, tuple(problems))
    except ValueError as error:
        raise DecodeError("json", "the file", _TOO_LONG) from error
    if is_array(value):
        elements = enumerate(value, 1)
        return JsonSource(
            "array", tuple(SourceRecord(place, each) for place, each in elements), style
        )
    return JsonSource("object", (SourceRecord(1, value),), style)


def style_of(text: str) -> Style:
    """Return how the JSON of a text is laid out, from its beginning."""
    start = text[:_SNIFF].lstrip()
    newline = text.endswith("\n")
    if start[:1] in {"{", "["}:
        inside = start[1:].lstrip(" \t\r")
        if inside.startswith("\n"):
            below = inside.lstrip("\r\n")
            indent = below[: len(below) - len(below.lstrip(" \t"))]
            return Style(indent, final_newline=newline)
    colon = start.find('":')
    compact = colon >= 0 and not start[colon + 2 : colon + 3].isspace()
    return Style(None, compact=compact, final_newline=newline)


def _scan(text: str) -> Iterator[SourceRecord | Problem]:
    # Only a line feed ends a line: U+2028 and its kin stand inside strings.
    start, line = 0, 1
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        # Files that were put together have a mark where each of them began.
        yield from values_in(text[start:end].strip().lstrip("\ufeff"), line)
        start, line = end + 1, line + 1


def values_in(line: str, number: int) -> Iterator[SourceRecord | Problem]:
    """Return the JSON values of one line, and what of it is none."""
    # Writers that crashed left two objects on one line, with nothing between them.
    decoder = json.JSONDecoder()
    position = 0
    while position < len(line):
        try:
            value, position = decoder.raw_decode(line, position)
        except json.JSONDecodeError as error:
            yield Problem(number, f"not JSON at column {error.colno}: {error.msg}")
            return
        except RecursionError:
            yield Problem(number, "the values are nested too deeply")
            return
        except ValueError:
            yield Problem(number, _TOO_LONG)
            return
        yield SourceRecord(number, value)
        while position < len(line) and line[position].isspace():
            position += 1


LONGEST_LINE = 64 << 20
"""A longer line is passed over: one picture is a few megabytes, and memory is finite."""
LONGEST_DOCUMENT = 512 << 20
"""The first line of a file may be as long: it may be a document on a line."""
_LONG_LINE = "the line is longer than"
_EMPTY_LINES = re.compile(rb"\n+")
_HEAD = 256 << 10
_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 4
"""How many lines show whether a file is made of lines, should the first be damaged."""


def stream_records(chunks: Iterable[bytes], file: str = "") -> Iterator[SourceRecord | Problem]:
    """Return the JSON values of a file in order, and what of it is none.

    The path goes into everything that is returned.

    Raises:
        DecodeError: when the file as a whole is not JSON, with the place.
    """
    incoming = iter(chunks)
    head = next(incoming, b"")
    while len(head) < _HEAD and (chunk := next(incoming, None)) is not None:
        head += chunk
    if not head or head.isspace():
        raise DecodeError("json", "line 1", "the text is empty; expected JSON")
    while head.startswith(_MARK):
        head = head.removeprefix(_MARK)
    whole = chain([head], incoming)
    return _byte_lines(whole, file) if _has_lines(head) else _document(whole, file)


def _has_lines(head: bytes) -> bool:
    """Say whether a file holds a value a line; one line alone is a document as well."""
    # The lines that the file begins with, as far as they end.
    *whole, _ = head.split(b"\n", _LOOKED_AT + 1)
    lines = [line for line in whole if line.strip()]
    if not lines:
        return head.lstrip().startswith(b"{")
    if lines[0].strip() == b"[":
        return False
    first, *others = lines[:_LOOKED_AT]
    if _is_object(first):
        return True
    # A short document may hold a whole object on a line of its own.
    return any(_is_object(line) for line in others) and (
        not isinstance(next(_values(head, 1), None), SourceRecord)
    )


def _is_object(line: bytes) -> bool:
    """Say whether a line holds objects alone; in a document that is laid out it is indented."""
    if line[:1] != b"{":
        return False
    return all(
        isinstance(each, SourceRecord) and isinstance(each.value, dict) for each in _values(line, 1)
    )


def _document(chunks: Iterable[bytes], file: str) -> Iterator[SourceRecord | Problem]:
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
        yield from (SourceRecord(place, each, file) for place, each in enumerate(elements, 1))


def _byte_lines(chunks: Iterable[bytes], file: str) -> Iterator[SourceRecord | Problem]:
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
                    yield SourceRecord(number, value, file)
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
    return problem.reason.startswith(_LONG_LINE)


def _placed(found: Iterable[SourceRecord | Problem], file: str) -> Iterator[SourceRecord | Problem]:
    for each in found:
        match each:
            case SourceRecord(line, value):
                yield SourceRecord(line, value, file)
            case Problem(line, reason):
                yield Problem(line, reason, file)


def _line(pieces: list[bytes], size: int, number: int) -> Iterator[SourceRecord | Problem]:
    if size > _longest(number):
        yield Problem(number, f"{_LONG_LINE} {_longest(number) >> 20} MiB")
        return
    line = b"".join(pieces)
    if line and not line.isspace():
        yield from _values(line, number)


def _values(line: bytes, number: int) -> Iterator[SourceRecord | Problem]:
    decode, refusals = _fast()
    try:
        value = decode(line)
    except refusals:
        # The fast reader refuses what others write: NaN, halves of pairs, two values on a line.
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Problem(number, f"not UTF-8 at byte {error.start + 1} of the line")
        else:
            # Files that were put together have a mark where each of them began.
            yield from values_in(text.strip().lstrip("\ufeff"), number)
    else:
        yield SourceRecord(number, value)


@cache
def _fast() -> tuple[Callable[[bytes | bytearray], object], tuple[type[Exception], ...]]:
    # It takes a while to load, and most commands read no file.
    from msgspec import DecodeError as Malformed
    from msgspec.json import Decoder

    decode = cast("Callable[[bytes | bytearray], object]", Decoder().decode)
    return decode, (Malformed, UnicodeDecodeError, RecursionError)
