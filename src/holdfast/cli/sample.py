"""`holdfast sample`: what the product does, on a session that comes with it.

Also run as `python -m holdfast.cli.sample`. The session was written for this purpose: an agent
moves a billing service onto one retry policy, over more than two hundred messages.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import click

from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.sample_view import Showing, drawn
from holdfast.cli.screen import screen, show_json
from holdfast.config import Settings
from holdfast.config.settings import ModelSettings
from holdfast.formats import read
from holdfast.wiring import engine_of

if TYPE_CHECKING:
    from holdfast.transcript import Transcript

__all__ = ["command", "sample_session"]

_WINDOW = 40_000
"""A small window, so that the session is due: agents fill one of 200,000 the same way."""


@click.command("sample", epilog=examples("holdfast sample", "holdfast sample --full | less"))
@click.option("--full", is_flag=True, help="Show the whole record.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(*, full: bool, as_json: bool) -> Exit:
    """Compact a bundled session, and show what happened.

    The session is that of an agent at work on a billing service. No model is asked and no
    setting is read, so the result is the same everywhere.
    """
    engine = engine_of(Settings(model=ModelSettings(context_length=_WINDOW)))
    before = sample_session()
    report = engine.compact(before)
    if as_json:
        show_json(report.as_json())
        return Exit.DONE
    view = screen()
    view.show(drawn(Showing(before, report, engine.policy), view, full=full))
    return Exit.DONE


def sample_session() -> Transcript:
    """Return the bundled session."""
    content = files("holdfast.cli").joinpath("sample_session.json").read_bytes()
    return read(content, format="openai").transcript


if __name__ == "__main__":
    from holdfast.cli.root import root

    root(["sample"])
