"""What may happen to a session, as checks that every store makes in the same words.

Each function looks at values that a store has read and raises what the port promises. What is to
be written afterwards is the store's own affair.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, SessionEnded, StoreError, UnknownSession
from holdfast.session.lineage import latest_leaf
from holdfast.session.sessions import CLOSABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.session.sessions import EndReason, Session

__all__ = [
    "amended_metadata",
    "check_adoption",
    "check_generation",
    "check_live",
    "check_size",
    "ended",
    "id_taken",
    "key_taken",
    "not_in_trash",
    "unknown_session",
]


def unknown_session(id_: str) -> UnknownSession:
    """Return the error for a session that is not there."""
    return UnknownSession(f"there is no session {id_!r}; `holdfast sessions list` shows all")


def id_taken(id_: str) -> Conflict:
    """Return the error for an id that a session has already."""
    return Conflict(f"there is a session {id_} already; choose another id")


def key_taken(key: str, holder: str) -> Conflict:
    """Return the error for a caller's key that another session has."""
    return Conflict(f"session {holder} has the key {key!r} already")


def not_in_trash(id_: str) -> StoreError:
    """Return the error for a session that is to be deleted and was not put into the trash."""
    return StoreError(f"session {id_} is not in the trash; put it there first")


def check_live(session: Session, lineage: Callable[[], Sequence[Session]]) -> None:
    """Raise `SessionEnded` when nothing may be added to a session; it says where it goes on.

    Args:
        session: The session.
        lineage: Reads every session with the same root.
    """
    if session.trashed is not None:
        raise SessionEnded(f"session {session.id} is in the trash; restore it first")
    if session.ended is not None:
        onward = latest_leaf(lineage(), session.id)
        where = f"; it goes on in {onward.id}" if onward.id != session.id else ""
        raise SessionEnded(f"session {session.id} has ended ({session.end_reason}){where}")


def check_generation(id_: str, generation: int, expected: int) -> None:
    """Raise `Conflict` when the window is not the one that was read."""
    if generation != expected:
        raise Conflict(
            f"session {id_} was changed by somebody else since its window was read "
            f"(generation {generation}, expected {expected}); read it again"
        )


def check_size(id_: str, size: int, expected: int | None) -> None:
    """Raise `Conflict` when the log is not as long as a writer has seen it."""
    if expected is not None and size != expected:
        raise Conflict(
            f"session {id_} was written to by somebody else since it was read "
            f"({size} messages, expected {expected}); read it again"
        )


def check_adoption(session: Session, parent: Session) -> None:
    """Raise `Conflict` when a session cannot have come from a parent that is named later."""
    if session.parent is not None or session.root != session.id:
        raise Conflict(f"session {session.id} has come from another one already")
    if parent.root == session.id:
        raise Conflict(
            f"session {parent.id} came from {session.id}, so that cannot have come from it"
        )


def amended_metadata(
    id_: str,
    stored: Mapping[str, object],
    changes: Mapping[str, object],
    seen: Mapping[str, object] | None,
) -> dict[str, object]:
    """Return metadata with changes; a value of None takes a key away.

    Args:
        id_: The session.
        stored: Its metadata.
        changes: What is to be different.
        seen: The metadata that the caller has seen; others are a `Conflict`.
    """
    if seen is not None and stored != seen:
        raise Conflict(f"session {id_} was changed by somebody else; look at it again")
    changed = {**stored, **changes}
    return {name: value for name, value in changed.items() if value is not None}


def ended(session: Session, reason: EndReason | None, at: int) -> Session:
    """Return a session ended for a reason, or reopened without one.

    The first end stands: a session that was compacted away does not become one that was closed.
    """
    if reason is None and session.end_reason is not None and session.end_reason not in CLOSABLE:
        raise SessionEnded(
            f"session {session.id} has ended ({session.end_reason}), and that cannot be taken back"
        )
    if (reason is None) == (session.ended is None):
        return session
    return replace(session, ended=None if reason is None else at, end_reason=reason)
