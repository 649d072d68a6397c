"""`holdfast search`: finds what was ever said, in every stored conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.desk import NoSessions, json_flag, opened_desk
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.flags import configuration, profile_flag
from holdfast.cli.screen import screen, show_json, tell
from holdfast.cli.times import now_ms, read_moment
from holdfast.recall.asked import Asked, Discovery, Scope, Wrong
from holdfast.recall.sources import meant_sources
from holdfast.transcript import Role

if TYPE_CHECKING:
    from holdfast.cli.desk import Desk
    from holdfast.config import Setting
    from holdfast.recall.shapes import Result

__all__ = ["command"]

_ROLES = [role.value for role in Role]


class _Options(TypedDict):
    query: tuple[str, ...]
    limit: int
    sources: tuple[str, ...]
    roles: tuple[str, ...]
    since: int | None
    until: int | None
    session: str | None
    models: tuple[str, ...]
    sort: str
    all_sources: bool


@click.command(
    "search",
    epilog=examples(
        "holdfast search billing port",
        "holdfast search '\"connection refused\" OR timeout' --since 7d --role tool",
        "holdfast search src/main.py --sort newest --limit 3 --json",
    ),
)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=1_000),
    default=10,
    show_default=True,
    metavar="N",
    help="How many results at most.",
)
@click.option("--source", "sources", multiple=True, metavar="S", help="Only sessions from here.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(_ROLES, case_sensitive=False),
    metavar="R",
    help=f"Only what these said: {', '.join(_ROLES)}.",
)
@click.option("--since", metavar="T", callback=read_moment(), help="Said at this time or later.")
@click.option(
    "--until", metavar="T", callback=read_moment(end=True), help="Said at this time or earlier."
)
@click.option("--session", metavar="ID", help="Every place in one conversation; last is the last.")
@click.option("--model", "models", multiple=True, metavar="M", help="Only sessions with it.")
@click.option(
    "--sort",
    type=click.Choice(["relevance", "newest"]),
    default="relevance",
    show_default=True,
    help="What comes first.",
)
@click.option("--all-sources", is_flag=True, help="Look into sub-agents and tools as well.")
@profile_flag
@json_flag
def command(*, profile: Setting | None, as_json: bool, **options: Unpack[_Options]) -> Exit:
    """Find what was said in stored conversations.

    Each conversation is listed once, with its best match; what a compaction took out of a window
    is found like everything else. What sub-agents said is found with --all-sources, with --source,
    or in the --session that sent them. --role user means what somebody typed: no summary, and
    nothing that an agent wrote in the user's name. QUERY is words, "a phrase", prefix*, AND, OR,
    NOT, -word and parentheses; any other punctuation is safe. T is a time such as 2026-11-15, 7d,
    12h or yesterday. The exit code is 3 when nothing was found.
    """
    try:
        settings = configuration({"profile": profile}).settings
        with opened_desk(settings, as_json=as_json) as desk:
            return _searched(desk, options)
    except NoSessions as absence:
        return _none(str(absence), " ".join(options["query"]), as_json=as_json)


def _searched(desk: Desk, options: _Options) -> Exit:
    # Imported only here, so that help does not wait for it.
    from holdfast.views.search import search_json
    from holdfast.wiring.searching import search_in

    query = " ".join(options["query"])
    asked = Asked(_discovery(desk, query, options), include_current=True)
    found = search_in(desk.store).look(asked)
    if isinstance(found, Wrong):
        return _none(found.problem, query, as_json=desk.as_json)
    document = search_json(found, options["limit"])
    if not document["results"]:
        return _none(_hint(desk, options), query, as_json=desk.as_json)
    if desk.as_json:
        show_json(document)
    else:
        _draw(found, is_within=options["session"] is not None)
    return Exit.DONE


def _discovery(desk: Desk, query: str, options: _Options) -> Discovery:
    from holdfast.views.sessions import find_session

    named = options["session"]
    return Discovery(
        query=query,
        scope=Scope(
            roles=tuple(map(Role, options["roles"])),
            sources=meant_sources(options["sources"]),
            since=options["since"],
            until=options["until"],
            models=options["models"],
            include_subagents=options["all_sources"],
        ),
        limit=options["limit"],
        newest=options["sort"] == "newest",
        session_id=find_session(desk.store, named).id if named else "",
    )


def _draw(found: Result, *, is_within: bool) -> None:
    from holdfast.cli.search_view import drawn
    from holdfast.recall.shapes import Excerpts

    if isinstance(found, Excerpts):
        view = screen()
        view.show(drawn(found, view, now_ms(), is_within=is_within))


def _none(reason: str, query: str, *, as_json: bool) -> Exit:
    """Say that nothing was found, and why if that is known."""
    if as_json:
        show_json({"shape": "discovery", "query": query, "results": [], "note": reason})
    else:
        tell(reason)
    return Exit.NOTHING_TO_DO


def _hint(desk: Desk, options: _Options) -> str:
    narrowing = ("sources", "roles", "since", "until", "session", "models")
    flags = [each for each in narrowing if options[each]]
    if flags:
        return "nothing was found that is like that; try without some of the flags"
    return (
        f"nothing was found in {desk.store.name}; try fewer or other words, or part* for the "
        "beginning of one"
    )
