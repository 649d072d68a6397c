"""`holdfast export` and `sessions send`: a session in another format, or where an agent looks."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, TypedDict
from uuid import uuid4

import click
from click.core import ParameterSource

from holdfast.agent_files.places import RESUMING, Machine, resumable_file
from holdfast.cli.files import PIPE, is_stored, named_files, refused, write_pieces
from holdfast.cli.flags import (
    agreed,
    configuration,
    conversation_flag,
    json_flag,
    now_ms,
    session_argument,
    store_flags,
    yes_flag,
)
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, Unusable, show_json, tell
from holdfast.cli.sessions.training import (
    TrainingFlags,
    check_format,
    export_for_training,
    training_flags,
)
from holdfast.cli.store import NoSessions, OpenStore, find_leaf, opened_store, with_store
from holdfast.config.loading import NoHome, user_folder
from holdfast.formats.reader import is_uuid
from holdfast.session import path_to, places_of
from holdfast.transfer import import_record
from holdfast.views.export import EXPORTERS, ExportRequest, resumable_export
from holdfast.views.sessions import find_session, title_of
from holdfast.views.words import counted
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Unpack

    from holdfast.agent_files.places import ResumableFile
    from holdfast.cli.screen import Line
    from holdfast.config import Settings
    from holdfast.session import Session
    from holdfast.views.export import SessionExport


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
    "--to",
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
    from holdfast.agent_files.detection import FoundFile, ReadOptions, gather
    from holdfast.wiring.import_job import ImportStatus, rehearsal

    with named_files([name]) as find, rehearsal(settings) as job:
        walk = find()
        refused = [each.reason for each in walk.refused]
        told: list[str] = []
        for look in gather(walk.files, ReadOptions()):
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


class _SendOptions(TypedDict):
    agent: str
    folder: str
    log: bool
    dry_run: bool
    yes: bool


@click.command(
    "send",
    epilog=examples(
        "holdfast sessions send last --to claude-code",
        "holdfast sessions send 20261116_0930 --to codex --folder ~/src/shop",
        "holdfast sessions send last --to pi --window --yes",
    ),
)
@session_argument
@click.option(
    "--to",
    "agent",
    required=True,
    type=click.Choice([*RESUMING]),
    help="The agent that is to go on with it.",
)
@click.option(
    "--folder",
    default="",
    metavar="DIR",
    help="The project there; by default where the session was held, or this folder.",
)
@click.option(
    "--log/--window",
    default=True,
    help="Everything that was said, or only what the model sees now.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@yes_flag
@with_store
def send_command(opened: OpenStore, name: str, **options: Unpack[_SendOptions]) -> Exit:
    """Put a session where another agent finds it, and say how to go on there.

    The file goes to where the agent keeps its sessions, also where CLAUDE_CONFIG_DIR, CODEX_HOME,
    PI_CODING_AGENT_DIR or PI_CODING_AGENT_SESSION_DIR have moved that. It is shown first, and
    written when you agree. A file that is there is never replaced: a session that the agent has
    already becomes another one there. The last line is the command that resumes it.
    """
    session = find_leaf(opened.store, name)
    folder = _folder(opened, session, options["folder"])
    id_, place = _place(session, options["agent"], folder)
    request = ExportRequest(
        opened.store,
        session,
        policy_of(opened.settings),
        counter_of(opened.settings),
        options["log"],
    )
    export = resumable_export(options["agent"], request, id_, str(folder), now_ms())
    size = counted(export.messages, "message")
    tell(
        f"{size} of session {session.id} ({title_of(session)}) for {RESUMING[options['agent']]}:",
        f"  {place.path}",
        *(() if export.forked is None else export.forked.sentences()),
    )
    is_written = not options["dry_run"]
    if is_written:
        if not agreed("Write it?", yes=options["yes"]):
            return Exit.NOTHING_TO_DO
        _write(place.path, export)
    command = shlex.join(place.command)
    if Path.cwd() != folder:
        command = f"cd {shlex.quote(str(folder))} && {command}"
    value = {
        "session": session.id,
        "agent": options["agent"],
        "id": id_,
        "file": str(place.path),
        "folder": str(folder),
        "command": command,
        "messages": export.messages,
        "written": is_written,
        **({} if export.forked is None else export.forked.as_json()),
    }
    opened.answer(value, lambda _: _drawn(place, command, is_written=is_written))
    return Exit.DONE


def _drawn(place: ResumableFile, command: str, *, is_written: bool) -> list[Line]:
    if not is_written:
        return [(Styled("nothing was written; to go on there: "), Styled(command, "cyan"))]
    lines: list[Line] = [(Styled("written; to go on there:"),), (Styled(command, "cyan"),)]
    if shutil.which(place.command[0]) is None:
        lines.insert(1, (Styled(f"({place.command[0]} is not on the path here)", "yellow"),))
    return lines


def _folder(opened: OpenStore, session: Session, named: str) -> Path:
    """Return the working directory in which the agent is to go on."""
    if named:
        folder = Path(named).expanduser().resolve()
        if not folder.is_dir():
            raise Unusable(f"{folder} is no folder; name one with --folder")
        return folder
    path = path_to(opened.store.lineage(session.id), session.id)
    held, here = Path(places_of(path).get("folder", "")), Path.cwd()
    if not held.is_absolute() or held.is_dir():
        return held if held.is_absolute() else here
    tell(f"{held}, where it was held, is not here; it goes to {here} (--folder names another)")
    return here


def _place(session: Session, agent: str, folder: Path) -> tuple[str, ResumableFile]:
    """Return the id and the place of a file that the agent does not have yet."""
    try:
        home = user_folder(os.environ)
    except NoHome:
        raise Unusable("there is no home folder to find the agent in; set HOME") from None
    machine, now = Machine(home, os.environ, sys.platform), now_ms()
    imported = import_record(session)
    own = "" if imported is None else imported.identity.name
    if is_uuid(own):
        place = resumable_file(agent, own, folder, now, machine)
        if not any(place.sessions.rglob(f"*{own}*")):
            return own, place
    fresh = str(uuid4())
    return fresh, resumable_file(agent, fresh, folder, now, machine)


def _write(path: Path, export: SessionExport) -> None:
    """Write the file whole or not at all, and never in the place of another."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, beside = mkstemp(prefix=".holdfast-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.writelines(piece.encode("utf-8", "replace") for piece in export.pieces)
            if path.exists():
                raise Unusable(f"{path} is there already and is not replaced; nothing was written")
            Path(beside).rename(path)
        finally:
            Path(beside).unlink(missing_ok=True)
    except OSError as error:
        raise refused("write", str(path), error) from error
