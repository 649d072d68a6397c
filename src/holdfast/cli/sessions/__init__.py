"""`holdfast sessions`: everything one can do with stored conversations, one command each."""

from __future__ import annotations

from importlib import import_module
from typing import cast

import click

from holdfast.cli.root import LazyGroup, examples

__all__ = ["SUBCOMMANDS", "command"]

_MODULES = {
    "list": "listing",
    "show": "show",
    "tree": "tree",
    "export": "export",
    "send": "export",
    "compress": "changes",
    "undo": "changes",
    "redo": "changes",
    "rewind": "changes",
    "diff": "tree",
    "fork": "changes",
    "end": "changes",
    "rename": "changes",
    "goal": "changes",
    "pin": "changes",
    "delete": "listing",
    "restore": "listing",
    "prune": "listing",
    "backup": "listing",
}
SUBCOMMANDS = {
    "list": "List conversations, newest first.",
    "show": "Show a session: its window to scale, and its messages.",
    "tree": "Draw the sessions that came from one another.",
    "export": "Write a session in another format, or sessions as a training file.",
    "send": "Put a session where another agent finds it, and say how to go on there.",
    "compress": "Compact the window of a stored session now.",
    "undo": "Take the newest compaction or rewind back.",
    "redo": "Bring back what an undo took away.",
    "rewind": "Take the last turns out of the window.",
    "diff": "Show what a compaction did to the window.",
    "fork": "Begin a session that shares what was said so far.",
    "end": "End a session; opening it again takes that back.",
    "rename": "Give a session another title.",
    "goal": "Show, set or clear the goal of a session.",
    "pin": "Keep a message word for word in every compaction.",
    "delete": "Put a session into the trash.",
    "restore": "Take a session out of the trash.",
    "prune": "Put old conversations into the trash, or empty it.",
    "backup": "Write a copy of the store while it is in use.",
}
"""Each command with its line in the overview; a command is imported when it is run."""


def _load(name: str) -> click.Command:
    module = import_module(f"holdfast.cli.sessions.{_MODULES[name]}")
    return cast("click.Command", getattr(module, f"{name}_command"))


@click.group(
    "sessions",
    cls=LazyGroup,
    lines=SUBCOMMANDS,
    load=_load,
    epilog=examples(
        "holdfast sessions list",
        "holdfast sessions show last",
        "holdfast sessions diff 20261116_0930",
    ),
)
def command() -> None:
    """Look at stored conversations, and care for them.

    ID is the id of a session, the beginning or the random end of one if only one session has it,
    or last for the one that was used last. Sessions are kept in the store that the settings
    store.url and store.profile name, or the flags --store and --profile.
    """
