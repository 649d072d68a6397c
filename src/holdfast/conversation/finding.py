"""The matches of a query, past those that would only repeat what is known.

A search returns messages. Many may be of one conversation, stand in the current window anyway, or
be results of earlier searches; so more is asked for than is wanted, and asked again without the
conversations that were seen when those filled the list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.conversation.window import NOWHERE, Presence
from holdfast.recall import MatchTier, matches, parse, snippet
from holdfast.recall.passages import Source, best_pieces, pieced
from holdfast.recall.wording import is_echo, is_output, is_said_by
from holdfast.session import searchable
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.ports import Store
    from holdfast.recall import Filters, Hit, Query
    from holdfast.recall.passages import MessagePiece
    from holdfast.recall.values import Discovery, Inside
    from holdfast.session import Entry
    from holdfast.transcript import Message

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
            store: Where to look.
            wanted: The query, its scope and its limits.
            now: The time, for what is recent.
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
            self._look_deeper([root for root in seen if root not in chosen], chosen)
        return self._ordered(chosen.values())[self._wanted.offset : self._count]

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
            if hit.root_id in chosen or self._is_hidden(hit):
                continue
            if hit.tier is MatchTier.SOME and hit.root_id in self._in_context:
                # The words stand in the window; what has only some of them would be noise.
                continue
            if match := self._counted(hit):
                chosen[hit.root_id] = match

    def _look_deeper(self, roots: list[str], chosen: dict[str, Match]) -> None:
        """Look through conversations of which no match counted so far."""
        for root in roots[:_DEEP_LOOKS]:
            filters = replace(self._wanted.scope.filters, lineages=(root,))
            self._choose(self._sorted(self._search(filters, _DEEP)), chosen)

    def _ordered(self, found: Iterable[Match]) -> tuple[Match, ...]:
        sort = self._wanted.sort
        if sort == "relevance":
            return tuple(found)
        return tuple(sorted(found, key=lambda each: each.entry.at, reverse=sort == "newest"))

    def _is_hidden(self, hit: Hit) -> bool:
        is_child = hit.session_id != hit.root_id
        return is_child and self._wanted.scope.hides(self._store.session(hit.session_id))

    def _counted(self, hit: Hit) -> Match | None:
        """Return a match unless it repeats what is known, or somebody else said it."""
        shown = self._presence.shows(hit.session_id, hit.position)
        entry = self._store.entry(hit.message_id)
        whole = self._store.whole(entry.id) if entry.shortened else entry.message
        if shown and (not entry.shortened or matches(searchable(entry.message), self.query)):
            if hit.tier is not MatchTier.SOME:
                self._in_context.add(hit.root_id)
            return None
        if not is_said_by(whole, self._wanted.scope.roles):
            return None
        names = self._names(entry, whole)
        return None if is_echo(whole, self.query, names) else Match(hit.tier, entry, whole)

    def _names(self, entry: Entry, message: Message) -> dict[str, str]:
        """Return the names of the calls that nameless results answer."""
        if all(result.name for result in message.results):
            return {}
        before = self._store.said(entry.session, entry.position - 1, before=_CALLS_BEFORE, after=0)
        return {call.id: call.name for each in before for call in each.message.calls}


def found_messages(store: Store, wanted: Inside, now: int) -> tuple[Found, ...]:
    """Return the messages that answer a query, of one conversation or of all in a store.

    Args:
        store: Where to look.
        wanted: The query, its scope and its limits; without a session, in every conversation.
        now: The time, for what is recent.
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
