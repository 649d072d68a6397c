"""Bytes made smaller where that pays, in a form that plain zlib reads."""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import StoreDamaged

if TYPE_CHECKING:
    from collections.abc import Callable

RAW = b"r"
"""Stands in front of what was not made smaller."""
_DEFLATED = b"d"
WORTH_SQUEEZING = 512
"""Bytes from which compressing pays: below, it takes longer than all the rest of an append."""
_WINDOW_BITS = -15
"""Bare deflate: the store has checksums of its own."""
_DICTIONARY = (
    b'{"k":"call","id":"toolu_call_","name":"read_file","arguments":"{\\"path\\": \\"/src/'
    b'{"k":"result","call_id":"call_","content":[{"k":"text","text":"'
    b'"extras":{"openai":{}},"form":"string","is_error":true,"thinking","signature":"'
    b"Traceback (most recent call last):\n  File error: failed warning: exception "
    b"def class import return self None True False function const export from the "
    b"and that with this for you are not have please should would test tests passed "
)
"""Primes the compressor with what messages of agents are full of; part of the layout `d`."""


class _Compressor(Protocol):
    """Compresses one content."""

    def compress(self, content: bytes, /) -> bytes:
        """Return what can be written so far."""
        ...

    def flush(self) -> bytes:
        """Return the rest."""
        ...


def _compressors() -> Callable[[], _Compressor]:
    """Return what makes compressors: the fastest that is installed."""
    try:
        from isal import isal_zlib
    except ImportError:
        # Level 4 takes a quarter less time than the usual 6, and 1 to 3 % more room.
        return partial(zlib.compressobj, 4, zlib.DEFLATED, _WINDOW_BITS, zdict=_DICTIONARY)
    # Level 1 takes a third of that time and 2 to 6 % more room. By name: its type is half known.
    make: Callable[..., _Compressor] = vars(isal_zlib)["compressobj"]
    return partial(make, 1, zlib.DEFLATED, _WINDOW_BITS, zdict=_DICTIONARY)


_new_compressor = _compressors()


def squeeze(content: bytes) -> bytes:
    """Return the content compressed where that pays, with a byte in front that says whether."""
    if len(content) >= WORTH_SQUEEZING:
        compressor = _new_compressor()
        smaller = compressor.compress(content) + compressor.flush()
        if len(smaller) < len(content):
            return _DEFLATED + smaller
    return RAW + content


def unsqueeze(stored: bytes) -> bytes:
    """Return what was squeezed.

    Raises:
        StoreDamaged: when the bytes are none that any version has written.
    """
    layout, content = stored[:1], stored[1:]
    if layout == RAW:
        return content
    if layout != _DEFLATED:
        raise StoreDamaged(f"stored bytes have the unknown layout {layout!r}")
    expander = zlib.decompressobj(_WINDOW_BITS, zdict=_DICTIONARY)
    try:
        expanded = expander.decompress(content)
        return expanded if expander.eof else expanded + expander.flush()
    except zlib.error as error:
        raise StoreDamaged(f"stored bytes cannot be expanded: {error}") from error
