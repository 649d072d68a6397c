"""`holdfast sessions fork`: another way to go on from some point of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.desk import Desk, at_desk, session_argument
from holdfast.cli.examples import examples
from holdfast.cli.finding import find_session
from holdfast.cli.lines import Line, Span, counted
from holdfast.cli.session_fields import session_fields
from holdfast.cli.streams import Unusable
from holdfast.conversation.lineage import up_to
from holdfast.session import EndReason, Fork, Session, Spawn, next_title
from holdfast.wiring.conversations import stored_conversation

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Entry

__all__ = ["fork_command"]


class _Options(TypedDict):
    at: int | None
    title: str
    end_parent: bool


@click.command(
    "fork",
    epilog=examples(
        "holdfast sessions fork last",
        'holdfast sessions fork 20261116_0930 --at 1204 --title "Another approach"',
    ),
)
@session_argument
@click.option("--at", type=int, metavar="MESSAGE", help="The id of the last message it shares.")
@click.option("--title", default="", metavar="T", help="Its title; the next of the line if none.")
@click.option("--end-parent", is_flag=True, help="End the session that it came from.")
@at_desk
def fork_command(desk: Desk, name: str, **options: Unpack[_Options]) -> None:
    """Begin a session that shares what was said so far.

    Nothing is copied, and the session it comes from goes on unless --end-parent is given. With
    --at, the fork ends at a message, or before it where a tool's answer would be parted from its
    call. The new id is printed first.
    """
    parent = find_session(desk.store, name)
    shown = _shared(desk.store, parent, options["at"])
    child = _spawned(desk, parent, shown, options)
    fields = {**session_fields(child), "messages": len(shown)}
    desk.answer(fields, lambda _: _drawn(child, parent, len(shown)))


def _shared(store: Store, parent: Session, at: int | None) -> tuple[Entry, ...]:
    """Return what the fork shows: the window, or an older one that still had the message."""
    window = store.window(parent.id).entries
    if at is None:
        return window
    older = [view.id for view in reversed(store.views(parent.id))]
    for view in [None, *older, None]:
        if any(entry.id == at for entry in window):
            return up_to(window, at)
        window = store.window_at(parent.id, view).entries
    raise Unusable(f"message {at} is in no window of session {parent.id}{_elsewhere(store, at)}")


def _elsewhere(store: Store, at: int) -> str:
    home = store.entry(at).session
    return f"; it was said in session {home}, which can be forked instead"


def _spawned(desk: Desk, parent: Session, shown: tuple[Entry, ...], options: _Options) -> Session:
    deps = stored_conversation(desk.settings, desk.store, parent).live.deps
    taken = [each.title for each in desk.store.lineage(parent.id)]
    child = Session(
        id=deps.unused_id(),
        source=parent.source,
        started=deps.clock.moment(),
        title=options["title"] or next_title(parent.title, taken),
        model=parent.model,
        goal=parent.goal,
        parent=parent.id,
        fork=Fork.BRANCH,
    )
    end = EndReason.BRANCHED if options["end_parent"] else None
    return desk.store.spawn(Spawn(child=child, shows=shown, parent_end=end))


def _drawn(child: Session, parent: Session, count: int) -> list[Line]:
    return [
        (Span(child.id, "bold green"),),
        (Span(f"{child.title or 'it'} shares {counted(count, 'message')} with {parent.id}"),),
    ]
