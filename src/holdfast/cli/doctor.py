"""`holdfast doctor`: is everything in place, and if not, what to do."""

from __future__ import annotations

import os
from dataclasses import asdict

import click

from holdfast.cli.checks import State, checks
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.lines import Line, Span
from holdfast.cli.screen import screen, show_json

__all__ = ["command"]

_STYLES = {State.OK: "bold green", State.WARN: "bold yellow", State.FAIL: "bold red"}


@click.command("doctor", epilog=examples("holdfast doctor", "holdfast doctor --json"))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, as_json: bool) -> Exit:
    """Check that everything is in place.

    Nothing is sent anywhere, and no credential is shown. The exit code is 1 when a check fails.
    """
    found = checks(os.environ)
    healthy = not any(each.state is State.FAIL for each in found)
    if as_json:
        show_json({"healthy": healthy, "checks": [asdict(each) for each in found]})
        return Exit.DONE if healthy else Exit.FAILED
    lines: list[Line] = []
    for each in found:
        lines.append(
            (Span(f"{each.state:<5}", _STYLES[each.state]), Span(f"{each.name}: {each.words}"))
        )
        if each.advice:
            lines.append((Span(f"     {each.advice}", "dim"),))
    screen().show(lines)
    return Exit.DONE if healthy else Exit.FAILED
