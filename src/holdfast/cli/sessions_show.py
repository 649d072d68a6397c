"""`holdfast sessions show`: one session with its window to scale and its messages."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.census import take_census
from holdfast.cli.desk import Desk, at_desk, session_argument
from holdfast.cli.examples import examples
from holdfast.cli.finding import find_session
from holdfast.cli.flags import setting_flags
from holdfast.cli.session_fields import (
    compaction_fields,
    entry_fields,
    session_fields,
)
from holdfast.cli.sessions_message_view import full_text, message_drawn
from holdfast.cli.sessions_show_view import Shown, drawn
from holdfast.cli.speakers import speaker_of
from holdfast.conversation.compactor import flaws_of
from holdfast.session import path_to, places_of
from holdfast.session.lineage_reader import said_until
from holdfast.tokens import Scale
from holdfast.transcript import one_line
from holdfast.transfer import stated_parent
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from holdfast.session import Entry, Session
    from holdfast.transcript import Message

__all__ = ["show_command"]

_SKETCH = 160
_CALLS_BEFORE = 200
"""Messages before a result among which its call is looked for."""


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
@at_desk
def show_command(desk: Desk, name: str, **options: Unpack[_Options]) -> None:
    """Show a session: its window to scale, and its messages.

    The window is what the model sees now. --all lists everything that was said instead, also what
    was folded or rewound and what the sessions before this one said. The number in front of a
    message is its id, which --message, fork and pin take.
    """
    session = find_session(desk.store, name)
    if options["message"] is not None:
        _show_message(desk, options["message"], whole=options["whole"])
        return
    if options["whole"]:
        raise click.UsageError("--whole goes with --message")
    shown = _shown(desk, session)
    entries = said_until(desk.store, session.id) if options["scope"] == "all" else shown.window
    kept = entries[-options["limit"] :] if options["limit"] else entries
    desk.answer(
        _fields(shown, kept, len(entries)),
        lambda view: drawn(shown, kept, len(entries) - len(kept), view),
    )


def _shown(desk: Desk, session: Session) -> Shown:
    store = desk.store
    window = store.window(session.id)
    policy = policy_of(desk.settings)
    return Shown(
        session=session,
        path=path_to(store.lineage(session.id), session.id),
        window=window.entries,
        census=take_census(window.transcript, Scale(counter_of(desk.settings))),
        limits=(policy.context_length, policy.threshold_tokens),
        compactions=store.compactions(session.id),
        is_undone=window.head.view != store.tip(session.id),
        elder=stated_parent(store, session),
        warnings=flaws_of(store, session.id, window.head.view).warnings,
    )


def _fields(shown: Shown, entries: tuple[Entry, ...], total: int) -> dict[str, object]:
    elder = shown.elder
    return {
        **session_fields(shown.session),
        "places": places_of(shown.path),
        "path": [each.id for each in shown.path],
        "belongs_to": None if elder is None else asdict(elder),
        "window": {
            "messages": len(shown.window),
            "tokens": shown.census.tokens,
            "context_length": shown.limits[0],
            "threshold_tokens": shown.limits[1],
            "kinds": {str(kind): tokens for kind, tokens in shown.census.kinds.items()},
            "undone": shown.is_undone,
        },
        "warnings": list(shown.warnings),
        "compactions": [compaction_fields(each) for each in shown.compactions],
        "messages": [_entry(each) for each in entries],
        "messages_left_out": total - len(entries),
    }


def _entry(entry: Entry, message: Message | None = None) -> dict[str, object]:
    fields = entry_fields(entry, one_line(message or entry.message, _SKETCH))
    return {**fields, "speaker": speaker_of(entry.message)}


def _show_message(desk: Desk, number: int, *, whole: bool) -> None:
    entry = desk.store.entry(number)
    message = desk.store.whole(number) if whole else entry.message
    names = _names(desk, entry) if any(not each.name for each in message.results) else {}
    fields = {**_entry(entry, message), "text": full_text(message, names)}
    desk.answer(fields, lambda _: message_drawn(entry, message, names))


def _names(desk: Desk, entry: Entry) -> dict[str, str]:
    """Return the names of the calls before an entry by their ids; results need not repeat them."""
    before = desk.store.said(entry.session, entry.position, before=_CALLS_BEFORE, after=0)
    return {call.id: call.name for each in before for call in each.message.calls}
