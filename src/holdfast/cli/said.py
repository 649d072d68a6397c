"""Everything that was said up to a session's end, back through the sessions it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.session import Cause, Kind

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Entry, View

__all__ = ["said_until"]


def said_until(store: Store, id_: str) -> tuple[Entry, ...]:
    """Return what was said on the way to a session and in it, whatever windows show.

    A branch goes on from a message of its parent; what the parent said later is not part of it.
    """
    parts: list[tuple[Entry, ...]] = [store.since(id_, 0)]
    seen = {id_}
    at = id_
    while True:
        try:
            last = _inherited(store, at)
            if last is None or last.session in seen:
                break
            before = store.since(last.session, 0)
        except UnknownSession:
            # The parent was emptied from the trash: what the first window shows is left of it.
            parts.append(_shown_first(store, at))
            break
        seen.add(last.session)
        parts.append(tuple(entry for entry in before if entry.position <= last.position))
        at = last.session
    return tuple(entry for part in reversed(parts) for entry in part)


def _shown_first(store: Store, id_: str) -> tuple[Entry, ...]:
    forked = _forked(store, id_)
    entries = store.window_at(id_, forked.id).entries if forked else ()
    return tuple(entry for entry in entries if entry.session != id_ and entry.kind is Kind.SAID)


def _forked(store: Store, id_: str) -> View | None:
    return next((view for view in store.views(id_) if view.cause is Cause.FORK), None)


def _inherited(store: Store, id_: str) -> Entry | None:
    """Return the last message of the window that a session began with, as it was said."""
    forked = _forked(store, id_)
    if forked is None or not forked.spans:
        return None
    span = forked.spans[-1]
    found = store.entries(span.session, span.last, span.last)
    last = found[-1] if found else None
    if last is not None and last.kind is Kind.DERIVED and last.stands_for is not None:
        return store.entry(last.stands_for)
    return last
