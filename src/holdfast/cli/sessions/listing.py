"""What conversations there are, and which of them go: list, delete, restore, prune and backup.

A title is what people know a conversation by, so that other columns give way to it. Nothing is ever
pruned unless somebody runs this: what is stored stays until it is asked to go.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.flags import (
    agreed,
    configuration,
    json_flag,
    now_ms,
    place_flags,
    read_moment,
    session_argument,
    source_flag,
    store_flags,
    yes_flag,
)
from holdfast.cli.root import Exit, as_typed, examples
from holdfast.cli.screen import (
    Styled,
    Unusable,
    crop_middle,
    output_text,
    screen,
    show_json,
    table,
    tell,
)
from holdfast.cli.store import NoSessions, opened_store, with_store
from holdfast.ports import file_upkeep
from holdfast.ports.store import Listing
from holdfast.recall.values import agent_of, meant_sources
from holdfast.views.sessions import (
    EVERYTHING,
    UNTITLED,
    SessionFilter,
    SessionRow,
    conversations,
    every_session,
    find_session,
    folder_meant,
    session_fields,
    state_of,
    title_of,
    unknown_sources,
)
from holdfast.views.words import cells, clock_time, counted, shortly_ago

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from holdfast.cli.screen import Line
    from holdfast.cli.store import OpenStore
    from holdfast.ports import Store
    from holdfast.session import Session

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
        width: The columns of the terminal; None for a pipe, into which everything is written.
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


_lineage_flag = click.option(
    "--lineage", is_flag=True, help="All sessions that came from one another, not this one alone."
)
_LISTED = 20


@click.command(
    "delete",
    epilog=examples(
        "holdfast sessions delete 20261116_0930", "holdfast sessions delete last --lineage --yes"
    ),
)
@session_argument
@_lineage_flag
@yes_flag
@with_store
def delete_command(opened: OpenStore, name: str, *, lineage: bool, yes: bool) -> Exit:
    """Put a session into the trash.

    It is out of lists and search then. sessions restore brings it back, until the trash is emptied
    with sessions prune --empty-trash.
    """
    session = find_session(opened.store, name)
    chosen = [each for each in _chosen(opened, session, lineage=lineage) if each.trashed is None]
    if not chosen:
        tell(f"session {session.id} is in the trash already")
        return Exit.NOTHING_TO_DO
    if not agreed(f"Put {_named(chosen)} into the trash?", yes=yes):
        return Exit.NOTHING_TO_DO
    ids = [each.id for each in chosen]
    opened.store.trash(ids, now_ms())
    back = f"holdfast sessions restore {session.id}{' --lineage' if lineage else ''}"
    opened.answer(
        {"trashed": ids, "restore": back},
        lambda _: [
            (Styled(f"put {_named(chosen)} into the trash"),),
            (Styled(f"to bring it back: {as_typed(back)}", "dim"),),
        ],
    )
    return Exit.DONE


@click.command(
    "restore",
    epilog=examples(
        "holdfast sessions list --trash", "holdfast sessions restore 20261116_0930 --lineage"
    ),
)
@session_argument
@_lineage_flag
@with_store
def restore_command(opened: OpenStore, name: str, *, lineage: bool) -> Exit:
    """Take a session out of the trash.

    The exit code is 3 when it is not there.
    """
    session = find_session(opened.store, name)
    chosen = [
        each for each in _chosen(opened, session, lineage=lineage) if each.trashed is not None
    ]
    if not chosen:
        tell(f"session {session.id} is not in the trash")
        return Exit.NOTHING_TO_DO
    ids = [each.id for each in chosen]
    opened.store.restore(ids)
    opened.answer({"restored": ids}, lambda _: [(Styled(f"restored {_named(chosen)}"),)])
    return Exit.DONE


def _chosen(opened: OpenStore, session: Session, *, lineage: bool) -> tuple[Session, ...]:
    return opened.store.lineage(session.id) if lineage else (session,)


def _named(sessions: list[Session]) -> str:
    first = sessions[0]
    more = f" and {counted(len(sessions) - 1, 'other session')}" if len(sessions) > 1 else ""
    return f"session {first.id} ({title_of(first)}){more}"


class _PruneOptions(TypedDict):
    before: int | None
    sources: tuple[str, ...]
    empty_trash: bool
    dry_run: bool
    yes: bool


@click.command(
    "prune",
    epilog=examples(
        "holdfast sessions prune --older-than 90d --dry-run",
        "holdfast sessions prune --older-than 90d --source cli",
        "holdfast sessions prune --empty-trash --older-than 30d",
    ),
)
@click.option(
    "--older-than",
    "before",
    metavar="T",
    callback=read_moment(),
    help="What was not used since; with --empty-trash, what was trashed before.",
)
@click.option("--source", "sources", multiple=True, metavar="S", help="Only sessions from here.")
@click.option("--empty-trash", is_flag=True, help="Delete what is in the trash, for good.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@yes_flag
@with_store
def prune_command(opened: OpenStore, **options: Unpack[_PruneOptions]) -> Exit:
    """Put old conversations into the trash, or empty it.

    A conversation is pruned with all its sessions, and only if none of them was used since T.
    T is a time such as 90d or 2026-08-01. sessions restore brings back what is in the trash;
    --empty-trash deletes it, and that cannot be taken back.
    """
    if options["empty_trash"]:
        before = options["before"]
        wanted = Listing(trashed=True, sources=meant_sources(options["sources"]), limit=None)
        rows = every_session(opened.store, wanted)
        chosen = [
            row.session for row in rows if before is None or (row.session.trashed or 0) < before
        ]
    elif options["before"] is None:
        raise click.UsageError("say what is old, with --older-than")
    else:
        chosen = unused_sessions(opened.store, options["before"], meant_sources(options["sources"]))
    if chosen and not options["dry_run"] and not _prune_agreed(opened, chosen, options):
        return Exit.NOTHING_TO_DO
    if chosen and not options["dry_run"]:
        ids = [each.id for each in chosen]
        if options["empty_trash"]:
            opened.store.purge(ids)
        # A conversation may have been used while the question stood on the screen.
        elif opened.store.trash(ids, now_ms(), unless_used_since=options["before"]) != len(ids):
            chosen = [each for each in chosen if opened.store.session(each.id).trashed is not None]
    elif options["empty_trash"] and not options["dry_run"]:
        opened.store.purge(())  # what an interrupted deletion has left
    if not chosen and not opened.as_json:
        if options["empty_trash"]:
            nothing = "there is nothing in the trash to delete"
        else:
            nothing = f"every conversation was used since {clock_time(options['before'] or 0)}"
        tell(nothing)
    else:
        value = {
            "action": "purge" if options["empty_trash"] else "trash",
            "done": bool(chosen) and not options["dry_run"],
            "sessions": [session_fields(each) for each in chosen],
        }
        opened.answer(value, lambda view: _prune_drawn(chosen, options, view.width))
    return Exit.DONE if chosen else Exit.NOTHING_TO_DO


def unused_sessions(store: Store, before: int, sources: tuple[str, ...]) -> list[Session]:
    """Return the sessions of conversations in which nothing was said since a moment.

    Of what has no date nobody knows that.
    """
    found: list[Session] = []
    seen: set[str] = set()
    for session in store.sessions(Listing(until=before - 1, sources=sources, limit=None)):
        if session.root in seen:
            continue
        seen.add(session.root)
        lineage = [each for each in store.lineage(session.id) if each.trashed is None]
        if all(0 < each.touched < before for each in lineage):
            found += lineage
    return found


def _prune_agreed(opened: OpenStore, chosen: Sequence[Session], options: _PruneOptions) -> bool:
    if options["yes"]:
        return True
    view = screen(is_error=True)
    view.show(_listing(chosen, view.width))
    count = counted(len(chosen), "session")
    if options["empty_trash"]:
        questions = (
            f"Delete {count} from {opened.store.name} for good?",
            "This cannot be taken back. Are you sure?",
        )
        return agreed(*questions, yes=False)
    return agreed(f"Put {count} into the trash?", yes=False)


def _prune_drawn(chosen: Sequence[Session], options: _PruneOptions, width: int) -> list[Line]:
    count = counted(len(chosen), "session")
    if options["dry_run"]:
        verb = "delete for good" if options["empty_trash"] else "put into the trash"
        return [(Styled(f"would {verb} {count}:", "bold"),), *_listing(chosen, width)]
    if options["empty_trash"]:
        return [(Styled(f"deleted {count} for good"),)]
    back = "holdfast sessions list --trash names them, holdfast sessions restore ID brings one back"
    return [(Styled(f"put {count} into the trash"),), (Styled(as_typed(back), "dim"),)]


def _listing(chosen: Sequence[Session], width: int) -> list[Line]:
    lines = rows_drawn([SessionRow(each) for each in chosen[:_LISTED]], width, now_ms())
    more = len(chosen) - _LISTED
    return [*lines, (Styled(f"  and {more:,} more", "dim"),)] if more > 0 else lines


@click.command(
    "backup",
    epilog=examples(
        "holdfast sessions backup sessions.db", "holdfast sessions backup ~/backups/work.db --yes"
    ),
)
@click.argument("file")
@yes_flag
@with_store
def backup_command(opened: OpenStore, file: str, *, yes: bool) -> Exit:
    """Write a copy of the store while it is in use.

    FILE appears whole or not at all, readable by its owner only. It is a store like any other: set
    store.url to it to look inside. A file that exists is replaced after asking.
    """
    target = Path(file).expanduser()
    if target.is_dir():
        raise Unusable(f"{target} is a folder; name a file in it")
    replaces = target.exists()
    if replaces and not agreed(f"{target} exists. Replace it?", yes=yes):
        return Exit.NOTHING_TO_DO
    is_new_folder = not target.parent.exists()
    file_upkeep(opened.store, opened.store.name).backup(target)
    size = target.stat().st_size
    words = f"copied {opened.store.name} to {target} ({size:,} bytes)"
    words += ", in place of the file that was there" if replaces else ""
    words += f"; made the folder {target.parent}" if is_new_folder else ""
    value = {"file": str(target), "bytes": size, "replaced": replaces}
    opened.answer(value, lambda _: [(Styled(words),)])
    return Exit.DONE
