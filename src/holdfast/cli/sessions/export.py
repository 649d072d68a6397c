"""`holdfast sessions export`: a stored session as a request to a provider, or to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from holdfast.cli.commands import Exit, examples
from holdfast.cli.files import PIPE, write_pieces
from holdfast.cli.flags import configuration, json_flag, profile_flag
from holdfast.cli.screen import show_json, tell
from holdfast.cli.sessions.training import (
    TrainingFlags,
    check_format,
    export_for_training,
    training_flags,
)
from holdfast.cli.store import NoSessions, opened_store
from holdfast.views.export import EXPORTERS, ExportRequest
from holdfast.views.sessions import find_session
from holdfast.views.words import counted
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from typing import Unpack

    from holdfast.cli.store import OpenStore
    from holdfast.config import Setting

__all__ = ["export_command"]


class _Options(TrainingFlags):
    name: str | None
    format_name: str
    output: str
    log: bool | None
    for_training: bool


@click.command(
    "export",
    epilog=examples(
        "holdfast sessions export last --format html -o session.html",
        "holdfast sessions export 20261116_0930 --format anthropic > request.json",
        "holdfast sessions export last --format claude-code -o session.jsonl",
        "holdfast sessions export last --format markdown | less",
        "holdfast sessions export --for-training --split 95/5 -o train.jsonl",
    ),
)
@click.argument("name", metavar="[ID]", required=False)
@click.option(
    "--format",
    "format_name",
    default="openai",
    show_default=True,
    type=click.Choice([*EXPORTERS]),
    metavar="FORMAT",
    help=f"{', '.join([*EXPORTERS][:-1])} or {[*EXPORTERS][-1]}.",
)
@click.option("-o", "--output", default=PIPE, metavar="FILE", help="Where to write; - by default.")
@click.option(
    "--log/--window",
    default=None,
    help="Everything that was said, or what the model sees now.",
)
@click.option("--for-training", is_flag=True, help="Write a file that models learn from.")
@training_flags
@profile_flag
@json_flag
@click.pass_context
def export_command(
    context: click.Context,
    *,
    profile: Setting | None,
    as_json: bool,
    **options: Unpack[_Options],
) -> Exit:
    """Write a session in another format, or sessions as a training file.

    A request to a provider holds the window, as a model would get it, with the goal at the end of
    its system prompt; with --window it is data: messages that holdfast wrote have a field
    `holdfast` that says what they are, which no provider takes.

    markdown and html are for people: they hold everything that was said, word
    for word and back to the beginning of the conversation, and mark what was folded and what the
    model still sees. The session file of an agent holds everything too, with its compactions,
    branches and sub-agents as far as the agent has a place for them, and the agent can go on with
    it. --log and --window choose otherwise.

    html is one page that needs no network, with a map of the window on top. With --json, a FILE
    is described on standard output.

    --for-training writes one conversation a line, as sharegpt, openai or anthropic: the session ID,
    or without one every session that is like the flags say. What nobody said is left out, what was
    shortened is whole again, and secrets are masked. All flags after it go with it. A FILE that is
    called .gz or .zst is packed. T is a time such as 2026-11-15, 7d, 12h or yesterday. The exit
    code is 3 when there is nothing to export.
    """
    # Refuse flags that do not go together.
    if as_json and options["output"] == PIPE:
        raise click.UsageError("--json says what was written to a file; name one with -o")
    if options["for_training"]:
        check_format(options["format_name"])
        if options["split"] is not None and options["output"] == PIPE:
            raise click.UsageError("--split writes several files; name them with -o")
        if options["log"] is not None:
            raise click.UsageError("--for-training takes --original in place of --log")
    else:
        if options["name"] is None:
            raise click.UsageError("Missing argument 'ID'; only --for-training does without one")
        for each in context.command.params:
            if each.name in TrainingFlags.__annotations__ and (
                context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE
            ):
                raise click.UsageError(f"{each.opts[0]} goes with --for-training")
    settings = configuration({"profile": profile}).settings
    try:
        with opened_store(settings, as_json=as_json) as opened:
            if options["for_training"]:
                return export_for_training(
                    opened, options["name"], options["format_name"], options["output"], options
                )
            _export(opened, str(options["name"]), options)
            return Exit.DONE
    except NoSessions as absence:
        if not options["for_training"]:
            raise
        tell(str(absence))
        return Exit.NOTHING_TO_DO


def _export(opened: OpenStore, name: str, options: _Options) -> None:
    output = options["output"]
    session = find_session(opened.store, name)
    request = ExportRequest(
        opened.store,
        session,
        policy_of(opened.settings_of(session)),
        counter_of(opened.settings_of(session)),
        options["log"],
    )
    export = EXPORTERS[options["format_name"]](request)
    write_pieces(output, (piece.encode("utf-8", "replace") for piece in export.pieces))
    if opened.as_json:
        others = {} if export.forked is None else export.forked.as_json()
        show_json({"session": session.id, "file": output, "messages": export.messages, **others})
        return
    if output != PIPE:
        tell(f"wrote {counted(export.messages, 'message')} of session {session.id} to {output}")
    if export.forked is not None:
        for sentence in export.forked.sentences():
            tell(sentence)
