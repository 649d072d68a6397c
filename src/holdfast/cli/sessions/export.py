"""`holdfast export`, or `sessions export`: a session, or a file, in another format."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from holdfast.cli.commands import Exit, examples
from holdfast.cli.files import PIPE, write_pieces
from holdfast.cli.flags import configuration, conversation_flag, json_flag, store_flags
from holdfast.cli.reading import is_stored, named_files
from holdfast.cli.screen import Unusable, show_json, tell
from holdfast.cli.sessions.training import (
    TrainingFlags,
    check_format,
    export_for_training,
    training_flags,
)
from holdfast.cli.store import NoSessions, OpenStore, opened_store
from holdfast.views.export import EXPORTERS, ExportRequest
from holdfast.views.sessions import find_session
from holdfast.views.words import counted
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Unpack

    from holdfast.config import Settings

__all__ = ["command", "export_command"]


class _Options(TrainingFlags):
    name: str | None
    format_name: str
    output: str
    log: bool | None
    for_training: bool
    conversation: int | None


@click.command(
    "export",
    epilog=examples(
        "holdfast export last --format html -o session.html",
        "holdfast export 20261116_0930 --format anthropic > request.json",
        "holdfast export rollout.jsonl --format markdown | less",
        "holdfast sessions export last --format claude-code -o session.jsonl",
        "holdfast sessions export --for-training --split 95/5 -o train.jsonl",
    ),
)
@click.argument("name", metavar="[ID|FILE]", required=False)
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
@conversation_flag
@store_flags
@json_flag
@click.pass_context
def export_command(
    context: click.Context,
    *,
    as_json: bool,
    **options: Unpack[_Options],
) -> Exit:
    """Write a session in another format, or sessions as a training file.

    ID is a stored session. FILE is the session of an agent in any known format, packed or not, or -
    for standard input; it is read for this and not stored.

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
    try:
        with _opened(options, configuration(options).settings, as_json=as_json) as (opened, name):
            if options["for_training"]:
                return export_for_training(
                    opened, name, options["format_name"], options["output"], options
                )
            _export(opened, str(name), options)
            return Exit.DONE
    except NoSessions as absence:
        if not options["for_training"]:
            raise
        tell(str(absence))
        return Exit.NOTHING_TO_DO


command = export_command
"""The same at the top, where people look for it."""


@contextmanager
def _opened(
    options: _Options, settings: Settings, *, as_json: bool
) -> Generator[tuple[OpenStore, str | None]]:
    """Open the store, or one that has what a file tells, with the session that is meant in it.

    Raises:
        Unusable: when the file cannot be read, or it is not clear which conversation is meant.
    """
    name, number = options["name"], options["conversation"]
    if name is None or is_stored(name):
        with opened_store(settings, as_json=as_json) as opened:
            yield opened, name
        return
    # Imported only here: a session that is stored needs no reader of files.
    from holdfast.agent_files.opening import FoundFile, Reading, gather
    from holdfast.wiring.import_job import ImportStatus, rehearsal

    with named_files([name]) as find, rehearsal(settings) as job:
        walk = find()
        refused = [each.reason for each in walk.refused]
        told: list[str] = []
        for look in gather(walk.files, Reading()):
            if not isinstance(look, FoundFile):
                refused.append(look.reason)
                continue
            taken = job.take(look)
            told += taken.tally.sessions
            refused += [taken.reason] if taken.status is not ImportStatus.IMPORTED else []
        roots = [each for each in told if job.store.session(each).parent is None]
        if not roots:
            reason = refused[0] if refused else "there is no conversation in it"
            raise Unusable(f"cannot export {name}: {reason}")
        opened = OpenStore(settings, job.store, as_json)
        chosen = roots if number is None else roots[number - 1 : number]
        if len(chosen) == 1:
            yield opened, chosen[0]
        elif chosen and options["for_training"]:
            yield opened, None
        else:
            choice = f"choose one with --conversation, from 1 to {len(roots):,}"
            raise Unusable(f"{name} holds {counted(len(roots), 'conversation')}; {choice}")


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
