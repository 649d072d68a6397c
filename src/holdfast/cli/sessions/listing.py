"""`holdfast sessions list`: what there is, one line for each conversation.

A title is what people know a conversation by, so that other columns give way to it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.flags import (
    configuration,
    json_flag,
    now_ms,
    place_flags,
    read_moment,
    source_flag,
    store_flags,
)
from holdfast.cli.root import examples
from holdfast.cli.screen import Styled, crop_middle, output_text, show_json, table, tell
from holdfast.cli.store import NoSessions, opened_store
from holdfast.ports.store import Listing
from holdfast.recall.values import agent_of, meant_sources
from holdfast.views.sessions import (
    EVERYTHING,
    UNTITLED,
    SessionFilter,
    conversations,
    every_session,
    folder_meant,
    state_of,
    title_of,
    unknown_sources,
)
from holdfast.views.words import cells, shortly_ago

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from holdfast.cli.screen import Line
    from holdfast.views.sessions import SessionRow

_ORDER = ("id", "used", "from", "model", "entries", "state", "forks", "fork", "title")
_BY_WEIGHT = ("used", "from", "state", "entries", "forks", "fork", "model")
"""The columns beside id and title, what is wanted most first."""
_WIDEST = {"from": 14, "model": 20}
"""Names that are longer are cut in the middle."""
_TITLE = 24
"""Columns that a title needs at least."""
_GAP = 2
_USUAL = frozenset({"", "live"})
"""What says nothing; a column of nothing else is left out."""
_STYLES = {"live": "", "trash": "red"}


class _Options(TypedDict):
    sources: tuple[str, ...]
    since: int | None
    until: int | None
    title: str
    project: str
    branch: str
    file: str
    model: str
    limit: int
    offset: int
    trash: bool
    every: bool


@click.command(
    "list",
    epilog=examples(
        "holdfast sessions list",
        "holdfast sessions list --since 7d --source cli",
        "holdfast sessions list --all --title billing --json",
        "holdfast sessions list --project . --agent claude-code --file src/main.py",
    ),
)
@source_flag
@click.option("--since", metavar="T", callback=read_moment(), help="Used at this time or later.")
@click.option(
    "--until", metavar="T", callback=read_moment(end=True), help="Used at this time or earlier."
)
@click.option("--title", default="", metavar="TEXT", help="Only titles that hold this.")
@place_flags
@click.option("--model", default="", metavar="M", help="Only models whose name holds this.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many to list at most.",
)
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Skip the first N."
)
@click.option("--trash", is_flag=True, help="List what is in the trash.")
@click.option("--all", "every", is_flag=True, help="List every session, not conversations.")
@store_flags
@json_flag
def list_command(*, as_json: bool, **options: Unpack[_Options]) -> None:
    """List conversations, newest first.

    A conversation is a session with all that came from it by compaction, branch or reset; its line
    is the session used last, and forks says how many others there are. --all and --trash list each
    session. T is a time such as 2026-11-15, 7d, 12h or yesterday. Lines are cut to fit the
    terminal; into a pipe or a file they are written whole.
    """
    try:
        settings = configuration(options).settings
        with opened_store(settings, as_json=as_json) as opened:
            wanted = Listing(
                sources=meant_sources(options["sources"]),
                since=options["since"],
                until=options["until"],
                title=options["title"],
                trashed=options["trash"],
                limit=options["limit"],
                offset=options["offset"],
            )
            only = SessionFilter(
                project=folder_meant(options["project"]),
                branch=options["branch"],
                file=options["file"],
                model=options["model"],
            )
            single = options["every"] or options["trash"]
            rows = (every_session if single else conversations)(opened.store, wanted, only)
            if rows or as_json:
                value = [row.as_json() for row in rows]
                # Where nobody looks at lines, they may be as long as they are.
                is_limited = bool(os.environ.get("COLUMNS")) or output_text().isatty()
                opened.answer(
                    value,
                    lambda view: rows_drawn(rows, view.width if is_limited else None, now_ms()),
                )
                return
            if options["trash"]:
                nothing = f"the trash of {opened.store.name} is empty"
            else:
                asked = (*options["sources"], options["since"], options["until"], options["title"])
                if unknown := unknown_sources(opened.store, options["sources"]):
                    nothing = unknown
                elif any(asked) or only != EVERYTHING or options["offset"]:
                    nothing = f"no session of {opened.store.name} is like that"
                else:
                    nothing = f"there are no sessions yet in {opened.store.name}"
            tell(nothing)
    except NoSessions as absence:
        if as_json:
            show_json([])
        else:
            tell(str(absence))


def rows_drawn(rows: Sequence[SessionRow], width: int | None, now: int) -> list[Line]:
    """Return a heading and one line for each row.

    Args:
        rows: What is listed.
        width: The columns of the terminal; None for a pipe, into which everything is written.
        now: The time.
    """
    known = [_cells(row, now, is_whole=width is None) for row in rows]
    # The columns that say something and leave the title enough room.
    telling = [name for name in _BY_WEIGHT if any(each[name] not in _USUAL for each in known)]
    if width is not None:
        room = width - _TITLE - _GAP - _column("id", known)
        fitting: list[str] = []
        for name in telling:
            room -= _column(name, known)
            if room < 0:
                break
            fitting.append(name)
        telling = fitting
    columns = [name for name in _ORDER if name in {"id", "title", *telling}]
    cells_shown = [[each[column] for column in columns] for each in known]
    right = frozenset({columns.index("entries")} if "entries" in columns else ())
    first, *lines = table([columns, *cells_shown], width, right=right)
    styled: list[Line] = [first]
    for (words,), row in zip(lines, rows, strict=True):
        style = _STYLES.get(state_of(row.session), "dim")
        at = words.text.find(row.session.id) + len(row.session.id)
        styled.append((Styled(words.text[:at], style or "cyan"), Styled(words.text[at:], style)))
    return styled


def _column(name: str, known: Sequence[Mapping[str, str]]) -> int:
    return _GAP + max(cells(name), *(cells(each[name]) for each in known))


def _cells(row: SessionRow, now: int, *, is_whole: bool) -> dict[str, str]:
    session = row.session
    found = {
        "id": session.id,
        "used": shortly_ago(session.trashed or session.touched, now),
        "from": agent_of(session.source) or session.source,
        "model": session.model,
        "entries": f"{session.size:,}",
        "state": state_of(session),
        "forks": str((row.sessions or 1) - 1 or ""),
        "fork": "" if row.sessions is not None else str(session.fork or ""),
        "title": title_of(session),
    }
    if is_whole:
        return {**found, "title": session.title or UNTITLED}
    cut = {name: crop_middle(found[name], most) for name, most in _WIDEST.items()}
    return {**found, **cut}
