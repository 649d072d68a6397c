"""`holdfast inspect`: where the context went, and what a compaction would do about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.desk import opened_desk
from holdfast.cli.examples import examples
from holdfast.cli.files import about
from holdfast.cli.flags import configuration, conversation_flag, profile_flag, setting_flags
from holdfast.cli.inspection_view import drawn
from holdfast.cli.reading import open_input
from holdfast.cli.screen import screen, show_json
from holdfast.formats import FORMATS
from holdfast.redaction import Redactor
from holdfast.views.inspection import inspect_document, stored_document
from holdfast.views.sessions import find_session, is_session_name
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.formats import Document

__all__ = ["command"]


class _Options(TypedDict):
    file: str
    format_name: str
    fit: int | None
    top: int
    messages: bool
    as_json: bool
    conversation: int | None


@click.command(
    "inspect",
    epilog=examples(
        "holdfast inspect session.json",
        "holdfast inspect session.json --context-length 128000 --messages",
        "holdfast inspect last",
        "holdfast inspect ~/.codex/sessions/rollout.jsonl --json",
    ),
)
@click.argument("file", metavar="FILE|SESSION")
@click.option(
    "--format",
    "format_name",
    default="auto",
    type=click.Choice(["auto", *FORMATS]),
    metavar="FORMAT",
    help="The format of the file; see holdfast formats.",
)
@conversation_flag
@setting_flags
@profile_flag
@click.option("--fit", type=click.IntRange(min=1), metavar="N", help="Ask about a fit of N tokens.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="How many of the heaviest messages to list.",
)
@click.option("--messages", is_flag=True, help="List every message, one line each.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(**options: Unpack[_Options]) -> None:
    """Show where the context went, drawn to scale.

    The first bar is the window with everything in it, the second the conversation from its
    beginning to its end, and below it what a compaction would fold. FILE is a transcript in any
    known format, or - for standard input. SESSION is the id of a stored session or the beginning
    of one, or last: then its window is shown. Nothing is changed.
    """
    settings: Settings = configuration(options).settings
    name, document = _document(options, settings)
    with about(name):
        policy = policy_of(settings, fit=options["fit"])
        redactor = Redactor(settings.redaction.extra_patterns)
        found = inspect_document(name, document, policy, counter_of(settings), redactor.redact)
    if options["as_json"]:
        show_json(found.as_json(top=options["top"], messages=options["messages"]))
        return
    view = screen()
    view.show(drawn(found, view, top=options["top"], messages=options["messages"]))


def _document(options: _Options, settings: Settings) -> tuple[str, Document]:
    """Return the file, or the window of the stored session, with the name it goes by."""
    name = options["file"]
    if is_session_name(name) and not Path(name).exists():
        with opened_desk(settings, as_json=options["as_json"]) as desk:
            session = find_session(desk.store, name)
            return session.id, stored_document(desk.store.window(session.id).transcript)
    source = open_input(name, options["format_name"])
    with about(source.name):
        return source.name, source.document(options["format_name"], options["conversation"])
