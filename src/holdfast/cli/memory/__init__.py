"""`holdfast memory`: what is remembered beyond one conversation, to look at and to edit."""

from __future__ import annotations

from importlib import import_module
from typing import cast

import click

from holdfast.cli.root import LazyGroup, examples

__all__ = ["SUBCOMMANDS", "command"]

SUBCOMMANDS = {
    "show": "Show what is remembered, and where it comes from.",
    "add": "Remember something in every session to come.",
    "replace": "Put another entry in the place of one.",
    "remove": "Forget an entry.",
    "path": "Print where the memory files are, or would be.",
}
"""Each command with its line in the overview; a command is imported when it is run."""


def _load(name: str) -> click.Command:
    module = import_module("holdfast.cli.memory.commands")
    return cast("click.Command", getattr(module, f"{name}_command"))


@click.group(
    "memory",
    cls=LazyGroup,
    lines=SUBCOMMANDS,
    load=_load,
    epilog=examples(
        "holdfast memory show",
        'holdfast memory add "The staging port is 8443"',
        'holdfast memory add --target user "Prefers short answers"',
    ),
)
def command() -> None:
    """Look at what is remembered, and edit it.

    MEMORY.md holds notes about work, USER.md what is known of you. Both stand in the system prompt
    of every session; a session that is under way goes on with what it began with.
    """
