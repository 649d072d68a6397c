"""`holdfast sessions tree` and `diff`: which session came from which, and what a compaction did."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from holdfast.cli.flags import session_argument
from holdfast.cli.inspect import columns_of, joined
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, output_text, tell, wrapped
from holdfast.cli.store import with_store
from holdfast.conversation.compactor import warnings_of
from holdfast.redaction import Redactor
from holdfast.session import Cause, Fork, latest_leaf
from holdfast.transcript import one_line
from holdfast.transfer import FOLD
from holdfast.views.context_map import compaction_diff
from holdfast.views.sessions import find_session, state_of, title_of
from holdfast.views.timeline import lineage_tree, parent_words
from holdfast.views.words import cells, clock_time, counted, crop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.cli.screen import Line
    from holdfast.cli.store import OpenStore
    from holdfast.conversation import Difference
    from holdfast.session import Entry
    from holdfast.summary import Stated
    from holdfast.views.context_map import CompactionDiff
    from holdfast.views.timeline import LineageNode, LineageTree

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
    try:
        "".join(_FINE).encode(output_text().encoding or "ascii")
        tee, corner, bar, gap = _FINE
    except (UnicodeEncodeError, LookupError):
        # The output cannot encode lines.
        tee, corner, bar, gap = _COARSE
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
            words = ""
            if record is not None:
                report = record.report
                before, after = report.get("tokens_before"), report.get("tokens_after")
                words = f" ({record.trigger})"
                if isinstance(before, int | float):
                    words += f": {before:,} -> {after:,} tokens"
                words += f", focus {record.focus!r}" if record.focus else ""
            yield f"{view.cause} {clock_time(view.at)}{words}"


_KEPT, _FOLDED, _REPLACED, _ADDED = "=", "-", "~", "+"
_STYLES = {_KEPT: "", _FOLDED: "red", _REPLACED: "yellow", _ADDED: "green"}
_LABEL = 10
_INDENT = 2


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
        leaf = latest_leaf(opened.store.lineage(session.id), session.id)
        onward = f"; it goes on in {leaf.id}" if leaf.id != session.id else ""
        tell(f"session {session.id} has had no compaction{onward}")
        return Exit.NOTHING_TO_DO
    opened.answer(found.as_json(), lambda view: diff_drawn(found, limit, view.width))
    return Exit.DONE


def diff_drawn(found: CompactionDiff, limit: int, width: int) -> list[Line]:
    """Return the picture; of each kind, at most `limit` things are listed, 0 means all."""
    said = partial(_statements, most=limit or sys.maxsize, width=width)
    return [
        *_heading(found, width),
        (),
        *_strips(found, width),
        *_changed(found.difference, limit, width),
        *said("statements that still stand in the window", found.difference.retained, "green"),
        *said("statements that only the store has", found.difference.stored, "yellow"),
    ]


def _heading(found: CompactionDiff, width: int) -> Iterator[Line]:
    record, report = found.difference.record, found.difference.record.report
    yield (Styled(crop(title_of(found.session), width - 2), "bold"),)
    words = [f"compaction {found.number} of {found.total}", clock_time(record.at), record.trigger]
    words += [f"focus {record.focus!r}"] if record.focus else []
    yield (Styled(crop(", ".join(words), width - 2)),)
    facts, stored = len(found.difference.retained), len(found.difference.stored)
    before, after = found.difference.before, found.difference.after
    said = report.get("tokens_before"), report.get("tokens_after")
    is_agents = record.trigger == FOLD
    yield from _figure("tokens", *((_weight(before), _weight(after)) if is_agents else said))
    if is_agents:
        yield from _figure("by agent", *said)
    yield from _figure("messages", len(before), len(after))
    if facts + stored:
        told = f"{facts:,} of {facts + stored:,} that went still stand in the window"
        yield (Styled(f"  {'said':<{_LABEL}}", "dim"), Styled(told))
    for warning in warnings_of(record):
        words = crop(warning, width - _LABEL - 4)
        yield (Styled(f"  {'warning':<{_LABEL}}", "yellow"), Styled(words))


def _figure(label: str, before: object, after: object) -> Iterator[Line]:
    if isinstance(before, int) and isinstance(after, int):
        change = f" ({after / before - 1:+.0%})" if before else ""
        yield (Styled(f"  {label:<{_LABEL}}", "dim"), Styled(f"{before:,} -> {after:,}{change}"))


def _strips(found: CompactionDiff, width: int) -> Iterator[Line]:
    difference = found.difference
    folded = {entry.id for entry in difference.folded}
    replaced = {entry.id for pair in difference.replaced for entry in pair}
    added = {entry.id for entry in difference.added}

    def mark(entry: Entry) -> str:
        if entry.id in folded:
            return _FOLDED
        if entry.id in added:
            return _ADDED
        return _REPLACED if entry.id in replaced else _KEPT

    room = width - _LABEL - 2
    before, after = difference.before, difference.after
    heaviest = max(_weight(before), _weight(after), 1)
    for label, entries in (("before", before), ("after", after)):
        share = max(round(_weight(entries) / heaviest * room), 1)
        signs = columns_of(
            ((mark(entry), entry.tokens) for entry in entries), _weight(entries), share
        )
        spans = joined([Styled(sign, _STYLES[sign] or "dim") for sign in signs])
        yield (Styled(f"  {label:<{_LABEL - 3}}["), *spans, Styled("]"))
    yield (
        Styled("  = kept  ", "dim"),
        Styled("- folded  ", "red"),
        Styled("~ replaced  ", "yellow"),
        Styled("+ record  ", "green"),
        Styled(f"(a column is about {counted(max(round(heaviest / room), 1), 'token')})", "dim"),
    )


def _changed(difference: Difference, limit: int, width: int) -> Iterator[Line]:
    """Yield what was folded, what was replaced, and the record that was added."""
    most = limit or sys.maxsize
    if difference.folded:
        weight = f"about {_weight(difference.folded):,} tokens"
        yield from _section(f"folded: {counted(len(difference.folded), 'message')}, {weight}")
        for entry in difference.folded[:most]:
            yield (_row(_FOLDED, entry, width),)
        yield from _more(len(difference.folded) - most)
    if difference.replaced:
        yield from _section(f"replaced: {counted(len(difference.replaced), 'message')}")
        for before, after in difference.replaced[:most]:
            yield (_row(_FOLDED, before, width),)
            yield (_row(_ADDED, after, width),)
        yield from _more(len(difference.replaced) - most)
    if difference.record.summary:
        yield from _section(f"the record: about {_weight(difference.added):,} tokens")
        lines = wrapped(difference.record.summary, width - _INDENT - 2)
        shown = lines[: limit * 2] if limit else lines
        for line in shown:
            yield (Styled(f"{' ' * _INDENT}{_ADDED} {line}".rstrip(), "green"),)
        if left := len(lines) - len(shown):
            yield (Styled(f"    {counted(left, 'more line')}; --limit 0 shows all", "dim"),)


def _statements(
    title: str, facts: Sequence[Stated], style: str, *, most: int, width: int
) -> Iterator[Line]:
    if not facts:
        return
    yield from _section(f"{title}: {len(facts):,}")
    for each in facts[:most]:
        kind = f"{' ' * _INDENT}{each.kind:<12}"
        yield (
            Styled(kind, "dim"),
            Styled(crop(" ".join(each.text.split()), width - cells(kind)), style),
        )
    yield from _more(len(facts) - most)


def _section(words: str) -> Iterator[Line]:
    yield ()
    yield (Styled(words, "bold"),)


def _row(sign: str, entry: Entry, width: int) -> Styled:
    lead = f"{' ' * _INDENT}{sign} {entry.id:>6} {entry.message.role:<9} {entry.tokens:>7,}  "
    return Styled(lead + crop(one_line(entry.message, width), width - cells(lead)), _STYLES[sign])


def _more(count: int) -> Iterator[Line]:
    if count > 0:
        yield (Styled(f"    {count:,} more; --limit 0 lists all", "dim"),)


def _weight(entries: Sequence[Entry]) -> int:
    return sum(entry.tokens for entry in entries)
