"""The newest state of a chat of Cursor's command line: which messages the model sees, in order.

It is written in protobuf and has no schema that anybody published. Two fields are known from what
stands in them: the names of the messages, and the folder that the agent works in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Root", "root_of"]

_MESSAGE = 1
_FOLDER = 9
_NAME_SIZE = 32
_FILE = "file://"
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST = 10
"""How many bytes a number has at most."""


@dataclass(frozen=True, slots=True)
class Root:
    """What is known of a state."""

    messages: tuple[str, ...]
    """The names of the messages, as the table has them."""
    cwd: str


def root_of(content: bytes) -> Root:
    """Return what a state says, as far as it can be read."""
    names: list[str] = []
    cwd = ""
    for field, value in _fields(content):
        if field == _MESSAGE and len(value) == _NAME_SIZE:
            names.append(value.hex())
        elif field == _FOLDER and not cwd:
            text = value.decode("utf-8", "replace")
            cwd = unquote(text.removeprefix(_FILE)) if text.startswith(_FILE) else ""
    return Root(tuple(names), cwd)


def _fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the fields that hold bytes; nothing more after what is no protobuf."""
    at = 0
    while at < len(content):
        tag, at = _number(content, at)
        kind = tag & 7
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(kind, 0)
        if kind == _VARINT:
            _, at = _number(content, at)
        elif kind == _BYTES:
            size, at = _number(content, at)
        elif not size:
            return
        if at + size > len(content):
            return
        if kind == _BYTES:
            yield tag >> 3, content[at : at + size]
        at += size


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Return a number and where it ends; where none ends, one that ends everything."""
    value = 0
    for place, byte in enumerate(content[at : at + _LONGEST]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    return 7, len(content)
