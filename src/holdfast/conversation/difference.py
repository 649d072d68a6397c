"""What a compaction did to a window: what went, what the record kept, what only the store has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.compaction.fold import words_of
from holdfast.summary import compared

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Window
    from holdfast.summary import Stated


@dataclass(frozen=True, slots=True, repr=False)
class Difference:
    """The two windows of one compaction, side by side."""

    record: CompactionRecord
    before: tuple[Entry, ...]
    """The window that was compacted."""
    after: tuple[Entry, ...]
    """The window right after that."""
    folded: tuple[Entry, ...]
    """What the window no longer shows: it is in the store, and found by search."""
    replaced: tuple[tuple[Entry, Entry], ...]
    """What the window shows in another form: before, and after."""
    added: tuple[Entry, ...]
    """What the compaction wrote: the summary."""
    kept: tuple[Entry, ...]
    """What stayed word for word."""
    retained: tuple[Stated, ...]
    """Statements of what went that still stand in the window."""
    stored: tuple[Stated, ...]
    """Statements of what went that only the store has."""

    def __repr__(self) -> str:
        """Return how many messages went which way; the windows may be long."""
        return (
            f"<Difference {len(self.before)} -> {len(self.after)} messages: {len(self.folded)} "
            f"folded, {len(self.replaced)} replaced, {len(self.kept)} kept>"
        )


def difference(store: Store, record: CompactionRecord, redact: Callable[[str], str]) -> Difference:
    """Return what one compaction of a session did.

    Messages that were added after it are left out: they are in both windows. The summary that an
    agent wrote is said in its file before the window changes; it counts as what the compaction
    added, as one of ours does.
    """
    (upto,) = (view.upto for view in store.views(record.session) if view.id == record.after)
    seen = _until(record, upto, store.window_at(record.session, record.before))
    after = _until(record, upto, store.window_at(record.session, record.after))
    summaries = {
        entry.id
        for entry in after
        if (summary := entry.message.summary) and summary.text == record.summary
    }
    before = tuple(entry for entry in seen if entry.id not in summaries)
    shown = {entry.id for entry in after}
    known = {entry.id for entry in before}
    stands = {entry.stands_for: entry for entry in after if entry.id not in known}
    gone = tuple(entry for entry in before if entry.id not in shown)
    shown_words = words_of(entry.message for entry in after)
    retained, stored = compared([entry.message for entry in gone], shown_words, redact)
    return Difference(
        record=record,
        before=before,
        after=after,
        folded=tuple(entry for entry in gone if entry.id not in stands),
        replaced=tuple((entry, stands[entry.id]) for entry in gone if entry.id in stands),
        added=tuple(
            entry
            for entry in after
            if entry.id not in known and (entry.message.summary or entry.stands_for is None)
        ),
        kept=tuple(entry for entry in after if entry.id in known),
        retained=tuple(retained),
        stored=tuple(stored),
    )


def _until(record: CompactionRecord, upto: int, window: Window) -> tuple[Entry, ...]:
    """Return what stood in the window at the time; clocks jump, positions do not."""
    return tuple(
        entry
        for entry in window.entries
        if entry.session != record.session or entry.position <= upto
    )
