"""`holdfast sessions diff`: what a compaction folded, what stands in its place, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.desk import Desk, at_desk, session_argument
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.finding import find_session
from holdfast.cli.screen import tell
from holdfast.cli.session_fields import compaction_fields, entry_fields
from holdfast.cli.sessions_diff_view import Compared, drawn
from holdfast.cli.streams import Unusable
from holdfast.conversation import difference
from holdfast.redaction import Redactor
from holdfast.session import latest_leaf
from holdfast.transcript import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.session import CompactionRecord, Entry, Session
    from holdfast.summary import Stated

__all__ = ["diff_command"]

_SKETCH = 160


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
@at_desk
def diff_command(desk: Desk, name: str, *, number: int | None, limit: int) -> Exit:
    """Show what a compaction did to the window.

    Red is what was folded and is only in the store now, green what the record keeps of it, yellow
    what only the store has of it; holdfast search finds that. The two bars are to one scale.
    """
    session = find_session(desk.store, name)
    passes = desk.store.compactions(session.id)
    if not passes:
        tell(_none(desk, session))
        return Exit.NOTHING_TO_DO
    if number is not None and number > len(passes):
        raise Unusable(f"session {session.id} has had {len(passes)} compactions, not {number}")
    found = _compared(desk, session, passes, (number or len(passes)) - 1)
    desk.answer(_fields(found), lambda view: drawn(found, limit, view.width))
    return Exit.DONE


def _none(desk: Desk, session: Session) -> str:
    leaf = latest_leaf(desk.store.lineage(session.id), session.id)
    onward = f"; it goes on in {leaf.id}" if leaf.id != session.id else ""
    return f"session {session.id} has had no compaction{onward}"


def _compared(
    desk: Desk, session: Session, passes: tuple[CompactionRecord, ...], index: int
) -> Compared:
    redactor = Redactor(desk.settings.redaction.extra_patterns)
    return Compared(
        session=session,
        number=index + 1,
        total=len(passes),
        difference=difference(desk.store, passes[index], redactor.redact),
    )


def _fields(found: Compared) -> dict[str, object]:
    difference = found.difference
    return {
        "session": found.session.id,
        "number": found.number,
        "compactions": found.total,
        "compaction": compaction_fields(difference.record),
        "folded": _listed(difference.folded),
        "replaced": [
            {"before": first, "after": second}
            for first, second in zip(
                _listed(old for old, _ in difference.replaced),
                _listed(new for _, new in difference.replaced),
                strict=True,
            )
        ],
        "added": _listed(difference.added),
        "kept": _listed(difference.kept),
        "record": difference.record.summary,
        "statements_in_window": _statements(difference.retained),
        "statements_in_store_only": _statements(difference.stored),
    }


def _listed(entries: Iterable[Entry]) -> list[dict[str, object]]:
    return [entry_fields(each, one_line(each.message, _SKETCH)) for each in entries]


def _statements(found: Iterable[Stated]) -> list[dict[str, str]]:
    return [{"kind": each.kind, "text": each.text} for each in found]
