"""Asks before anything is taken away, and refuses where nobody can be asked."""

from __future__ import annotations

import sys

import click

from holdfast.cli.screen import tell

__all__ = ["agreed", "yes_flag"]

yes_flag = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def agreed(*questions: str, yes: bool) -> bool:
    """Ask each question, and say whether all were answered with yes.

    Raises:
        click.UsageError: when there is no terminal to ask on and `--yes` was not given.
    """
    if yes:
        return True
    # The interpreter has None for a standard input that was closed at its start.
    if not (sys.stdin and sys.stdin.isatty()):
        raise click.UsageError("nobody can be asked here; say --yes to go ahead")
    if all(click.confirm(each, err=True) for each in questions):
        return True
    tell("nothing was done")
    return False
