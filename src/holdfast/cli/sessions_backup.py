"""`holdfast sessions backup`: a copy of everything, taken while others go on."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast.cli.consent import agreed, yes_flag
from holdfast.cli.desk import Desk, at_desk
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.lines import Span
from holdfast.cli.streams import Unusable
from holdfast.ports import file_upkeep

__all__ = ["backup_command"]


@click.command(
    "backup",
    epilog=examples(
        "holdfast sessions backup sessions.db", "holdfast sessions backup ~/backups/work.db --yes"
    ),
)
@click.argument("file")
@yes_flag
@at_desk
def backup_command(desk: Desk, file: str, *, yes: bool) -> Exit:
    """Write a copy of the store while it is in use.

    FILE appears whole or not at all, readable by its owner only. It is a store like any other: set
    store.url to it to look inside. A file that exists is replaced after asking.
    """
    target = Path(file).expanduser()
    if target.is_dir():
        raise Unusable(f"{target} is a folder; name a file in it")
    if target.is_file() and not agreed(f"{target} exists. Replace it?", yes=yes):
        return Exit.NOTHING_TO_DO
    file_upkeep(desk.store, desk.store.name).backup(target)
    size = target.stat().st_size
    words = f"copied {desk.store.name} to {target} ({size:,} bytes)"
    desk.answer({"file": str(target), "bytes": size}, lambda _: [(Span(words),)])
    return Exit.DONE
