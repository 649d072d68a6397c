"""`holdfast redact`: masks secrets in a text of any size, block by block."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.cli.blocks import blocks
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.files import PIPE, input_stream, refused
from holdfast.cli.screen import show_json
from holdfast.cli.streams import output_bytes
from holdfast.config import load
from holdfast.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]


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
