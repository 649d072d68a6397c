"""`holdfast sessions tree`: which session came from which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.commands import examples
from holdfast.cli.flags import session_argument
from holdfast.cli.screen import Styled, output_text
from holdfast.cli.store import with_store
from holdfast.session import Cause, Fork
from holdfast.views.lineage import lineage_tree, parent_words
from holdfast.views.sessions import find_session, state_of, title_of
from holdfast.views.words import cells, clock_time, counted, crop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.screen import Line
    from holdfast.cli.store import OpenStore
    from holdfast.session import CompactionRecord
    from holdfast.views.lineage import LineageNode, LineageTree

__all__ = ["tree_command"]

_FINE = ("├─ ", "└─ ", "│  ", "   ")
_COARSE = ("|- ", "`- ", "|  ", "   ")


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
    opened.answer(tree.as_json(), lambda view: tree_drawn(tree, view.width))


def tree_drawn(tree: LineageTree, width: int) -> list[Line]:
    """Return the tree; the session asked for and the one where it goes on are marked.

    Below it stands what the tree belongs to, and what belongs to it, where they are not joined.
    """
    words = [] if tree.elder is None else [f"  belongs to {parent_words(tree.elder)}"]
    words += (f"  {each.id} belongs to it: {title_of(each)}" for each in tree.early)
    return [
        *_lines(tree, width),
        (),
        (Styled("  * the one you asked for, > where it goes on", "dim"),),
        *((Styled(crop(each, width)),) for each in words),
    ]


def _lines(tree: LineageTree, width: int) -> Iterator[Line]:
    """Draw every session below the one it came from.

    A conversation may have been rotated a thousand times, so nothing here calls itself, and a
    rotation that nothing branches from takes no room to the right.
    """
    children = tree.children()
    tee, corner, bar, gap = _strokes()
    waiting = [(node, "", "") for node in reversed(children.get("", []))]
    while waiting:
        node, lead, below = waiting.pop()
        mark = ("*" if node.session.id == tree.session else "") + (
            ">" if node.session.id == tree.leaf else ""
        )
        state = state_of(node.session)
        kind = f"by {node.session.fork}, " if node.session.fork else ""
        ended = state if state in ("live", "trash") else f"ended ({state})"
        about = f"  {kind}{ended}, {counted(node.session.size, 'entry', 'entries')}  "
        marked = f" {mark}" if mark else ""
        room = width - cells(lead) - len(node.session.id) - cells(marked) - cells(about)
        style = "bold green" if ">" in mark else "bold" if "*" in mark else "cyan"
        yield (
            Styled(lead, "dim"),
            Styled(node.session.id, style),
            Styled(marked, "bold"),
            Styled(about, "" if state == "live" else "dim"),
            Styled(crop(title_of(node.session), room) if room > 1 else ""),
        )
        onward = children.get(node.session.id, [])
        straight = len(onward) == 1 and onward[0].session.fork is Fork.COMPRESSION
        stem = below + (bar if onward and not straight else gap)
        yield from ((Styled(stem + words, "dim"),) for words in _views(node))
        for child in reversed(onward):
            side, under = (corner, gap) if child is onward[-1] else (tee, bar)
            waiting.append(
                (child, below, below) if straight else (child, below + side, below + under)
            )


def _views(node: LineageNode) -> Iterator[str]:
    passes = {record.after: record for record in node.compactions}
    for view in node.views:
        if view.cause in (Cause.COMPACTION, Cause.REWIND):
            record = passes.get(view.id)
            words = _pass(record) if record else ""
            yield f"{view.cause} {clock_time(view.at)}{words}"


def _pass(record: CompactionRecord) -> str:
    report = record.report
    before, after = report.get("tokens_before"), report.get("tokens_after")
    figures = f": {before:,} -> {after:,} tokens" if isinstance(before, int | float) else ""
    focus = f", focus {record.focus!r}" if record.focus else ""
    return f" ({record.trigger}){figures}{focus}"


def _strokes() -> tuple[str, str, str, str]:
    """Return lines for drawing, or signs like them where the output cannot encode lines."""
    try:
        "".join(_FINE).encode(output_text().encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return _COARSE
    return _FINE
