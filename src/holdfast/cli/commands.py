"""What every command has: exit codes, examples in its help, a lazy group, commands to type next."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from holdfast.config import Settings

__all__ = ["Exit", "LazyGroup", "as_typed", "examples", "to_type"]

_AS_IT_STANDS = "\b"
"""Tells click not to wrap the paragraph that follows."""
_NAME = "holdfast"
_MENTIONED = re.compile(rf"(?<![\w/.-]){_NAME} (?=[a-z]+)")


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


def to_type(arguments: str, settings: Settings) -> str:
    """Return a command on the same store as a line that works in the shell that began this one.

    Whoever began it may have set the home directory for it alone, as `make run` does.
    """
    home, store = os.environ.get("HOLDFAST_HOME", ""), settings.store
    words = [f"HOLDFAST_HOME={shlex.quote(home)}"] if home and os.name == "posix" else []
    words += [_own_command(), arguments]
    words += [f"--store {shlex.quote(store.url)}"] if store.url != "sqlite" else []
    words += [f"--profile {shlex.quote(store.profile)}"] if store.profile != "default" else []
    return " ".join(words)


def as_typed(text: str) -> str:
    """Return a text with the commands in it as they can be typed here."""
    return _MENTIONED.sub(lambda _: f"{_own_command()} ", text)


def _own_command() -> str:
    """Return what runs this installation in a shell here: our name, where the path leads to it."""
    script = Path(sys.executable).with_name(f"{_NAME}.exe" if os.name == "nt" else _NAME)
    found = shutil.which(_NAME)
    for each in (script, Path(sys.argv[0])):
        if found and each.is_file() and os.path.samefile(found, each):
            return _NAME
    if not script.is_file():
        return f"{shlex.quote(sys.executable)} -m {_NAME}"
    near = script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script
    return shlex.quote(str(near))


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
