"""A conversation that lies in several sessions, as a search reads it: a few messages at a time.

After a rotation or a branch the words of one conversation lie in several logs. A chain joins them:
the sessions on the way from where the conversation began to where it goes on now, each up to the
point where the next one left it. `session.lineage_reader` reads a conversation whole, for exports,
and ends with the session that it is given; a chain goes on to the session where the conversation
goes on now, and asks the store for the messages around a place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.conversation.window import presence_of
from holdfast.session import Cause, Fork, Kind, latest_leaf, path_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports import Store
    from holdfast.session import Entry, Session

_BEGINS = frozenset({Fork.RESET, Fork.DELEGATION})
"""Forks after which another conversation begins, although the lineage is the same."""
_SHARES = frozenset({Fork.BRANCH, Fork.REVIEW})
"""Forks that may leave their parent before its end."""


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a conversation that lies in one session, from the beginning of its log.

    Search reads only what was said. A `LogSegment` of `session.lineage_reader` also says how far
    a window shows what compactions wrote behind it.
    """

    session: Session
    last: int
    """The position up to which it belongs to the conversation."""


@dataclass(frozen=True, slots=True)
class SessionChain:
    """The sessions of a conversation, oldest first, and the messages at any place in them."""

    store: Store
    segments: tuple[Segment, ...]

    @property
    def leaf(self) -> Session:
        """Return the session in which the conversation goes on."""
        return self.segments[-1].session

    @property
    def title(self) -> str:
        """Return the newest title."""
        titles = (segment.session.title for segment in reversed(self.segments))
        return next(filter(None, titles), "")

    def first(self, count: int) -> tuple[Entry, ...]:
        """Return the first messages."""
        return self._after(0, 0, count)

    def last(self, count: int) -> tuple[Entry, ...]:
        """Return the last messages."""
        return self._before(len(self.segments) - 1, self.segments[-1].last, count)

    def around(self, entry: Entry, count: int) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
        """Return the messages before one and those after it."""
        index = self._index(entry)
        segment = self.segments[index]
        # Most neighbors stand in the same session, where one look finds them.
        near = self.store.said(
            segment.session.id, entry.position - 1, before=count, after=count + 1
        )
        before = tuple(each for each in near if each.position < entry.position)
        after = tuple(each for each in near if entry.position < each.position <= segment.last)
        if len(before) < count and index > 0:
            earlier = self.segments[index - 1].last
            before = (*self._before(index - 1, earlier, count - len(before)), *before)
        if len(after) < count:
            after = (*after, *self._after(index + 1, 0, count - len(after)))
        return before, after

    def holds(self, entry: Entry) -> bool:
        """Say whether an entry belongs to the conversation."""
        return any(
            segment.session.id == entry.session and entry.position <= segment.last
            for segment in self.segments
        )

    def size(self) -> int:
        """Return how many messages were said."""
        return sum(
            self.store.count_said(segment.session.id, segment.last) for segment in self.segments
        )

    def _index(self, entry: Entry) -> int:
        return next(
            index
            for index, segment in enumerate(self.segments)
            if segment.session.id == entry.session
        )

    def _before(self, index: int, position: int, count: int) -> tuple[Entry, ...]:
        found: tuple[Entry, ...] = ()
        while index >= 0 and len(found) < count:
            id_ = self.segments[index].session.id
            missing = count - len(found)
            found = (*self.store.said(id_, position, before=missing, after=0), *found)
            index -= 1
            position = self.segments[index].last
        return found

    def _after(self, index: int, position: int, count: int) -> tuple[Entry, ...]:
        found: list[Entry] = []
        while index < len(self.segments) and len(found) < count:
            segment = self.segments[index]
            read = self.store.said(segment.session.id, position, before=0, after=count - len(found))
            found += (entry for entry in read if entry.position <= segment.last)
            index, position = index + 1, 0
        return tuple(found)


@dataclass(frozen=True, slots=True)
class TrashedView:
    """A window through which messages of a session in the trash are still seen.

    A fork lives on when the session that it left is trashed, and its window shows messages of that
    session. They are read as far as that window shows them.
    """

    leaf: Session
    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        """Return the title of the session."""
        return self.leaf.title

    def first(self, count: int) -> tuple[Entry, ...]:
        """Return the first messages."""
        return self.entries[:count]

    def last(self, count: int) -> tuple[Entry, ...]:
        """Return the last messages."""
        return self.entries[-count:]

    def around(self, entry: Entry, count: int) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
        """Return the messages before one and those after it."""
        place = self._index(entry)
        return (
            self.entries[max(0, place - count) : place],
            self.entries[place + 1 : place + 1 + count],
        )

    def _index(self, entry: Entry) -> int:
        return next(index for index, each in enumerate(self.entries) if each.id == entry.id)


def trashed_view_of(store: Store, lineage: Sequence[Session], entry: Entry) -> TrashedView | None:
    """Return the window of the session touched last that shows an entry; None where none does."""
    for session in sorted(lineage, key=lambda each: -each.touched):
        if session.trashed is None and presence_of(store, session.id).shows(
            entry.session, entry.position
        ):
            entries = store.window(session.id).entries
            return TrashedView(session, tuple(each for each in entries if each.kind is Kind.SAID))
    return None


def chain_from(store: Store, lineage: Sequence[Session], id_: str) -> SessionChain:
    """Return the conversation that a session belongs to, up to the session where it goes on now."""
    leaf = latest_leaf(
        [each for each in lineage if not (each.fork is Fork.RESET and each.id != id_)], id_
    )
    path = path_to(lineage, leaf.id)
    begins = [index for index, session in enumerate(path) if session.fork in _BEGINS]
    path = path[begins[-1] if begins else 0 :]
    ends: dict[str, int] = {}
    for child in path[1:]:
        if child.fork in _SHARES:
            # A child left its parent at the last thing that its first window shows.
            forks = [view for view in store.views(child.id) if view.cause is Cause.FORK]
            if forks and forks[0].spans and child.parent is not None:
                ends[child.parent] = 0
                last = forks[0].spans[-1]
                ends[last.session] = last.last
    return SessionChain(
        store,
        tuple(
            Segment(session, min(ends.get(session.id, session.size), session.size))
            for session in path
            if session.trashed is None or session.id == id_
        ),
    )
