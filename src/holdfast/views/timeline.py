"""The story of a conversation across its forks, and the tree of sessions that it went on in.

Nothing of the story is held but the message at hand, so that a conversation of any length can be
written out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from holdfast.session import Cause, Kind, latest_leaf, line_to
from holdfast.session.lineage_reader import read_segment, segments_to, window_entries
from holdfast.transfer import stated_parent, unlinked_children
from holdfast.views.messages import Visibility, full_text, message_fields, visibility_of
from holdfast.views.sessions import compaction_fields, session_fields
from holdfast.views.words import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import TypeAlias

    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Session, View
    from holdfast.session.lineage_reader import LogSegment
    from holdfast.transcript import Message
    from holdfast.transfer import StatedParent


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


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A session with what became of its window."""

    session: Session
    views: tuple[View, ...] = ()
    compactions: tuple[CompactionRecord, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the session and its windows as plain JSON values."""
        passes = {each.after: compaction_fields(each) for each in self.compactions}
        return {
            **session_fields(self.session),
            "views": [
                {
                    "id": view.id,
                    "parent": view.parent,
                    "cause": str(view.cause),
                    "at": iso_time(view.at),
                    "compaction": passes.get(view.id),
                }
                for view in self.views
            ],
        }


@dataclass(frozen=True, slots=True)
class LineageTree:
    """All sessions of a lineage, seen from one of them."""

    session: str
    leaf: str
    """The session in which it goes on."""
    nodes: tuple[LineageNode, ...]
    elder: StatedParent | None = None
    """What the tree belongs to, where the files alone say so."""
    early: tuple[Session, ...] = ()
    """What belongs to the tree and was imported before it."""

    def children(self) -> dict[str, list[LineageNode]]:
        """Return the nodes by their parents, oldest first; those without one under `""`."""
        known = {node.session.id for node in self.nodes}
        found: dict[str, list[LineageNode]] = {}
        # Forks that copied their beginning are of one age, and may have been imported in any order.
        for node in sorted(self.nodes, key=lambda each: (each.session.started, each.session.id)):
            parent = node.session.parent or ""
            found.setdefault(parent if parent in known else "", []).append(node)
        return found

    def as_json(self) -> dict[str, object]:
        """Return the tree as plain JSON values."""
        return {
            "session": self.session,
            "leaf": self.leaf,
            "sessions": [each.as_json() for each in self.nodes],
            "belongs_to": None if self.elder is None else asdict(self.elder),
            "imported_before": [each.id for each in self.early],
        }


def lineage_tree(store: Store, session: Session, *, views: bool) -> LineageTree:
    """Return the lineage of a session.

    Args:
        views: Whether compactions and rewinds are read as well.
    """
    lineage = store.lineage(session.id)
    return LineageTree(
        session=session.id,
        leaf=latest_leaf(lineage, session.id).id,
        nodes=tuple(
            LineageNode(each, store.views(each.id), store.compactions(each.id))
            if views
            else LineageNode(each)
            for each in lineage
        ),
        elder=stated_parent(store, lineage[0]),
        early=tuple(unlinked_children(store, lineage[0])),
    )


def parent_words(elder: StatedParent) -> str:
    """Return in words what a session came from that was imported before it."""
    if elder.session is None:
        return f"{elder.name}, which was not imported (by {elder.fork})"
    return f"{elder.session}, which was imported later (by {elder.fork})"
