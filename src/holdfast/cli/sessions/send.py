"""`holdfast sessions send`: a stored session as a file of another agent, where that looks."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING, TypedDict
from uuid import uuid4

import click

from holdfast.agent_files.places import RESUMING, Machine, resumable_file
from holdfast.cli.commands import Exit, examples
from holdfast.cli.files import refused
from holdfast.cli.flags import agreed, now_ms, session_argument, yes_flag
from holdfast.cli.screen import Styled, Unusable, tell
from holdfast.cli.store import find_leaf, with_store
from holdfast.config.home import NoHome, user_folder
from holdfast.formats.writer import is_uuid
from holdfast.session import path_to, places_of
from holdfast.transfer import import_record
from holdfast.views.export import ExportRequest, resumable_export
from holdfast.views.sessions import title_of
from holdfast.views.words import counted
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from typing import Unpack

    from holdfast.agent_files.places import ResumableFile
    from holdfast.cli.screen import Line
    from holdfast.cli.store import OpenStore
    from holdfast.session import Session
    from holdfast.views.export import SessionExport

__all__ = ["send_command"]


class _Options(TypedDict):
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
def send_command(opened: OpenStore, name: str, **options: Unpack[_Options]) -> Exit:
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


def _drawn(place: ResumableFile, command: str, *, is_written: bool) -> list[Line]:
    if not is_written:
        return [(Styled("nothing was written; to go on there: "), Styled(command, "cyan"))]
    lines: list[Line] = [(Styled("written; to go on there:"),), (Styled(command, "cyan"),)]
    if shutil.which(place.command[0]) is None:
        lines.insert(1, (Styled(f"({place.command[0]} is not on the path here)", "yellow"),))
    return lines
