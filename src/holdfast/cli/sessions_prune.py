"""`holdfast sessions prune`: old conversations into the trash, and the trash out of the house.

Nothing is ever pruned unless somebody runs this: what is stored stays until it is asked to go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.flags import agreed, now_ms, read_moment, yes_flag
from holdfast.cli.lines import Line, Span
from holdfast.cli.screen import screen, tell
from holdfast.cli.sessions_list_view import drawn
from holdfast.cli.store import OpenStore, with_store
from holdfast.ports.store import Listing
from holdfast.recall.sources import meant_sources
from holdfast.views.sessions import SessionRow, every_session, session_fields
from holdfast.views.words import clock_time, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["prune_command", "unused_sessions"]

_LISTED = 20


class _Options(TypedDict):
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
def prune_command(opened: OpenStore, **options: Unpack[_Options]) -> Exit:
    """Put old conversations into the trash, or empty it.

    A conversation is pruned with all its sessions, and only if none of them was used since T.
    T is a time such as 90d or 2026-08-01. sessions restore brings back what is in the trash;
    --empty-trash deletes it, and that cannot be taken back.
    """
    if options["empty_trash"]:
        chosen = _trashed(opened.store, options)
    elif options["before"] is None:
        raise click.UsageError("say what is old, with --older-than")
    else:
        chosen = unused_sessions(opened.store, options["before"], meant_sources(options["sources"]))
    if chosen and not options["dry_run"] and not _agreed(opened, chosen, options):
        return Exit.NOTHING_TO_DO
    if chosen and not options["dry_run"]:
        chosen = _carried_out(opened.store, chosen, options)
    elif options["empty_trash"] and not options["dry_run"]:
        opened.store.purge(())  # what an interrupted deletion has left
    _answer(opened, chosen, options)
    return Exit.DONE if chosen else Exit.NOTHING_TO_DO


def unused_sessions(store: Store, before: int, sources: tuple[str, ...]) -> list[Session]:
    """Return the sessions of conversations in which nothing was said since a moment."""
    found: list[Session] = []
    seen: set[str] = set()
    for session in store.sessions(Listing(until=before - 1, sources=sources, limit=None)):
        if session.root in seen:
            continue
        seen.add(session.root)
        lineage = [each for each in store.lineage(session.id) if each.trashed is None]
        if all(each.touched < before for each in lineage):
            found += lineage
    return found


def _trashed(store: Store, options: _Options) -> list[Session]:
    before = options["before"]
    wanted = Listing(trashed=True, sources=meant_sources(options["sources"]), limit=None)
    rows = every_session(store, wanted)
    return [row.session for row in rows if before is None or (row.session.trashed or 0) < before]


def _agreed(opened: OpenStore, chosen: Sequence[Session], options: _Options) -> bool:
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


def _carried_out(store: Store, chosen: Sequence[Session], options: _Options) -> Sequence[Session]:
    """Do what was agreed to; returns the sessions to which it was done."""
    ids = [each.id for each in chosen]
    if options["empty_trash"]:
        store.purge(ids)
        return chosen
    # A conversation may have been used while the question stood on the screen.
    if store.trash(ids, now_ms(), unless_used_since=options["before"]) == len(ids):
        return chosen
    return [each for each in chosen if store.session(each.id).trashed is not None]


def _answer(opened: OpenStore, chosen: Sequence[Session], options: _Options) -> None:
    if not chosen and not opened.as_json:
        tell(_nothing(options))
        return
    value = {
        "action": "purge" if options["empty_trash"] else "trash",
        "done": bool(chosen) and not options["dry_run"],
        "sessions": [session_fields(each) for each in chosen],
    }
    opened.answer(value, lambda view: _drawn(chosen, options, view.width))


def _nothing(options: _Options) -> str:
    if options["empty_trash"]:
        return "there is nothing in the trash to delete"
    return f"every conversation was used since {clock_time(options['before'] or 0)}"


def _drawn(chosen: Sequence[Session], options: _Options, width: int) -> list[Line]:
    count = counted(len(chosen), "session")
    if options["dry_run"]:
        verb = "delete for good" if options["empty_trash"] else "put into the trash"
        return [(Span(f"would {verb} {count}:", "bold"),), *_listing(chosen, width)]
    if options["empty_trash"]:
        return [(Span(f"deleted {count} for good"),)]
    back = "holdfast sessions list --trash names them, holdfast sessions restore ID brings one back"
    return [(Span(f"put {count} into the trash"),), (Span(back, "dim"),)]


def _listing(chosen: Sequence[Session], width: int) -> list[Line]:
    lines = drawn([SessionRow(each) for each in chosen[:_LISTED]], width, now_ms())
    more = len(chosen) - _LISTED
    return [*lines, (Span(f"  and {more:,} more", "dim"),)] if more > 0 else lines
