"""The standard streams of the process, any of which whoever started it may have closed."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

__all__ = [
    "Unusable",
    "error_text",
    "flush_output",
    "forgive",
    "input_bytes",
    "output_bytes",
    "output_text",
]


class Unusable(HoldfastError):
    """A file or a stream cannot be used; the message names it and says why."""


def input_bytes() -> BinaryIO:
    """Return standard input.

    Raises:
        Unusable: when it is closed.
    """
    stream = _present(sys.stdin)
    if stream is None:
        raise Unusable("cannot read standard input: it is closed")
    return stream.buffer


def output_bytes() -> BinaryIO:
    """Return standard output for bytes.

    Raises:
        Unusable: when it is closed.
    """
    return output_text().buffer


def output_text() -> TextIO:
    """Return standard output for text.

    Raises:
        Unusable: when it is closed.
    """
    stream = _present(sys.stdout)
    if stream is None:
        raise Unusable("cannot write standard output: it is closed")
    return stream


def error_text() -> TextIO | None:
    """Return standard error, or None when it is closed: then nobody wants to be told."""
    return _present(sys.stderr)


def flush_output() -> None:
    """Write out what is still held, so that a full disk is noticed while it can be told."""
    stream = _present(sys.stdout)
    if stream is not None:
        stream.flush()


def forgive() -> None:
    """Let a terminal that cannot show a character show a question mark, and go on."""
    for stream in (_present(sys.stdout), _present(sys.stderr)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _present(stream: TextIO | None) -> TextIO | None:
    """Return the stream; the interpreter has None for one that was closed at its start."""
    return stream
