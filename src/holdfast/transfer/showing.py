"""What a session shows of those that it came from, and what happened to its window since."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.formats.events import native_of
from holdfast.session import Cause, Fork, Kind
from holdfast.transfer.identity import elder_name, is_strand, mark_left

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.ports import Store
    from holdfast.session import Entry, Session, Span, View
    from holdfast.transfer.keys import Keys

__all__ = ["Shown", "entries_of", "leaves_after", "marks_left", "shown_by", "without_copies"]

_AT_ONCE = 500
"""Messages that are read at a time."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the views of a session say."""

    shared: tuple[Span, ...] = ()
    """What it showed of its parent when it began."""
    changes: tuple[View, ...] = ()
    newest: int | None = None
    copied: int = 0
    """How many messages at the beginning of its log are copies of its parent's."""


def shown_by(store: Store, session: Session) -> Shown:
    """Return what the views of a session say."""
    if session.parent is None and not session.generation:
        return Shown()  # it has none, and many are told at once
    views = store.views(session.id)
    return Shown(
        shared=next((view.spans for view in views if view.cause is Cause.FORK), ()),
        changes=tuple(view for view in views if view.cause is not Cause.FORK),
        newest=views[-1].id if views else None,
    )


def marks_left(lineage: Iterable[Session]) -> frozenset[str]:
    """Return the marks of the messages after which branches of a family leave."""
    marks = (mark_left(session) for session in lineage if session.fork is Fork.BRANCH)
    return frozenset(mark for mark in marks if mark)


def leaves_after(session: Session, keys: Keys) -> str | None:
    """Return the key of the last message that a branch shares; None where views have to say it.

    A branch of branches may show a piece of each of them, so that reading what all of them show
    takes ever longer. The mark of the one message is enough, where nothing else is to be known.
    """
    if session.generation or not is_strand(session):
        return None
    mark = mark_left(session)
    return keys.of_mark(mark) if mark else ""


def without_copies(store: Store, session: Session, shown: Shown, keys: Keys) -> Shown:
    """Return what is to be told of a branch whose own file begins with lines of its parent's.

    Its copies are called like what they are copies of, and so is what happened to them.
    """
    if shown.shared or not elder_name(session):
        return shown
    parent = store.session(session.parent or "")
    copied = 0
    said = (entry for entry in entries_of(store, parent) if entry.kind is Kind.SAID)
    for mine, theirs in zip(entries_of(store, session), said, strict=False):
        if not _is_copy(mine, theirs) or not keys.share(mine, theirs):
            break
        copied = mine.position
    changes = tuple(view for view in shown.changes if view.upto >= copied)
    return replace(shown, changes=changes, copied=copied)


def _is_copy(mine: Entry, theirs: Entry) -> bool:
    """Say whether both say the same for the same agent, which may call the copy otherwise."""
    one, other = native_of(mine.message), native_of(theirs.message)
    is_alike = bool(one.mark) and bool(other.mark) and one.reply == other.reply
    return is_alike and (mine.message.role, mine.message.parts) == (
        theirs.message.role,
        theirs.message.parts,
    )


def entries_of(store: Store, session: Session, after: int = 0) -> Iterator[Entry]:
    """Return the log of a session behind a position, a part at a time."""
    for first in range(after + 1, session.size + 1, _AT_ONCE):
        yield from store.entries(session.id, first, first + _AT_ONCE - 1)
