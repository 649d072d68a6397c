"""Reading the JSON that a model wrote into its text.

Strict JSON comes first, then the slips that models make: a comma too many, brackets left open,
Python's quotes and constants, words around the object. Anything else is not an object.
"""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from holdfast.wire.fields import Wire

__all__ = ["read_object"]

_CLOSERS = {"{": "}", "[": "]"}
_DECODER = json.JSONDecoder()


def read_object(text: str) -> Wire | None:
    """Return the object in the text, or nothing when there is none to be sure of."""
    start = text.find("{")
    if start < 0:
        return None
    found = _first(text[start:])
    return cast("Wire", found) if isinstance(found, dict) else None


def _first(text: str) -> object:
    try:
        return _DECODER.raw_decode(text)[0]
    except ValueError:
        pass
    mended = _mended(text)
    try:
        return json.loads(mended)
    except ValueError:
        pass
    try:
        return ast.literal_eval(mended)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _mended(text: str) -> str:
    """Return the first object of the text with stray commas dropped and open brackets closed."""
    kept: list[str] = []
    open_: list[str] = []
    quote = ""
    escaped = False
    for letter in text:
        if quote:
            kept.append(letter)
            if not escaped and letter == quote:
                quote = ""
            escaped = not escaped and letter == "\\"
            continue
        if letter in "\"'":
            quote = letter
        elif letter in _CLOSERS:
            open_.append(_CLOSERS[letter])
        elif letter in "}]":
            _drop_comma(kept)
            if not open_ or open_.pop() != letter:
                break
        kept.append(letter)
        if not open_:
            break
    kept.append(quote)
    _drop_comma(kept)
    return "".join(kept) + "".join(reversed(open_))


def _drop_comma(kept: list[str]) -> None:
    while kept and (kept[-1].isspace() or not kept[-1]):
        kept.pop()
    if kept and kept[-1] == ",":
        kept.pop()
