"""Turning back: rewinds, and the system prompt that a later start of the program brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.errors import UnknownSession
from holdfast.session import Cause, Change, Draft, path_to
from holdfast.transcript import Role, is_user_word, seams

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Entry, Piece, Window
    from holdfast.transcript import Message

__all__ = ["before_turns", "prompted", "shared_until", "turned", "up_to"]


def before_turns(window: Window, turns: int) -> tuple[Entry, ...]:
    """Return what is left of the window without its last turns.

    A turn begins with what a user said. What a summary stands for is no longer in the window and
    is not rewound; undoing the compaction brings it back.
    """
    starts = [index for index, entry in enumerate(window.entries) if is_user_word(entry.message)]
    if not starts or turns < 1:
        return window.entries
    kept = starts[-turns] if turns <= len(starts) else starts[0]
    if window.entries[kept].message.summary is not None:
        # The summary shares this turn's message; both stay.
        kept += 1
    return window.entries[:kept]


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


def prompted(window: Window, prompt: Message, at: int) -> Change | None:
    """Return the change that gives the window another system prompt, or nothing if it has it."""
    entries = window.entries
    old = entries[0].message if entries and entries[0].message.role is Role.SYSTEM else None
    if old is not None and old.text.removesuffix(SYSTEM_NOTE).rstrip() == prompt.text.rstrip():
        return None
    draft = Draft(message=prompt, at=at, stands_for=entries[0].id if old is not None else None)
    return turned(window, (draft, *entries[1 if old is not None else 0 :]), Cause.PROMPT, at)
