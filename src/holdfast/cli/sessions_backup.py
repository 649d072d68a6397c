"""`holdfast sessions backup`: a copy of everything, taken while others go on."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.flags import agreed, yes_flag
from holdfast.cli.lines import Span
from holdfast.cli.screen import Unusable
from holdfast.cli.store import OpenStore, with_store

__all__ = ["backup_command"]


@click.command(
    "backup",
    epilog=examples(
        "holdfast sessions backup sessions.db", "holdfast sessions backup ~/backups/work.db --yes"
    ),
)
@click.argument("file")
@yes_flag
@with_store
def backup_command(opened: OpenStore, file: str, *, yes: bool) -> Exit:
    """Write a copy of the store while it is in use.

    FILE appears whole or not at all, readable by its owner only. It is a store like any other: set
    store.url to it to look inside. A file that exists is replaced after asking.
    """
    target = Path(file).expanduser()
    if target.is_dir():
        raise Unusable(f"{target} is a folder; name a file in it")
    if target.is_file() and not agreed(f"{target} exists. Replace it?", yes=yes):
        return Exit.NOTHING_TO_DO
    opened.store.backup(target)
    size = target.stat().st_size
    words = f"copied {opened.store.name} to {target} ({size:,} bytes)"
    opened.answer({"file": str(target), "bytes": size}, lambda _: [(Span(words),)])
    return Exit.DONE
