"""`holdfast memory path`: where the files are, for an editor or a backup."""

from __future__ import annotations

import click

from holdfast.cli.commands import examples
from holdfast.cli.lines import Span
from holdfast.cli.memory_desk import OpenMemory, target_flag, with_memory
from holdfast.memory import NOTEBOOKS

__all__ = ["path_command"]


@click.command(
    "path",
    epilog=examples("holdfast memory path", '$EDITOR "$(holdfast memory path --target user)"'),
)
@target_flag
@with_memory
def path_command(opened: OpenMemory, *, target: str) -> None:
    """Print where the memory files are, or would be.

    They are yours to edit: an entry is a paragraph or an item of a list, or what stands between
    lines with nothing but a section sign.
    """
    file = opened.files.path(NOTEBOOKS[target])
    opened.answer({"path": str(file), "exists": file.exists()}, lambda _: [(Span(str(file)),)])
