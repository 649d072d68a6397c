"""What a compaction did to a window: what it folded, what stands in its place, what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.conversation import difference
from holdfast.errors import UnknownSession
from holdfast.views.messages import entry_fields
from holdfast.views.sessions import compaction_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.conversation import Difference
    from holdfast.ports import Store
    from holdfast.session import Entry, Session
    from holdfast.summary import Stated

__all__ = ["CompactionDiff", "compaction_diff"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDiff:
    """A compaction of a session, and what it did."""

    session: Session
    number: int
    """Which compaction of the session, counted from 1."""
    total: int
    difference: Difference

    def as_json(self) -> dict[str, object]:
        """Return the windows before and after as plain JSON values."""
        found = self.difference
        return {
            "session": self.session.id,
            "number": self.number,
            "compactions": self.total,
            "compaction": compaction_fields(found.record),
            "folded": _listed(found.folded),
            "replaced": [
                {"before": entry_fields(old), "after": entry_fields(new)}
                for old, new in found.replaced
            ],
            "added": _listed(found.added),
            "kept": _listed(found.kept),
            "record": found.record.summary,
            "statements_in_window": _statements(found.retained),
            "statements_in_store_only": _statements(found.stored),
        }


def compaction_diff(
    store: Store, session: Session, number: int | None, redact: Callable[[str], str]
) -> CompactionDiff | None:
    """Return what a compaction did to the window; None when the session has had none.

    Args:
        store: Where the session is kept.
        session: The session.
        number: Which compaction, counted from 1; None for the newest.
        redact: Masks secrets in what is compared.

    Raises:
        UnknownSession: when there is no compaction of that number.
    """
    passes = store.compactions(session.id)
    if not passes:
        return None
    if number is not None and number > len(passes):
        raise UnknownSession(
            f"session {session.id} has had {len(passes)} compactions, not {number}"
        )
    chosen = number or len(passes)
    return CompactionDiff(
        session=session,
        number=chosen,
        total=len(passes),
        difference=difference(store, passes[chosen - 1], redact),
    )


def _listed(entries: Iterable[Entry]) -> list[dict[str, object]]:
    return [entry_fields(each) for each in entries]


def _statements(found: Iterable[Stated]) -> list[dict[str, str]]:
    return [{"kind": each.kind, "text": each.text} for each in found]
