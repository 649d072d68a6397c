"""What the current window shows, known without reading a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Span

__all__ = ["NOWHERE", "Presence", "presence_of"]


@dataclass(frozen=True, slots=True)
class Presence:
    """Which messages stand in a session's window."""

    session: str = ""
    root: str = ""
    spans: tuple[Span, ...] = ()
    upto: int = 0

    def shows(self, session: str, position: int) -> bool:
        """Say whether a message stands in the window as it was said."""
        if session == self.session and position > self.upto:
            return True
        return any(
            span.session == session and span.first <= position <= span.last for span in self.spans
        )


NOWHERE = Presence()
"""There is no current session."""


def presence_of(store: Store, id_: str | None) -> Presence:
    """Return what the window of a session shows; of one that is not stored here, nothing."""
    if not id_:
        return NOWHERE
    try:
        session, head = store.session(id_), store.head(id_)
    except UnknownSession:
        return NOWHERE
    if head.view is None:
        return Presence(id_, session.root)
    view = next(view for view in store.views(id_) if view.id == head.view)
    return Presence(id_, session.root, view.spans, view.upto)
