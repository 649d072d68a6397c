"""Turning back: rewinds, and the system prompt that a later start of the program brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.session import Cause, Change, path_to
from holdfast.transcript import is_user_word, seams

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Entry, Piece, Window

__all__ = ["before_turns", "shared_until", "turned", "up_to"]


def before_turns(window: Window, turns: int) -> tuple[Entry, ...]:
    """Return what is left of the window without its last turns.

    A turn begins with what a user said. What a summary stands for is no longer in the window and
    is not rewound; undoing the compaction brings it back.
    """
    starts = [index for index, entry in enumerate(window.entries) if is_user_word(entry.message)]
    if not starts or turns < 1:
        return window.entries
    kept = starts[-turns] if turns <= len(starts) else starts[0]
    # The summary stays, and with it the turn whose message it shares.
    summaries = (index for index, entry in enumerate(window.entries) if entry.message.summary)
    return window.entries[: max([kept, *(index + 1 for index in summaries)])]


def up_to(entries: tuple[Entry, ...], message_id: int) -> tuple[Entry, ...]:
    """Return the entries up to a message, cut where no call is parted from its result.

    Raises:
        UnknownSession: when the message is not among them.
    """
    at = next((index for index, entry in enumerate(entries) if entry.id == message_id), None)
    if at is None:
        raise UnknownSession(f"message {message_id} is not part of this conversation")
    transcript = tuple(entry.message for entry in entries)
    end = max((seam for seam in seams(transcript) if seam <= at + 1), default=0)
    return entries[:end]


def shared_until(store: Store, id_: str, message_id: int) -> tuple[Entry, ...]:
    """Return what a branch at a message shows: the newest window that has the message.

    What was folded stands in an earlier window, of this session or of those it came from.

    Raises:
        UnknownSession: when no window ever had it.
    """
    for session in reversed(path_to(store.lineage(id_), id_)):
        views = [None, *(view.id for view in store.views(session.id))]
        for view in (store.head(session.id).view, *reversed(views)):
            entries = store.window_at(session.id, view).entries
            if any(entry.id == message_id for entry in entries):
                return up_to(entries, message_id)
    return up_to((), message_id)


def turned(window: Window, kept: tuple[Piece, ...], cause: Cause, at: int) -> Change:
    """Return the change that leaves only these pieces in the window."""
    return Change(
        cause=cause,
        pieces=kept,
        generation=window.head.generation,
        seen=window.head.size,
        at=at,
    )
