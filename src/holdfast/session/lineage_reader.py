"""A conversation read through the sessions it went on in: what was said, or what its model sees.

After a rotation or a branch the words of one conversation lie in several logs. Each log is a
segment, up to the point where the next session left it. A log may be long and is read a little at
a time.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import UnknownSession
from holdfast.session.entries import Kind, fork_view
from holdfast.session.sessions import Fork, path_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.session.entries import Entry, Head, View, Window
    from holdfast.session.sessions import Session

_AT_ONCE = 64
"""Messages that are read at a time: few enough to hold them all with their images."""


class SessionSource(Protocol):
    """Where sessions are looked up."""

    def session(self, id_: str) -> Session:
        """Return a session; one that is not there raises `UnknownSession`."""
        ...


class LogSource(Protocol):
    """What is read of a store."""

    def head(self, id_: str) -> Head:
        """Return where a session stands."""
        ...

    def lineage(self, id_: str) -> Sequence[Session]:
        """Return every session with the same root."""
        ...

    def views(self, id_: str) -> Sequence[View]:
        """Return every view that a session had, oldest first."""
        ...

    def entries(self, id_: str, first: int, last: int) -> Sequence[Entry]:
        """Return a part of a log."""
        ...

    def entry(self, message_id: int) -> Entry:
        """Return one entry."""
        ...

    def count_said(self, id_: str, upto: int) -> int:
        """Return how many messages were said in a session up to a position."""
        ...

    def window(self, id_: str) -> Window:
        """Return what the current view shows."""
        ...

    def window_at(self, id_: str, view: int | None) -> Window:
        """Return what another view shows."""
        ...


@dataclass(frozen=True, slots=True)
class LogSegment:
    """The part of one session's log that belongs to a conversation."""

    session: str
    said: int
    """The last position at which something was said that belongs to it."""
    reach: int
    """The last position that it shows: what a compaction wrote stands behind what it folded."""
    left: tuple[Entry, ...] = ()
    """What is left of sessions that were deleted; there is nothing else to read then."""


def said_until(store: LogSource, id_: str) -> tuple[Entry, ...]:
    """Return what was said on the way to a session and in it, whatever windows show.

    A branch goes on from a message of its parent; what the parent said later is not part of it.
    """
    return tuple(
        entry
        for segment in segments_to(store, id_)
        for entry in read_segment(store, segment)
        if entry.kind is Kind.SAID
    )


def count_until(store: LogSource, id_: str) -> int:
    """Return how many messages were said on the way to a session and in it."""
    return sum(
        sum(entry.kind is Kind.SAID for entry in segment.left)
        if segment.left
        else store.count_said(segment.session, segment.said)
        for segment in segments_to(store, id_)
    )


def segments_to(store: LogSource, id_: str) -> tuple[LogSegment, ...]:
    """Return the parts of logs that make up the conversation of a session, in their order."""
    size = store.head(id_).size
    parts = [LogSegment(id_, size, size)]
    seen = {id_}
    # Read once: a thousand branches in a row have a lineage of a thousand each.
    path = path_to(store.lineage(id_), id_)
    while True:
        at = parts[-1].session
        while path and path[-1].id != at:
            path = path[:-1]
        try:
            before = _before(store, path or path_to(store.lineage(at), at))
        except UnknownSession:
            # The parent was emptied from the trash: what the first window shows is left of it.
            forked = fork_view(store.views(at))
            shown = store.window_at(at, forked.id).entries if forked else ()
            left = tuple(entry for entry in shown if entry.session != at)
            parts += [LogSegment(left[0].session, 0, 0, left)] if left else []
            break
        if not before or before[-1].session in seen:
            break
        seen.add(before[-1].session)
        parts += before
    return tuple(reversed(parts))


def read_segment(store: LogSource, segment: LogSegment) -> Iterator[Entry]:
    """Read a part of a log, what compactions wrote included, holding little of it at a time."""
    yield from segment.left
    if not segment.left:
        for entry in read_log(store, segment.session, 1, segment.reach):
            if entry.kind is not Kind.SAID or entry.position <= segment.said:
                yield entry


def read_log(store: LogSource, id_: str, first: int, last: int) -> Iterator[Entry]:
    """Read the entries of a log between two positions, holding little of them at a time."""
    for start in range(first, last + 1, _AT_ONCE):
        yield from store.entries(id_, start, min(start + _AT_ONCE - 1, last))


def window_entries(store: LogSource, id_: str) -> Iterator[Entry]:
    """Read what the model sees now, holding little of it at a time."""
    head = store.head(id_)
    view = next((each for each in store.views(id_) if each.id == head.view), None)
    spans = view.spans if view else ()
    try:
        for session in {span.session for span in spans}:
            store.head(session)
    except UnknownSession:
        # Logs of deleted sessions cannot be read; what windows show of them stays readable.
        yield from store.window(id_).entries
        return
    for span in spans:
        yield from read_log(store, span.session, span.first, span.last)
    for entry in read_log(store, id_, view.upto + 1 if view else 1, head.size):
        if entry.kind is Kind.SAID:
            yield entry


def _before(store: LogSource, path: Sequence[Session]) -> list[LogSegment]:
    """Return the parts of logs that the last session of a path goes on from, the newest first.

    Between it and the session that spoke last there may be others in which nothing was said,
    and of which it shows what a compaction wrote. Where a compaction ended a session, all of it
    comes before: turns that were taken out of its window were said in it too.
    """
    *ancestors, session = path
    if session.fork is Fork.COMPRESSION and session.parent is not None:
        size = store.head(session.parent).size
        return [LogSegment(session.parent, size, size)]
    forked = fork_view(store.views(session.id))
    last = _inherited(store, forked)
    if forked is None or last is None:
        return []
    reach = dict[str, int]()
    for span in forked.spans:
        reach[span.session] = max(span.last, reach.get(span.session, 0))
    silent = takewhile(lambda each: each != last.session, (each.id for each in reversed(ancestors)))
    own = max(last.position, reach.get(last.session, 0))
    store.head(last.session)  # raises if it was deleted
    return [
        *(LogSegment(each, 0, reach[each]) for each in silent if each in reach),
        LogSegment(last.session, last.position, own),
    ]


def _inherited(store: LogSource, forked: View | None) -> Entry | None:
    """Return the last message of the window that a session began with, as it was said."""
    if forked is None or not forked.spans:
        return None
    span = forked.spans[-1]
    found = store.entries(span.session, span.last, span.last)
    last = found[-1] if found else None
    if last is not None and last.kind is Kind.DERIVED and last.stands_for is not None:
        return store.entry(last.stands_for)
    return last


def ancestry(store: SessionSource, session: Session) -> tuple[Session, ...]:
    """Return the sessions that one came from, the oldest first, and itself.

    Parents are looked up one by one: a lineage may have very many other sessions.
    """
    path = [session]
    with suppress(UnknownSession):
        while (parent := path[-1].parent) is not None and all(each.id != parent for each in path):
            path.append(store.session(parent))
    return tuple(reversed(path))
