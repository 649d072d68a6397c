"""What every command has: an exit code, examples at the end of its help, a lazy group."""

from __future__ import annotations

import difflib
from enum import IntEnum
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["Exit", "LazyGroup", "examples"]

_AS_IT_STANDS = "\b"
"""Tells click not to wrap the paragraph that follows."""


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOTHING_TO_DO = 3
    INTERRUPTED = 130


def examples(*commands: str) -> str:
    """Return the examples as the end of a help text."""
    return "\n".join([_AS_IT_STANDS, "Examples:", *(f"  {each}" for each in commands)])


class LazyGroup(click.Group):
    """Lists commands by their lines and imports one when it is run."""

    def __init__(
        self,
        *args: Any,
        lines: Mapping[str, str],
        load: Callable[[str], click.Command],
        **extra: Any,
    ) -> None:
        """Take the commands with their lines in the overview, and what imports one by name."""
        super().__init__(*args, **extra)
        self.lines = lines
        self.load = load

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order in which a person meets them."""
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        return self.load(cmd_name) if cmd_name in self.lines else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and name the nearest one when there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = difflib.get_close_matches(args[0], list(self.lines), 1)
            if not close:
                raise
            hint = f"there is no command {args[0]!r}; did you mean {close[0]}?"
            raise click.UsageError(hint, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))
