"""A session in detail: where it came from, what fills its window, and what became of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from holdfast.conversation.compactor import flaws_of
from holdfast.session import path_to, places_of
from holdfast.tokens import Scale
from holdfast.transfer import stated_parent
from holdfast.views.context_map import WindowLimits, context_map
from holdfast.views.messages import message_fields
from holdfast.views.sessions import compaction_fields, session_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.compaction import Policy
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Session, Window
    from holdfast.tokens import Counter
    from holdfast.transfer import StatedParent
    from holdfast.views.context_map import ContextMap

__all__ = ["SessionDetails", "WindowStep", "session_details"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDetails:
    """A session in detail: where it came from, what fills its window, what became of it."""

    session: Session
    path: tuple[Session, ...]
    """The sessions that it came from, the oldest first, and itself."""
    window: tuple[Entry, ...]
    usage: ContextMap
    limits: WindowLimits
    compactions: tuple[CompactionRecord, ...]
    is_undone: bool
    elder: StatedParent | None
    """What it came from, where its file alone says so."""
    warnings: tuple[str, ...] = ()
    """What is to be said of the compaction whose result the window shows."""

    def as_json(self, entries: Sequence[Entry], left_out: int) -> dict[str, object]:
        """Return the details with some messages as plain JSON values.

        Args:
            entries: The messages that are listed.
            left_out: How many others there are.
        """
        return {
            **session_fields(self.session),
            "places": places_of(self.path),
            "path": [each.id for each in self.path],
            "belongs_to": None if self.elder is None else asdict(self.elder),
            "window": self.window_json(),
            "warnings": list(self.warnings),
            "compactions": [compaction_fields(each) for each in self.compactions],
            "messages": [message_fields(each) for each in entries],
            "messages_left_out": left_out,
        }

    def window_json(self) -> dict[str, object]:
        """Return what fills the window as plain JSON values."""
        return {
            "messages": len(self.window),
            "tokens": self.usage.tokens,
            "context_length": self.limits.window,
            "threshold_tokens": self.limits.threshold,
            "kinds": self.usage.kinds_json(),
            "undone": self.is_undone,
        }


@dataclass(frozen=True, slots=True)
class WindowStep:
    """A step back or forth, with the window before and after it."""

    session: str
    is_done: bool
    """Whether there was anything to do."""
    before: Window
    after: Window

    def as_json(self) -> dict[str, object]:
        """Return the step as plain JSON values."""
        return {
            "session": self.session,
            "done": self.is_done,
            "messages_before": len(self.before.entries),
            "messages_after": len(self.after.entries),
            "tokens_before": self.before.tokens,
            "tokens_after": self.after.tokens,
        }


def session_details(
    store: Store, session: Session, policy: Policy, counter: Counter
) -> SessionDetails:
    """Return a session in detail, its window weighed against a policy."""
    window = store.window(session.id)
    return SessionDetails(
        session=session,
        path=path_to(store.lineage(session.id), session.id),
        window=window.entries,
        usage=context_map(window.transcript, Scale(counter)),
        limits=WindowLimits(policy.context_length, policy.threshold_tokens),
        compactions=store.compactions(session.id),
        is_undone=window.head.view != store.tip(session.id),
        elder=stated_parent(store, session),
        warnings=flaws_of(store, session.id, window.head.view).warnings,
    )
