"""Everything that was said up to a session's end, back through the sessions it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.session import Cause, Kind

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Entry

__all__ = ["said_until"]


def said_until(store: Store, id_: str) -> tuple[Entry, ...]:
    """Return what was said on the way to a session and in it, whatever windows show.

    A branch goes on from a message of its parent; what the parent said later is not part of it.
    """
    parts: list[tuple[Entry, ...]] = [store.since(id_, 0)]
    seen = {id_}
    last = _inherited(store, id_)
    while last is not None and last.session not in seen:
        seen.add(last.session)
        before = store.since(last.session, 0)
        parts.append(tuple(entry for entry in before if entry.position <= last.position))
        last = _inherited(store, last.session)
    return tuple(entry for part in reversed(parts) for entry in part)


def _inherited(store: Store, id_: str) -> Entry | None:
    """Return the last message of the window that a session began with, as it was said."""
    forked = next((view for view in store.views(id_) if view.cause is Cause.FORK), None)
    if forked is None or not forked.spans:
        return None
    span = forked.spans[-1]
    found = store.entries(span.session, span.last, span.last)
    last = found[-1] if found else None
    if last is not None and last.kind is Kind.DERIVED and last.stands_for is not None:
        return store.entry(last.stands_for)
    return last
