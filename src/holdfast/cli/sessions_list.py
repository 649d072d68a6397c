"""`holdfast sessions list`: what there is, one line for each conversation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.commands import examples
from holdfast.cli.flags import configuration, json_flag, now_ms, profile_flag, read_moment
from holdfast.cli.screen import output_text, show_json, tell
from holdfast.cli.sessions_list_view import drawn
from holdfast.cli.store import NoSessions, opened_store
from holdfast.ports.store import Listing
from holdfast.recall.sources import meant_sources
from holdfast.views.sessions import conversations, every_session

if TYPE_CHECKING:
    from holdfast.cli.screen import Screen
    from holdfast.config import Setting

__all__ = ["list_command"]


class _Options(TypedDict):
    sources: tuple[str, ...]
    since: int | None
    until: int | None
    title: str
    limit: int
    trash: bool
    every: bool


@click.command(
    "list",
    epilog=examples(
        "holdfast sessions list",
        "holdfast sessions list --since 7d --source cli",
        "holdfast sessions list --all --title billing --json",
    ),
)
@click.option("--source", "sources", multiple=True, metavar="S", help="Only sessions from here.")
@click.option("--since", metavar="T", callback=read_moment(), help="Used at this time or later.")
@click.option(
    "--until", metavar="T", callback=read_moment(end=True), help="Used at this time or earlier."
)
@click.option("--title", default="", metavar="TEXT", help="Only titles that hold this.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many to list at most.",
)
@click.option("--trash", is_flag=True, help="List what is in the trash.")
@click.option("--all", "every", is_flag=True, help="List every session, not conversations.")
@profile_flag
@json_flag
def list_command(*, profile: Setting | None, as_json: bool, **options: Unpack[_Options]) -> None:
    """List conversations, newest first.

    A conversation is a session with all that came from it by compaction, branch or reset; its line
    is the session used last, and forks says how many others there are. --all and --trash list each
    session. T is a time such as 2026-11-15, 7d, 12h or yesterday. Lines are cut to fit the
    terminal; into a pipe or a file they are written whole.
    """
    try:
        settings = configuration({"profile": profile}).settings
        with opened_store(settings, as_json=as_json) as opened:
            wanted = _wanted(options)
            single = options["every"] or options["trash"]
            rows = (every_session if single else conversations)(opened.store, wanted)
            if rows or as_json:
                value = [row.as_json() for row in rows]
                opened.answer(value, lambda view: drawn(rows, _room(view), now_ms()))
                return
            tell(_nothing(options, opened.store.name))
    except NoSessions as absence:
        if as_json:
            show_json([])
        else:
            tell(str(absence))


def _room(view: Screen) -> int | None:
    """Return the columns to draw in; None where nobody looks at lines."""
    is_limited = bool(os.environ.get("COLUMNS")) or output_text().isatty()
    return view.width if is_limited else None


def _wanted(options: _Options) -> Listing:
    return Listing(
        sources=meant_sources(options["sources"]),
        since=options["since"],
        until=options["until"],
        title=options["title"],
        trashed=options["trash"],
        limit=options["limit"],
    )


def _nothing(options: _Options, place: str) -> str:
    if options["trash"]:
        return f"the trash of {place} is empty"
    asked = ("sources", "since", "until", "title")
    if any(options[each] for each in asked):
        return f"no session of {place} is like that"
    return f"there are no sessions yet in {place}"
