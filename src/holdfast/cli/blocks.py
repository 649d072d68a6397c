"""Cuts a stream of bytes into blocks that can be redacted one by one.

A cut must not part a secret: it falls between lines, not inside the armor of a private key, and
not between a name and a value on the line below it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["blocks"]

_BLOCK = 4 << 20
_LONGEST_KEY = 128 << 10
"""An opened key that does not end within this many bytes is text about keys."""
_NEIGHBORHOOD = 64 << 10
"""How far back a quiet place for a cut is looked for."""

_BEGIN = re.compile(rb"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_END = re.compile(rb"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_QUIET = re.compile(rb"(?<=[^\s:=,\\({\[|>\"'])[ \t]{0,8}\r?\n(?=[^\s\"'}\])]|\r?\n)")
"""The end of a line that promises nothing, before a line that continues nothing."""


def blocks(pieces: Iterable[bytes], size: int = _BLOCK) -> Iterator[bytes]:
    """Yield the bytes of the pieces in blocks of about `size`; joined they are what came in.

    A line longer than a block stays whole.
    """
    held = bytearray()
    for piece in pieces:
        held += piece
        # Looked for in what is new only: a line without an end must not be searched again.
        if len(held) < size or (b"\n" not in piece and len(held) > 2 * size):
            continue
        cut = _cut(held)
        if cut:
            yield bytes(held[:cut])
            del held[:cut]
    if held:
        yield bytes(held)


def _cut(held: bytearray) -> int:
    """Return where the bytes may be cut, or 0 when they may not."""
    opened = max(
        (found.span() for found in _BEGIN.finditer(held, max(len(held) - _LONGEST_KEY, 0))),
        default=None,
    )
    if opened is None:
        return _between_lines(held, 0)
    closed = _END.search(held, opened[1])
    line_end = held.find(b"\n", closed.end()) if closed else -1
    if line_end < 0:
        # The key has not ended yet: it begins the next block.
        return held.rfind(b"\n", 0, opened[0]) + 1
    return _between_lines(held, line_end + 1)


def _between_lines(held: bytearray, first: int) -> int:
    """Return the last place between lines, from `first` on, that parts nothing if it can."""
    start = max(len(held) - _NEIGHBORHOOD, first)
    quiet = max((found.end() for found in _QUIET.finditer(held, start)), default=0)
    return quiet or max(held.rfind(b"\n") + 1, first)
