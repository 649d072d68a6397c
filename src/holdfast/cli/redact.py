"""`holdfast redact`: masks secrets in a text of any size, block by block."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from holdfast.cli.files import PIPE, input_stream, refused
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import output_bytes, show_json
from holdfast.config import load
from holdfast.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLOCK_SIZE = 4 << 20
_LONGEST_KEY = 128 << 10
"""An opened key that does not end within this many bytes is text about keys."""
_NEIGHBORHOOD = 64 << 10
"""How far back a quiet place for a cut is looked for."""
_BEGIN = re.compile(rb"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_END = re.compile(rb"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_QUIET = re.compile(rb"(?<=[^\s:=,\\({\[|>\"'])[ \t]{0,8}\r?\n(?=[^\s\"'}\])]|\r?\n)")
"""The end of a line that promises nothing, before a line that continues nothing."""


@click.command(
    "redact",
    epilog=examples(
        "holdfast redact < server.log",
        "holdfast redact settings.py --code",
        "kubectl logs api | holdfast redact - > shareable.log",
    ),
)
@click.argument("file", default=PIPE)
@click.option(
    "--code",
    is_flag=True,
    help="The text is source code, where a name and a value make no secret.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the text, and if it changed.")
def command(file: str, *, code: bool, as_json: bool) -> Exit:
    """Mask the secrets in a text.

    FILE is a file or - for standard input, which is the default. Everything that is no secret
    comes out as it went in, byte for byte, also bytes that are not UTF-8. Patterns of your own
    go into the setting redaction.extra_patterns.
    """
    redactor = Redactor(load(os.environ).settings.redaction.extra_patterns)
    if as_json:
        before = b"".join(_read(file))
        after = _masked(redactor, before, code=code)
        show_json({"text": after.decode("utf-8", "replace"), "changed": after != before})
        return Exit.DONE
    output = output_bytes()
    for block in blocks(_read(file)):
        output.write(_masked(redactor, block, code=code))
    output.flush()
    return Exit.DONE


def _read(name: str) -> Iterator[bytes]:
    with input_stream(name) as stream:
        try:
            while piece := stream.read(1 << 20):
                yield piece
        except OSError as error:
            raise refused("read", name, error) from error


def _masked(redactor: Redactor, block: bytes, *, code: bool) -> bytes:
    text = block.decode("utf-8", "surrogateescape")
    return redactor.redact(text, code_file=code).encode("utf-8", "surrogateescape")


def blocks(pieces: Iterable[bytes], size: int = _BLOCK_SIZE) -> Iterator[bytes]:
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
