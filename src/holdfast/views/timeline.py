"""The story of a conversation across its forks: what was said and what became of it, in order.

Nothing is held but the message at hand, so that a conversation of any length can be written out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.session import Cause, Kind, line_to
from holdfast.session.lineage_reader import read_segment, segments_to, window_entries
from holdfast.views.messages import Visibility, full_text, message_fields, visibility_of
from holdfast.views.sessions import compaction_fields, session_fields
from holdfast.views.words import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeAlias

    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Session
    from holdfast.session.lineage_reader import LogSegment
    from holdfast.transcript import Message

__all__ = [
    "TimelineCompaction",
    "TimelineEvent",
    "TimelineFork",
    "TimelineMessage",
    "TimelineRewind",
    "timeline",
    "window_timeline",
]


@dataclass(frozen=True, slots=True)
class TimelineMessage:
    """Somebody said something, or a tool did."""

    entry: Entry
    message: Message
    """As it was said, however the window shows it."""
    visibility: Visibility

    def as_json(self) -> dict[str, object]:
        """Return who said what, and when, as plain JSON values."""
        return {
            "event": "message",
            **message_fields(self.entry, self.message),
            "text": full_text(self.message),
            "visibility": self.visibility.name.lower(),
        }


@dataclass(frozen=True, slots=True)
class TimelineCompaction:
    """A compaction took place."""

    record: CompactionRecord
    """The pass; its summary is empty if the conversation itself tells it."""
    summaries: tuple[Entry, ...]
    """What it wrote in place of what it folded."""
    is_undone: bool

    def as_json(self) -> dict[str, object]:
        """Return the compaction and what it wrote as plain JSON values."""
        found = (each.message.summary for each in self.summaries)
        written = [each.text for each in found if each is not None]
        return {
            "event": "compaction",
            **compaction_fields(self.record),
            "summaries": written or [each for each in (self.record.summary,) if each],
            "undone": self.is_undone,
        }


@dataclass(frozen=True, slots=True)
class TimelineRewind:
    """The last turns were taken back."""

    at: int
    is_undone: bool

    def as_json(self) -> dict[str, object]:
        """Return when it was as plain JSON values."""
        return {"event": "rewind", "at": iso_time(self.at), "undone": self.is_undone}


@dataclass(frozen=True, slots=True)
class TimelineFork:
    """The conversation goes on in a session that came from another."""

    session: Session

    def as_json(self) -> dict[str, object]:
        """Return the session as plain JSON values."""
        return {"event": "fork", **session_fields(self.session)}


TimelineEvent: TypeAlias = TimelineMessage | TimelineCompaction | TimelineRewind | TimelineFork


def timeline(
    store: Store, session: Session, visibility: Mapping[int, Visibility] | None = None
) -> Iterator[TimelineEvent]:
    """Tell everything that happened on the way to a session and in it.

    Args:
        store: Where it is kept.
        session: The session in which the story ends.
        visibility: What the model still sees, by the ids of messages, if the caller knows it.
    """
    if visibility is None:
        window = window_entries(store, session.id)
        visibility = {id_: seen for each in window for id_, seen in visibility_of(each).items()}
    for place, segment in enumerate(segments_to(store, session.id)):
        if place:
            yield TimelineFork(store.session(segment.session))
        changes = [] if segment.left else _changes(store, segment)
        summaries: list[Entry] = []
        for entry in read_segment(store, segment):
            while changes and changes[0][0] < entry.position:
                yield _with(changes.pop(0)[1], summaries)
            if entry.message.summary is not None:
                summaries.append(entry)
            # Of a deleted session even what a compaction wrote is told: nothing else is left of it.
            if entry.kind is Kind.SAID or segment.left:
                message = store.whole(entry.id) if entry.shortened else entry.message
                yield TimelineMessage(entry, message, visibility.get(entry.id, Visibility.GONE))
        for _, change in changes:
            yield _with(change, summaries)
        for entry in summaries:
            # A branch may show what was written in a pass that it shows only in part.
            if entry.kind is not Kind.SAID and not segment.left:
                yield TimelineMessage(
                    entry, entry.message, visibility.get(entry.id, Visibility.GONE)
                )


def window_timeline(store: Store, session: Session) -> Iterator[TimelineEvent]:
    """Tell what the model sees now, and nothing else."""
    for entry in window_entries(store, session.id):
        yield TimelineMessage(entry, entry.message, Visibility.SEEN)


def _changes(
    store: Store, segment: LogSegment
) -> list[tuple[int, TimelineCompaction | TimelineRewind]]:
    """Return what happened to the window, each with the position behind which it did."""
    views = store.views(segment.session)
    line = {view.id for view in line_to(views, store.head(segment.session).view)}
    records = {record.after: record for record in store.compactions(segment.session)}
    found: list[tuple[int, TimelineCompaction | TimelineRewind]] = []
    for view in views:
        if view.cause is Cause.FORK or view.upto > segment.reach:
            continue
        record = records.get(view.id)
        is_undone = view.id not in line
        change = (
            TimelineCompaction(record, (), is_undone)
            if record
            else TimelineRewind(view.at, is_undone)
        )
        found.append((view.upto, change))
    return found


def _with(
    change: TimelineCompaction | TimelineRewind, summaries: list[Entry]
) -> TimelineCompaction | TimelineRewind:
    """Return the change with the summaries that were met since the one before.

    Other agents tell theirs as part of the conversation, where it has its place already.
    """
    if isinstance(change, TimelineRewind):
        return change
    written = tuple(entry for entry in summaries if entry.kind is not Kind.SAID)
    record = replace(change.record, summary="") if summaries else change.record
    summaries.clear()
    return replace(change, record=record, summaries=written)
