"""`holdfast sessions diff`: what a compaction folded, what stands in its place, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.flags import session_argument
from holdfast.cli.screen import tell
from holdfast.cli.sessions_diff_view import drawn
from holdfast.cli.store import with_store
from holdfast.redaction import Redactor
from holdfast.session import latest_leaf
from holdfast.views.compaction_diff import compaction_diff
from holdfast.views.sessions import find_session

if TYPE_CHECKING:
    from holdfast.cli.store import OpenStore
    from holdfast.session import Session

__all__ = ["diff_command"]


@click.command(
    "diff",
    epilog=examples(
        "holdfast sessions diff last", "holdfast sessions diff 20261116_0930 --number 2"
    ),
)
@session_argument
@click.option(
    "--number",
    type=click.IntRange(min=1),
    metavar="N",
    help="Which compaction of the session, the first is 1; the newest by default.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many messages and statements to list of each kind; 0 for all.",
)
@with_store
def diff_command(opened: OpenStore, name: str, *, number: int | None, limit: int) -> Exit:
    """Show what a compaction did to the window.

    Red is what was folded and is only in the store now, green what the record keeps of it, yellow
    what only the store has of it; holdfast search finds that. The two bars are to one scale.
    """
    session = find_session(opened.store, name)
    redactor = Redactor(opened.settings.redaction.extra_patterns)
    found = compaction_diff(opened.store, session, number, redactor.redact)
    if found is None:
        tell(_none(opened, session))
        return Exit.NOTHING_TO_DO
    opened.answer(found.as_json(), lambda view: drawn(found, limit, view.width))
    return Exit.DONE


def _none(opened: OpenStore, session: Session) -> str:
    leaf = latest_leaf(opened.store.lineage(session.id), session.id)
    onward = f"; it goes on in {leaf.id}" if leaf.id != session.id else ""
    return f"session {session.id} has had no compaction{onward}"
