"""`holdfast sessions delete` and `restore`: into the trash and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.flags import agreed, now_ms, session_argument, yes_flag
from holdfast.cli.lines import Line, Span
from holdfast.cli.screen import tell
from holdfast.cli.store import OpenStore, with_store
from holdfast.views.sessions import find_session, title_of
from holdfast.views.words import counted

if TYPE_CHECKING:
    from holdfast.session import Session

__all__ = ["delete_command", "restore_command"]

_lineage_flag = click.option(
    "--lineage", is_flag=True, help="All sessions that came from one another, not this one alone."
)


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
    opened.answer({"trashed": ids, "restore": back}, lambda _: _deleted(chosen, back))
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
    opened.answer({"restored": ids}, lambda _: [(Span(f"restored {_named(chosen)}"),)])
    return Exit.DONE


def _chosen(opened: OpenStore, session: Session, *, lineage: bool) -> tuple[Session, ...]:
    return opened.store.lineage(session.id) if lineage else (session,)


def _named(sessions: list[Session]) -> str:
    first = sessions[0]
    more = f" and {counted(len(sessions) - 1, 'other session')}" if len(sessions) > 1 else ""
    return f"session {first.id} ({title_of(first)}){more}"


def _deleted(sessions: list[Session], back: str) -> list[Line]:
    return [
        (Span(f"put {_named(sessions)} into the trash"),),
        (Span(f"to bring it back: {back}", "dim"),),
    ]
