"""`holdfast sessions export`: a stored session as a request to a provider, or to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.desk import Desk, at_desk, session_argument
from holdfast.cli.examples import examples
from holdfast.cli.files import PIPE, write_output
from holdfast.cli.finding import find_session
from holdfast.cli.said import said_until
from holdfast.cli.screen import show_json, tell
from holdfast.cli.sessions_markdown import as_markdown
from holdfast.compaction.repair import repair
from holdfast.conversation.window import with_goal
from holdfast.formats import Document, write
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from holdfast.session import Session
    from holdfast.transcript import Transcript

__all__ = ["export_command"]

_MARKDOWN = "markdown"


class _Options(TypedDict):
    format_name: str
    output: str
    log: bool


@click.command(
    "export",
    epilog=examples(
        "holdfast sessions export last -o window.json",
        "holdfast sessions export 20261116_0930 --format anthropic > request.json",
        "holdfast sessions export last --log --format markdown | less",
    ),
)
@session_argument
@click.option(
    "--format",
    "format_name",
    default="openai",
    show_default=True,
    type=click.Choice([*DIALECTS, _MARKDOWN]),
    metavar="FORMAT",
    help=f"{', '.join(DIALECTS)} or {_MARKDOWN}.",
)
@click.option("-o", "--output", default=PIPE, metavar="FILE", help="Where to write; - by default.")
@click.option("--log", is_flag=True, help="Everything that was said, not the window.")
@at_desk
def export_command(desk: Desk, name: str, **options: Unpack[_Options]) -> None:
    """Write a session in another format.

    The window is written, as a model would get it, with the goal at the end of its system prompt.
    --log writes everything that was said instead, word for word and back to the beginning of the
    conversation. With --json, a FILE is described on standard output.
    """
    output = options["output"]
    if desk.as_json and output == PIPE:
        raise click.UsageError("--json says what was written to a file; name one with -o")
    session = find_session(desk.store, name)
    transcript = _everything(desk, session) if options["log"] else _window(desk, session)
    if options["format_name"] == _MARKDOWN:
        text = as_markdown(session, transcript)
    else:
        document = Document(format="session", dialect="openai", transcript=transcript)
        text = write(document, repair(transcript), to=options["format_name"])
    write_output(output, text.encode("utf-8", "replace"))
    count = len(transcript)
    if desk.as_json:
        show_json({"session": session.id, "file": output, "messages": count})
    elif output != PIPE:
        tell(f"wrote {count:,} messages of session {session.id} to {output}")


def _window(desk: Desk, session: Session) -> Transcript:
    return with_goal(repair(desk.store.window(session.id).transcript), session.goal)


def _everything(desk: Desk, session: Session) -> Transcript:
    store = desk.store
    return tuple(
        store.whole(entry.id) if entry.shortened else entry.message
        for entry in said_until(store, session.id)
    )
