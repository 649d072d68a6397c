"""Prefix hashes: digests that fix a message and everything that was told before it.

An import knows by them how much of a file is stored already; a stored message keeps its own as
`mark`. Only what was said goes into them: what a later version of a reader learns to keep beside it
must not make old imports look different.
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
    from holdfast.formats.events import MessageEvent
    from holdfast.transcript import Part

__all__ = ["EMPTY_PREFIX", "prefix_hash"]

EMPTY_PREFIX = ""
"""The prefix hash before the first message."""
_BYTES = 12


def prefix_hash(mark: str, told: MessageEvent) -> str:
    """Return the hash of a message and of all before it, which `mark` is the hash of."""
    pieces: list[str] = [mark, told.native.id, told.message.role]
    for part in told.message.parts:
        _add(part, pieces)
    # The lengths keep two texts apart from one that holds both.
    sizes = ",".join([str(len(piece)) for piece in pieces])
    written = (sizes + "".join(pieces)).encode("utf-8", "surrogatepass")
    return blake2b(written, digest_size=_BYTES).hexdigest()


def _add(part: Part, pieces: list[str]) -> None:
    pieces.append(type(part).__name__)
    match part:
        case Text() | Thinking() | Summary() | Recalled():
            pieces.append(part.text)
        case ToolResult():
            pieces += (part.call_id, str(part.is_error))
            for piece in part.content:
                _add(piece, pieces)
        case ToolCall():
            pieces += (part.id, part.name, part.arguments)
        case Media():
            pieces += (part.media_type, part.data, part.url)
        case Opaque():
            pieces.append(json.dumps(part.value, sort_keys=True, default=str))
        case _:
            assert_never(part)
