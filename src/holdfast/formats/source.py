"""Turns text into JSON records: one document, the elements of an array, or a value a line.

Everything that can be wrong with a text before its meaning matters is caught here: no text at
all, binary content, broken or bottomless JSON, damaged lines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from holdfast.errors import DecodeError
from holdfast.formats.document import Problem, Style
from holdfast.formats.loose import is_array, is_object
from holdfast.transcript.quickly import quickly_made

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Record", "Source", "parse", "style_of", "values_in"]

_EXPECTED = "expected a JSON document or one JSON value a line"
_TOO_LONG = "a number has more digits than can be read"
"""The one thing that Python's reader refuses in JSON that is well-formed."""
_SNIFF = 4096


@quickly_made
@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value and where it stood."""

    line: int
    value: object
    file: str = ""
    """Which one, where a session is spread over several."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text as JSON values."""

    layout: Literal["object", "array", "lines"]
    records: tuple[Record, ...]
    style: Style
    problems: tuple[Problem, ...] = ()


def parse(text: str | bytes) -> Source:
    """Return the JSON values of a text.

    Lines that cannot be read become problems, as long as others can.

    Raises:
        DecodeError: when the text as a whole is not JSON, with the place.
    """
    words = _words(text)
    style = style_of(words)
    try:
        value: object = json.loads(words)
    except RecursionError:
        raise DecodeError("json", "line 1", "the values are nested too deeply") from None
    except json.JSONDecodeError as error:
        return _lines(words, style, error)
    except ValueError as error:
        raise DecodeError("json", "the file", _TOO_LONG) from error
    if is_array(value):
        elements = enumerate(value, 1)
        return Source("array", tuple(Record(place, each) for place, each in elements), style)
    return Source("object", (Record(1, value),), style)


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


def _words(text: str | bytes) -> str:
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
    return text


def _lines(text: str, style: Style, error: json.JSONDecodeError) -> Source:
    """Read a value a line; a text whose lines are mostly not JSON was one broken document."""
    records: list[Record] = []
    problems: list[Problem] = []
    for found in _scan(text):
        if isinstance(found, Record):
            records.append(found)
        else:
            problems.append(found)
    whole = sum(is_object(record.value) for record in records)
    if not whole or whole < len(problems):
        place = f"line {error.lineno} column {error.colno}"
        raise DecodeError("json", place, f"{error.msg}; {_EXPECTED}") from error
    return Source("lines", tuple(records), style, tuple(problems))


def _scan(text: str) -> Iterator[Record | Problem]:
    # Only a line feed ends a line: U+2028 and its kin stand inside strings.
    start, line = 0, 1
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        # Files that were put together have a mark where each of them began.
        yield from values_in(text[start:end].strip().lstrip("\ufeff"), line)
        start, line = end + 1, line + 1


def values_in(line: str, number: int) -> Iterator[Record | Problem]:
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
        yield Record(number, value)
        while position < len(line) and line[position].isspace():
            position += 1
