"""`holdfast sessions rename`, `goal`, `pin` and `end`: small changes to what a session is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.flags import now_ms, session_argument
from holdfast.cli.lines import Line, Span
from holdfast.cli.screen import Unusable, tell
from holdfast.cli.store import OpenStore, find_leaf, with_store
from holdfast.ports.store import Amendment
from holdfast.session import EndReason
from holdfast.views.messages import entry_fields
from holdfast.views.sessions import find_session, session_fields

if TYPE_CHECKING:
    from holdfast.session import Entry, Session

__all__ = ["end_command", "goal_command", "pin_command", "rename_command"]


@click.command("rename", epilog=examples('holdfast sessions rename last "The billing bug"'))
@session_argument
@click.argument("title")
@with_store
def rename_command(opened: OpenStore, name: str, title: str) -> None:
    """Give a session another title."""
    session = find_session(opened.store, name)
    renamed = opened.store.amend(session.id, Amendment(title=title.strip()))
    words = f"session {renamed.id} is now called {renamed.title or 'nothing'}"
    opened.answer(session_fields(renamed), lambda _: [(Span(words),)])


@click.command(
    "goal",
    epilog=examples(
        "holdfast sessions goal last",
        'holdfast sessions goal last "Ship the billing service"',
        "holdfast sessions goal last --clear",
    ),
)
@session_argument
@click.argument("text", required=False)
@click.option("--clear", is_flag=True, help="Take the goal away.")
@with_store
def goal_command(opened: OpenStore, name: str, text: str | None, *, clear: bool) -> Exit:
    """Show, set or clear the goal of a session.

    The goal is shown to the model with every request, and survives every compaction and fork.
    """
    if clear and text is not None:
        raise click.UsageError("a goal is either set or cleared")
    session = find_leaf(opened.store, name)
    if clear or text is not None:
        goal = Amendment(goal="" if text is None else text.strip())
        session = opened.store.amend(session.id, goal)
    if not session.goal and not opened.as_json:
        tell(f"session {session.id} has no goal{' any more' if clear else ''}")
        return Exit.DONE if clear else Exit.NOTHING_TO_DO
    opened.answer(
        {"session": session.id, "goal": session.goal},
        lambda _: [(Span(line),) for line in session.goal.splitlines()],
    )
    return Exit.DONE


@click.command(
    "pin",
    epilog=examples(
        "holdfast sessions pin last",
        "holdfast sessions pin last 1204",
        "holdfast sessions pin last 1204 --remove",
    ),
)
@session_argument
@click.argument("message", type=int, required=False)
@click.option("--remove", is_flag=True, help="Let compactions fold the message again.")
@with_store
def pin_command(opened: OpenStore, name: str, message: int | None, *, remove: bool) -> Exit:
    """Keep a message word for word in every compaction.

    MESSAGE is the id of a message, as sessions show lists it. Without one, the pins are listed.
    Pins count within the budget of a compaction.
    """
    if remove and message is None:
        raise click.UsageError("name the message whose pin is to be removed")
    session = find_leaf(opened.store, name)
    if message is not None:
        _check_message(opened, session, message)
        opened.store.pin(session.id, message, pinned=not remove)
    pins = [opened.store.entry(each) for each in sorted(opened.store.pins(session.id))]
    if not pins and not opened.as_json:
        tell(f"nothing is pinned in session {session.id}")
        return Exit.DONE if message is not None else Exit.NOTHING_TO_DO
    fields = [entry_fields(each) for each in pins]
    opened.answer({"session": session.id, "pins": fields}, lambda view: _pins(pins, view.width))
    return Exit.DONE


@click.command(
    "end", epilog=examples("holdfast sessions end last", "holdfast sessions end last --reopen")
)
@session_argument
@click.option("--reopen", is_flag=True, help="Let a closed session go on.")
@with_store
def end_command(opened: OpenStore, name: str, *, reopen: bool) -> Exit:
    """End a session; opening it again takes that back.

    The exit code is 3 when it has ended already, or with --reopen when it has not.
    """
    session = find_session(opened.store, name)
    if (session.ended is None) == reopen:
        ended = f"has ended already ({session.end_reason})"
        tell(f"session {session.id} {'is live' if reopen else ended}")
        return Exit.NOTHING_TO_DO
    changed = opened.store.end(session.id, None if reopen else EndReason.CLOSED, now_ms())
    words = f"{'reopened' if reopen else 'ended'} session {changed.id}"
    opened.answer(session_fields(changed), lambda _: [(Span(words),)])
    return Exit.DONE


def _check_message(opened: OpenStore, session: Session, message: int) -> None:
    """Refuse a message of another conversation: its pin would do nothing."""
    home = opened.store.session(opened.store.entry(message).session)
    if home.root != session.root:
        raise Unusable(f"message {message} belongs to session {home.id}, not to {session.id}")


def _pins(pins: list[Entry], width: int) -> list[Line]:
    from holdfast.cli.sessions_show_view import entries_listed

    return entries_listed(pins, width)
