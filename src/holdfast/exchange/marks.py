"""Marks: digests that fix a message and everything told before it.

They are how an import knows what of a file is stored already. Only what was said goes into them:
what a later version of a reader learns to keep beside it must not make old imports look different.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, assert_never

from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.chronicle import Told
    from holdfast.transcript import Part

__all__ = ["BEGINNING", "mark_after"]

BEGINNING = ""
"""The mark before anything was told."""
_BYTES = 12


def mark_after(mark: str, told: Told) -> str:
    """Return the mark of a message that follows the one with the given mark."""
    pieces = [mark, told.native.id, told.message.role]
    for part in told.message.parts:
        pieces += _pieces(part)
    # The lengths keep two texts apart from one that holds both.
    sizes = ",".join([str(len(piece)) for piece in pieces])
    written = "".join([sizes, *pieces]).encode("utf-8", "surrogatepass")
    return blake2b(written, digest_size=_BYTES).hexdigest()


def _pieces(part: Part) -> Iterator[str]:
    yield type(part).__name__
    match part:
        case Text(text) | Thinking(text) | Summary(text) | Recalled(text):
            yield text
        case ToolCall(id_, name, arguments):
            yield from (id_, name, arguments)
        case ToolResult():
            yield from (part.call_id, str(part.is_error))
            for piece in part.content:
                yield from _pieces(piece)
        case Media():
            yield from (part.media_type, part.data, part.url)
        case Opaque():
            yield json.dumps(part.value, sort_keys=True, default=str)
        case _:
            assert_never(part)
