"""What a search reads of a store: conversations across their sessions, and the matches in them.

After a rotation or a branch the words of one conversation lie in several logs. A chain joins them:
the sessions on the way from where the conversation began to where it goes on now, each up to the
point where the next one left it. `session.lineage_reader` reads a conversation whole, for exports,
and ends with the session that it is given; a chain goes on to the session where the conversation
goes on now, and asks the store for the messages around a place.

A search returns messages. Many may be of one conversation, stand in the current window anyway, or
be results of earlier searches; so more is asked for than is wanted, and asked again without the
conversations that were seen when those filled the list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.conversation.window import NOWHERE, Presence, presence_of
from holdfast.recall import MatchTier, matches, parse, snippet
from holdfast.recall.passages import Source, best_pieces, pieced
from holdfast.recall.wording import is_echo, is_output, is_said_by
from holdfast.session import Cause, Fork, Kind, latest_leaf, path_to, searchable
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.ports import Store
    from holdfast.recall import Filters, Hit, Query
    from holdfast.recall.passages import MessagePiece
    from holdfast.recall.values import Discovery, Inside
    from holdfast.session import Entry, Session
    from holdfast.transcript import Message

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


_POOL = 60
"""Matches that are asked for at first."""
_DEEP = 400
"""Matches of one conversation that are looked through when its best ones do not count."""
_QUOTABLE = 120
"""Messages of one conversation of which the best pieces are quoted."""
_PAGES_BACK = 50
"""How often older matches are asked for where the oldest come first."""
_ROUNDS = 5
_DEEP_LOOKS = 3
_TOOL_WORDS = 0.6
"""What the words of tools and of system prompts count, against what people and models say."""
_CALLS_BEFORE = 8
"""Messages before a result among which its call is looked for."""


@dataclass(frozen=True, slots=True)
class Match:
    """A hit with its entry, after repeats and the current window are left out."""

    tier: MatchTier
    entry: Entry
    whole: Message
    """The message as it was said, which is what was searched."""


@dataclass(frozen=True, slots=True)
class Found:
    """A message that answers a search, with the words of it to show."""

    entry: Entry
    snippet: str
    """The words around the match, which stands between `>>>` and `<<<`."""
    passage: str = ""
    """The pieces of the message that match best, an ellipsis for what is left out."""


class Finder:
    """Finds the matches of one query, past those that repeat what is known."""

    def __init__(
        self, store: Store, wanted: Discovery | Inside, now: int, presence: Presence = NOWHERE
    ) -> None:
        """Read the query.

        Args:
            presence: The messages that the current window shows, which are left out.
        """
        self.query: Query = parse(wanted.query)
        self._store = store
        self._wanted = wanted
        self._now = now
        self._presence = presence
        self._in_context: set[str] = set()
        # One more than is shown tells whether there is anything to go on to.
        self._count = wanted.offset + wanted.limit + 1

    @property
    def is_in_context(self) -> bool:
        """Say whether a match was passed over because the current window shows it."""
        return bool(self._in_context)

    def conversations(self) -> tuple[Match, ...]:
        """Return the best match of each conversation in the order that is wanted.

        There is one more than the limit where others follow.
        """
        chosen: dict[str, Match] = {}
        seen: dict[str, None] = {}
        filters, is_flooded = self._wanted.scope.filters, False
        for _ in range(_ROUNDS):
            hits = self._search(replace(filters, exclude_lineages=tuple(seen)), self._pool)
            is_full = len(hits) >= self._pool
            is_flooded = is_flooded or is_full
            seen.update(dict.fromkeys(hit.root_id for hit in hits))
            self._choose(self._sorted(hits), chosen)
            if len(chosen) >= self._count or not is_full:
                break
        if is_flooded and len(chosen) < self._count:
            # Of these conversations no match counted so far.
            for root in [each for each in seen if each not in chosen][:_DEEP_LOOKS]:
                inside = replace(self._wanted.scope.filters, lineages=(root,))
                self._choose(self._sorted(self._search(inside, _DEEP)), chosen)
        found = list(chosen.values())
        if self._wanted.sort != "relevance":
            found.sort(key=lambda each: each.entry.at, reverse=self._wanted.sort == "newest")
        return tuple(found[self._wanted.offset : self._count])

    def messages(self, *roots: str) -> tuple[Match, ...]:
        """Return the best matches of some lineages, or of all.

        There are more than the limit: the passages to quote are chosen among them.
        """
        filters = replace(self._wanted.scope.filters, lineages=roots, exclude_sources=())
        hits = self._sorted(self._search(filters, max(_DEEP, self._count)))
        return tuple(islice(filter(None, map(self._counted, hits)), max(_QUOTABLE, self._count)))

    @property
    def _pool(self) -> int:
        return max(_POOL, 3 * self._count)

    def _search(self, filters: Filters, limit: int) -> tuple[Hit, ...]:
        """Return the best matches; where time decides, as many as can be ordered by it.

        A store looks at the newest matches of common words, so what is oldest is reached by
        asking for what was said before those.
        """
        most = limit if self._wanted.sort == "relevance" else max(limit, _DEEP)
        page = found = self._store.search(self._wanted.query, filters, limit=most, now=self._now)
        for _ in range(_PAGES_BACK if self._wanted.sort == "oldest" else 0):
            if len(page) < most:
                break
            earlier = replace(filters, until=min(hit.at for hit in page) - 1)
            page = self._store.search(self._wanted.query, earlier, limit=most, now=self._now)
            found = (*page, *found)
        return found

    def _sorted(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        sort = self._wanted.sort
        if sort == "relevance":
            return hits
        # What shares only some words with the query is not worth more for its time.
        firm = tuple(hit for hit in hits if hit.tier is not MatchTier.SOME) or hits
        return tuple(
            sorted(firm, key=lambda hit: (hit.at, hit.message_id), reverse=sort == "newest")
        )

    def _choose(self, hits: Iterable[Hit], chosen: dict[str, Match]) -> None:
        for hit in hits:
            if len(chosen) >= self._count:
                return
            if hit.root_id in chosen:
                continue
            is_child = hit.session_id != hit.root_id
            if is_child and self._wanted.scope.hides(self._store.session(hit.session_id)):
                continue
            if hit.tier is MatchTier.SOME and hit.root_id in self._in_context:
                # The words stand in the window; what has only some of them would be noise.
                continue
            if match := self._counted(hit):
                chosen[hit.root_id] = match

    def _counted(self, hit: Hit) -> Match | None:
        """Return a match unless it repeats what is known, or somebody else said it."""
        store, shown = self._store, self._presence.shows(hit.session_id, hit.position)
        entry = store.entry(hit.message_id)
        whole = store.whole(entry.id) if entry.shortened else entry.message
        if shown and (not entry.shortened or matches(searchable(entry.message), self.query)):
            if hit.tier is not MatchTier.SOME:
                self._in_context.add(hit.root_id)
            return None
        if not is_said_by(whole, self._wanted.scope.roles):
            return None
        names: dict[str, str] = {}
        if not all(result.name for result in whole.results):
            before = store.said(entry.session, entry.position - 1, before=_CALLS_BEFORE, after=0)
            names = {call.id: call.name for each in before for call in each.message.calls}
        return None if is_echo(whole, self.query, names) else Match(hit.tier, entry, whole)


def found_messages(store: Store, wanted: Inside, now: int) -> tuple[Found, ...]:
    """Return the messages that answer a query, of one conversation or of all in a store.

    Args:
        wanted: The query, its scope and its limits; without a session, in every conversation.
    """
    finder = Finder(store, wanted, now)
    roots = (store.session(wanted.session_id).root,) if wanted.session_id else ()
    found = finder.messages(*roots)
    sources = [source_of(each) for each in found]
    pieces: dict[int, list[MessagePiece]] = {}
    for piece in best_pieces(sources, finder.query):
        pieces.setdefault(piece.source, []).append(piece)
    order = range(len(found))
    if roots and wanted.sort == "relevance":
        order = dict.fromkeys((*pieces, *order))
    return tuple(
        Found(
            found[number].entry,
            snippet(sources[number].text, finder.query),
            pieced(sources[number].text, pieces.get(number, ())),
        )
        for number in islice(order, wanted.offset, wanted.offset + wanted.limit)
    )


def source_of(found: Match, *, is_end: bool = False) -> Source:
    """Return a match as a source of passages to quote: its text, and what its words weigh."""
    whole = found.whole
    is_quiet = is_output(whole) or whole.role is Role.SYSTEM
    return Source(
        session=found.entry.session,
        position=found.entry.position,
        # Half a character pair cannot be sent to anyone.
        text=searchable(whole).encode("utf-8", "replace").decode("utf-8"),
        weight=_TOOL_WORDS if is_quiet else 1.0,
        is_end=is_end,
    )
