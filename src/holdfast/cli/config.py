"""`holdfast config`: which settings hold, where each came from, and a file to edit."""

from __future__ import annotations

import json
import os

import click

from holdfast.cli.flags import json_flag
from holdfast.cli.root import as_typed, examples
from holdfast.cli.screen import Styled, screen, show_json, table
from holdfast.config import Default, Setting, config_file, load, write_template
from holdfast.redaction import redact


@click.group("config", epilog=examples("holdfast config init", "holdfast config show"))
def command() -> None:
    """Show the settings, or write a file to edit.

    Settings come from config.yaml in the home directory (HOLDFAST_HOME, else the platform's
    place), then from environment variables such as HOLDFAST_COMPRESSION_THRESHOLD, then from
    flags; the later wins.
    """


@command.command(
    "show",
    epilog=examples(
        "holdfast config show", "HOLDFAST_COMPRESSION_THRESHOLD=0.7 holdfast config show --json"
    ),
)
@json_flag
def show(*, as_json: bool) -> None:
    """Show every setting and where its value came from."""
    configuration = load(os.environ)
    chosen = list(configuration.chosen.values())
    if as_json:
        values = {
            each.path: {
                "value": json.loads(_value(each)),
                "from": each.origin.kind,
                "where": str(each.origin),
            }
            for each in chosen
        }
        show_json({"file": str(configuration.file), "settings": values})
        return
    view = screen()
    rows = [("setting", "value", "from")]
    rows += [(each.path, _value(each), str(each.origin)) for each in chosen]
    heading, *lines = table(rows, view.width, right=frozenset())
    styled = [
        tuple(Styled(span.text, "dim" if isinstance(each.origin, Default) else "") for span in line)
        for line, each in zip(lines, chosen, strict=True)
    ]
    exists = config_file(os.environ).exists()
    absence = "" if exists else as_typed(" (not there; holdfast config init writes it)")
    view.show([(Styled(f"file: {configuration.file}{absence}"),), heading, *styled])


@command.command(
    "path", epilog=examples("holdfast config path", '$EDITOR "$(holdfast config path)"')
)
@json_flag
def path(*, as_json: bool) -> None:
    """Print where the configuration file is, or would be."""
    file = config_file(os.environ)
    if as_json:
        show_json({"path": str(file), "exists": file.exists()})
    else:
        screen().show([(Styled(str(file)),)])


@command.command(
    "init",
    epilog=examples(
        "holdfast config init", "HOLDFAST_HOME=./settings holdfast config init --force"
    ),
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
@json_flag
def init(*, force: bool, as_json: bool) -> None:
    """Write a configuration file with every key explained.

    The file is readable by its owner only.
    """
    file = config_file(os.environ)
    write_template(file, force=force)
    if as_json:
        show_json({"path": str(file)})
    else:
        screen().show([(Styled(f"wrote {file}"),)])


def _value(setting: Setting) -> str:
    # An address may carry a credential.
    return redact(json.dumps(setting.value, ensure_ascii=False))
