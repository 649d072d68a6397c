"""`holdfast sessions tree`: which session came from which."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from holdfast.cli.desk import Desk, at_desk, session_argument
from holdfast.cli.examples import examples
from holdfast.cli.finding import find_session
from holdfast.cli.session_fields import compaction_fields, iso_time, session_fields
from holdfast.cli.sessions_tree_view import Twig, drawn, drawn_relations
from holdfast.session import latest_leaf
from holdfast.transfer import stated_parent, unlinked_children

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = ["tree_command"]


@click.command(
    "tree",
    epilog=examples("holdfast sessions tree last", "holdfast sessions tree 20261116_0930 --views"),
)
@session_argument
@click.option("--views", is_flag=True, help="Name the compactions and rewinds of each session.")
@at_desk
def tree_command(desk: Desk, name: str, *, views: bool) -> None:
    """Draw the sessions that came from one another.

    The session that was asked for is marked, and so is the one in which it goes on. A compaction
    with the strategy rotation goes straight down; every other fork is a branch of the tree.
    Imported sessions that belong to it and are not joined with it yet are named below.
    """
    session = find_session(desk.store, name)
    lineage = desk.store.lineage(session.id)
    leaf = latest_leaf(lineage, session.id).id
    twigs = [_twig(desk.store, each, views=views) for each in lineage]
    elder, early = stated_parent(desk.store, lineage[0]), unlinked_children(desk.store, lineage[0])
    value = {
        "session": session.id,
        "leaf": leaf,
        "sessions": [_fields(each) for each in twigs],
        "belongs_to": None if elder is None else asdict(elder),
        "imported_before": [each.id for each in early],
    }
    desk.answer(
        value,
        lambda view: [
            *drawn(twigs, session.id, leaf, view.width),
            *drawn_relations(elder, early, view.width),
        ],
    )


def _twig(store: Store, session: Session, *, views: bool) -> Twig:
    return Twig(
        session=session,
        views=store.views(session.id) if views else (),
        compactions=store.compactions(session.id) if views else (),
    )


def _fields(twig: Twig) -> dict[str, object]:
    passes = {each.after: compaction_fields(each) for each in twig.compactions}
    return {
        **session_fields(twig.session),
        "views": [
            {
                "id": view.id,
                "parent": view.parent,
                "cause": str(view.cause),
                "at": iso_time(view.at),
                "compaction": passes.get(view.id),
            }
            for view in twig.views
        ],
    }
