"""`holdfast sessions tree`: which session came from which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.commands import examples
from holdfast.cli.flags import session_argument
from holdfast.cli.sessions_tree_view import drawn
from holdfast.cli.store import with_store
from holdfast.views.lineage import lineage_tree
from holdfast.views.sessions import find_session

if TYPE_CHECKING:
    from holdfast.cli.store import OpenStore

__all__ = ["tree_command"]


@click.command(
    "tree",
    epilog=examples("holdfast sessions tree last", "holdfast sessions tree 20261116_0930 --views"),
)
@session_argument
@click.option("--views", is_flag=True, help="Name the compactions and rewinds of each session.")
@with_store
def tree_command(opened: OpenStore, name: str, *, views: bool) -> None:
    """Draw the sessions that came from one another.

    The session that was asked for is marked, and so is the one in which it goes on. A compaction
    with the strategy rotation goes straight down; every other fork is a branch of the tree.
    Imported sessions that belong to it and are not joined with it yet are named below.
    """
    tree = lineage_tree(opened.store, find_session(opened.store, name), views=views)
    opened.answer(tree.as_json(), lambda view: drawn(tree, view.width))
