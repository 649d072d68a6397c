"""`holdfast sessions show`: one session with its window to scale and its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.commands import examples
from holdfast.cli.flags import session_argument, setting_flags
from holdfast.cli.sessions_message_view import message_drawn
from holdfast.cli.sessions_show_view import drawn
from holdfast.cli.store import with_store
from holdfast.ports.history import said_until
from holdfast.views.details import session_details
from holdfast.views.messages import call_names, full_text, message_fields
from holdfast.views.sessions import find_session
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from typing import Unpack

    from holdfast.cli.store import OpenStore

__all__ = ["show_command"]


class _Options(TypedDict):
    scope: str
    message: int | None
    whole: bool
    limit: int


@click.command(
    "show",
    epilog=examples(
        "holdfast sessions show last",
        "holdfast sessions show 20261116_0930 --all --limit 0",
        "holdfast sessions show last --message 1204 --whole",
    ),
)
@session_argument
@click.option("--window", "scope", flag_value="window", default="window", help="The window only.")
@click.option("--all", "scope", flag_value="all", help="List everything that was ever said.")
@click.option("--message", type=int, metavar="N", help="Show the message with this id in full.")
@click.option("--whole", is_flag=True, help="With --message: as it was said, not as shortened.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many messages to list, the newest; 0 for all.",
)
@setting_flags
@with_store
def show_command(opened: OpenStore, name: str, **options: Unpack[_Options]) -> None:
    """Show a session: its window to scale, and its messages.

    The window is what the model sees now. --all lists everything that was said instead, also what
    was folded or rewound and what the sessions before this one said. The number in front of a
    message is its id, which --message, fork and pin take.
    """
    session = find_session(opened.store, name)
    if options["message"] is not None:
        _show_message(opened, options["message"], whole=options["whole"])
        return
    if options["whole"]:
        raise click.UsageError("--whole goes with --message")
    shown = session_details(
        opened.store, session, policy_of(opened.settings), counter_of(opened.settings)
    )
    entries = said_until(opened.store, session.id) if options["scope"] == "all" else shown.window
    kept = entries[-options["limit"] :] if options["limit"] else entries
    left_out = len(entries) - len(kept)
    opened.answer(shown.as_json(kept, left_out), lambda view: drawn(shown, kept, left_out, view))


def _show_message(opened: OpenStore, number: int, *, whole: bool) -> None:
    entry = opened.store.entry(number)
    message = opened.store.whole(number) if whole else entry.message
    names = (
        call_names(opened.store, entry) if any(not each.name for each in message.results) else {}
    )
    fields = {**message_fields(entry, message), "text": full_text(message, names)}
    opened.answer(fields, lambda _: message_drawn(entry, message, names))
