"""`holdfast sessions export`: a stored session as a request to a provider, or to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, Unpack

import click
from click.core import ParameterSource

from holdfast.cli.desk import Desk, NoSessions, json_flag, opened_desk
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.files import PIPE, write_pieces
from holdfast.cli.finding import find_session
from holdfast.cli.flags import configuration, profile_flag
from holdfast.cli.html import Family, Limits, Page, html_pieces, survey_of, weighed
from holdfast.cli.lines import counted
from holdfast.cli.screen import show_json, tell
from holdfast.cli.sessions_agents import AGENT_FORMATS, company_of, log_pieces, window_pieces
from holdfast.cli.sessions_markdown import markdown_pieces
from holdfast.cli.sessions_training import (
    Training,
    check_format,
    export_for_training,
    training_flags,
)
from holdfast.cli.story import story, window_story
from holdfast.compaction.repair import repair
from holdfast.conversation.window import with_goal
from holdfast.formats import Document, write
from holdfast.session import children_of, path_to
from holdfast.session.lineage_reader import count_until, said_until, window_entries
from holdfast.tokens import Scale
from holdfast.wire import DIALECTS
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from holdfast.cli.sessions_agents import Company
    from holdfast.cli.story import Happening
    from holdfast.config import Setting
    from holdfast.session import Session
    from holdfast.transcript import Transcript

__all__ = ["export_command"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be written; without a choice, the format knows what suits it."""

    desk: Desk
    session: Session
    log: bool | None


@dataclass(frozen=True, slots=True)
class _Export:
    """A text on its way out."""

    messages: int
    pieces: Iterable[str]
    company: Company | None = None
    """What came from the session, for the file of an agent."""


_Writer: TypeAlias = Callable[[_Wanted], _Export]


def _request(dialect: str, wanted: _Wanted) -> _Export:
    transcript = _everything(wanted) if wanted.log else _window(wanted)
    document = Document(format="session", dialect="openai", transcript=transcript)
    return _Export(len(transcript), (write(document, repair(transcript), to=dialect),))


def _markdown(wanted: _Wanted) -> _Export:
    store, session = wanted.desk.store, wanted.session
    if wanted.log is False:
        count = sum(1 for _ in window_entries(store, session.id))
        return _Export(count, markdown_pieces(session, window_story(store, session)))
    count = count_until(store, session.id)
    return _Export(count, markdown_pieces(session, story(store, session)))


def _html(wanted: _Wanted) -> _Export:
    store, session, settings = wanted.desk.store, wanted.session, wanted.desk.settings
    policy = policy_of(settings)
    window = weighed(window_entries(store, session.id), Scale(counter_of(settings)))
    is_log = wanted.log is not False

    def told() -> Iterator[Happening]:
        if is_log:
            return story(store, session, window.standing)
        return window_story(store, session)

    lineage = store.lineage(session.id)
    page = Page(
        family=Family(session, path_to(lineage, session.id)[:-1], children_of(lineage, session.id)),
        survey=survey_of(told()),
        window=window,
        limits=Limits(policy.context_length, policy.threshold_tokens),
        is_log=is_log,
    )
    return _Export(page.survey.messages, html_pieces(page, told()))


def _session_file(agent: str, wanted: _Wanted) -> _Export:
    store, session = wanted.desk.store, wanted.session
    if wanted.log is False:
        transcript = _window(wanted)
        return _Export(len(transcript), window_pieces(store, session.id, transcript, agent))
    return _Export(
        count_until(store, session.id),
        log_pieces(store, session.id, agent),
        company_of(store, session.id, agent),
    )


_WRITERS: dict[str, _Writer] = {
    **{dialect: partial(_request, dialect) for dialect in DIALECTS},
    **{agent: partial(_session_file, agent) for agent in AGENT_FORMATS},
    "markdown": _markdown,
    "html": _html,
}
"""What writes each format."""


class _Options(Training):
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
    type=click.Choice([*_WRITERS]),
    metavar="FORMAT",
    help=f"{', '.join([*_WRITERS][:-1])} or {[*_WRITERS][-1]}.",
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
    its system prompt. markdown and html are for people: they hold everything that was said, word
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
    _check(context, options, as_json=as_json)
    settings = configuration({"profile": profile}).settings
    try:
        with opened_desk(settings, as_json=as_json) as desk:
            if options["for_training"]:
                return export_for_training(
                    desk, options["name"], options["format_name"], options["output"], options
                )
            _export(desk, str(options["name"]), options)
            return Exit.DONE
    except NoSessions as absence:
        if not options["for_training"]:
            raise
        tell(str(absence))
        return Exit.NOTHING_TO_DO


def _check(context: click.Context, options: _Options, *, as_json: bool) -> None:
    """Refuse flags that do not go together."""
    if as_json and options["output"] == PIPE:
        raise click.UsageError("--json says what was written to a file; name one with -o")
    if options["for_training"]:
        check_format(options["format_name"])
        if options["split"] is not None and options["output"] == PIPE:
            raise click.UsageError("--split writes several files; name them with -o")
        if options["log"] is not None:
            raise click.UsageError("--for-training takes --original in place of --log")
        return
    if options["name"] is None:
        raise click.UsageError("Missing argument 'ID'; only --for-training does without one")
    for each in context.command.params:
        if each.name in Training.__annotations__ and _is_given(context, each.name):
            raise click.UsageError(f"{each.opts[0]} goes with --for-training")


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _export(desk: Desk, name: str, options: _Options) -> None:
    output = options["output"]
    session = find_session(desk.store, name)
    export = _WRITERS[options["format_name"]](_Wanted(desk, session, options["log"]))
    pieces = (piece.encode("utf-8", "replace") for piece in export.pieces)
    write_pieces(output, pieces)
    company = export.company
    if desk.as_json:
        others = {} if company is None else company.as_json()
        show_json({"session": session.id, "file": output, "messages": export.messages, **others})
        return
    if output != PIPE:
        tell(f"wrote {counted(export.messages, 'message')} of session {session.id} to {output}")
    if company is not None:
        for sentence in company.sentences():
            tell(sentence)


def _window(wanted: _Wanted) -> Transcript:
    window = wanted.desk.store.window(wanted.session.id).transcript
    return with_goal(repair(window), wanted.session.goal)


def _everything(wanted: _Wanted) -> Transcript:
    store = wanted.desk.store
    return tuple(
        store.whole(entry.id) if entry.shortened else entry.message
        for entry in said_until(store, wanted.session.id)
    )
