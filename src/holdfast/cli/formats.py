"""`holdfast formats`: which files can be read, and which can be written."""

from __future__ import annotations

import click

from holdfast.cli.examples import examples
from holdfast.cli.lines import table
from holdfast.cli.screen import screen, show_json
from holdfast.formats import FORMATS

__all__ = ["command"]


@click.command("formats", epilog=examples("holdfast formats", "holdfast formats --json"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> None:
    """List the formats that can be read and written.

    The format of a file is recognized by its content; --format overrides that. A format that
    cannot be written is written as openai, or as --to says.
    """
    if as_json:
        show_json(
            [
                {
                    "name": each.name,
                    "description": each.description,
                    "dialect": each.dialect,
                    "writable": each.writable,
                }
                for each in FORMATS.values()
            ]
        )
        return
    rows = [("format", "reads", "writes", "what it is")]
    rows += [
        (each.name, "yes", "yes" if each.writable else "no", each.description)
        for each in FORMATS.values()
    ]
    view = screen()
    view.show(table(rows, view.width, right=frozenset()))
