"""A session as people read it: what was said and what became of it, in order.

Nothing is held but the message at hand, so that a conversation of any length can be written out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from holdfast.session import Cause, Kind, line_to
from holdfast.session.lineage_reader import read_segment, segments_to, window_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Session
    from holdfast.session.lineage_reader import LogSegment
    from holdfast.transcript import Message

__all__ = [
    "Compacted",
    "Happening",
    "Rewound",
    "Said",
    "Standing",
    "Started",
    "standing_of",
    "story",
    "window_story",
]


class Standing(StrEnum):
    """What the model still sees of a message."""

    SEEN = "in the window"
    SHORTENED = "in the window, shortened"
    GONE = "no longer in the window"


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody said something, or a tool did."""

    entry: Entry
    message: Message
    """As it was said, however the window shows it."""
    standing: Standing


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction took place."""

    record: CompactionRecord
    """The pass; its summary is empty if the conversation itself tells it."""
    summaries: tuple[Entry, ...]
    """What it wrote in place of what it folded."""
    is_undone: bool


@dataclass(frozen=True, slots=True)
class Rewound:
    """The last turns were taken back."""

    at: int
    is_undone: bool


@dataclass(frozen=True, slots=True)
class Started:
    """The conversation goes on in a session that came from another."""

    session: Session


Happening: TypeAlias = Said | Compacted | Rewound | Started


def story(
    store: Store, session: Session, standing: Mapping[int, Standing] | None = None
) -> Iterator[Happening]:
    """Tell everything that happened on the way to a session and in it.

    Args:
        store: Where it is kept.
        session: The session in which the story ends.
        standing: What the model still sees, by the ids of messages, if the caller knows it.
    """
    if standing is None:
        window = window_entries(store, session.id)
        standing = {id_: seen for each in window for id_, seen in standing_of(each).items()}
    for place, segment in enumerate(segments_to(store, session.id)):
        if place:
            yield Started(store.session(segment.session))
        yield from _told(store, segment, standing)


def window_story(store: Store, session: Session) -> Iterator[Happening]:
    """Tell what the model sees now, and nothing else."""
    for entry in window_entries(store, session.id):
        yield Said(entry, entry.message, Standing.SEEN)


def standing_of(shown: Entry) -> dict[int, Standing]:
    """Return what an entry of the window says about itself, and about what it stands for.

    Messages about which no entry says anything are gone from the window.
    """
    found = {shown.id: Standing.SHORTENED if shown.shortened else Standing.SEEN}
    if shown.stands_for is not None:
        found[shown.stands_for] = Standing.SHORTENED
    return found


def _told(
    store: Store, segment: LogSegment, standing: Mapping[int, Standing]
) -> Iterator[Happening]:
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
            yield Said(entry, message, standing.get(entry.id, Standing.GONE))
    for _, change in changes:
        yield _with(change, summaries)
    for entry in summaries:
        # A branch may show what was written in a pass that it shows only in part.
        if entry.kind is not Kind.SAID and not segment.left:
            yield Said(entry, entry.message, standing.get(entry.id, Standing.GONE))


def _changes(store: Store, segment: LogSegment) -> list[tuple[int, Compacted | Rewound]]:
    """Return what happened to the window, each with the position behind which it did."""
    line = _line(store, segment.session)
    records = {record.after: record for record in store.compactions(segment.session)}
    found: list[tuple[int, Compacted | Rewound]] = []
    for view in store.views(segment.session):
        if view.cause is Cause.FORK or view.upto > segment.reach:
            continue
        record = records.get(view.id)
        is_undone = view.id not in line
        change = Compacted(record, (), is_undone) if record else Rewound(view.at, is_undone)
        found.append((view.upto, change))
    return found


def _with(change: Compacted | Rewound, summaries: list[Entry]) -> Compacted | Rewound:
    """Return the change with the summaries that were met since the one before.

    Other agents tell theirs as part of the conversation, where it has its place already.
    """
    if isinstance(change, Rewound):
        return change
    written = tuple(entry for entry in summaries if entry.kind is not Kind.SAID)
    record = replace(change.record, summary="") if summaries else change.record
    summaries.clear()
    return replace(change, record=record, summaries=written)


def _line(store: Store, id_: str) -> set[int]:
    """Return the views that led to what the session shows now."""
    return {view.id for view in line_to(store.views(id_), store.head(id_).view)}
