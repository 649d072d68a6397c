"""The best match of each conversation, past matches that would only repeat what is known.

A search returns messages. Many may be of one conversation, stand in the current window anyway, or
be results of earlier searches; so more is asked for than is wanted, and asked again without the
conversations that were seen when those filled the list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.conversation.presence import NOWHERE, Presence
from holdfast.recall import MatchTier, matches, parse
from holdfast.recall.wording import is_echo, is_said_by
from holdfast.session import searchable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.ports import Store
    from holdfast.recall import Filters, Hit, Query
    from holdfast.recall.asked import Discovery
    from holdfast.session import Entry
    from holdfast.transcript import Message

__all__ = ["Finder", "Match"]

_POOL = 60
"""Matches that are asked for at first."""
_DEEP = 400
"""Matches of one conversation that are looked through when its best ones do not count."""
_ROUNDS = 5
_DEEP_LOOKS = 3
_CALLS_BEFORE = 8
"""Messages before a result among which its call is looked for."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match that counts."""

    hit: Hit
    entry: Entry
    whole: Message
    """The message as it was said, which is what was searched."""


class Finder:
    """Finds what one query asks for."""

    def __init__(
        self, store: Store, wanted: Discovery, now: int, presence: Presence = NOWHERE
    ) -> None:
        """Read the query.

        Args:
            store: Where to look.
            wanted: What to look for.
            now: The time, for what is recent.
            presence: What need not be found because the current window shows it.
        """
        self.query: Query = parse(wanted.query)
        self._store = store
        self._wanted = wanted
        self._now = now
        self._presence = presence
        self._in_context: set[str] = set()

    @property
    def is_in_context(self) -> bool:
        """Say whether a match was passed over because the current window shows it."""
        return bool(self._in_context)

    def conversations(self) -> tuple[Match, ...]:
        """Return the best match of each conversation, best or newest first."""
        chosen: dict[str, Match] = {}
        seen: dict[str, None] = {}
        filters, is_flooded = self._wanted.scope.filters, False
        for _ in range(_ROUNDS):
            hits = self._search(replace(filters, exclude_lineages=tuple(seen)), self._pool)
            is_full = len(hits) >= self._pool
            is_flooded = is_flooded or is_full
            seen.update(dict.fromkeys(hit.root_id for hit in hits))
            self._choose(self._sorted(hits), chosen)
            if len(chosen) >= self._wanted.limit or not is_full:
                break
        if is_flooded and len(chosen) < self._wanted.limit:
            self._look_deeper([root for root in seen if root not in chosen], chosen)
        return self._ordered(chosen.values())[: self._wanted.limit]

    def places(self, root: str) -> tuple[Match, ...]:
        """Return the best matches within one lineage, best or newest first."""
        filters = replace(self._wanted.scope.filters, lineages=(root,), exclude_sources=())
        found: list[Match] = []
        hits = self._search(filters, max(_DEEP, self._wanted.limit))
        for hit in self._sorted(hits):
            if match := self._counts(hit):
                found.append(match)
            if len(found) >= self._wanted.limit:
                break
        return self._ordered(found)

    @property
    def _pool(self) -> int:
        return max(_POOL, 3 * self._wanted.limit)

    def _search(self, filters: Filters, limit: int) -> tuple[Hit, ...]:
        return self._store.search(self._wanted.query, filters, limit=limit, now=self._now)

    def _sorted(self, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        if not self._wanted.newest:
            return hits
        # What shares only some words with the query is not worth more for being recent.
        firm = tuple(hit for hit in hits if hit.tier is not MatchTier.SOME) or hits
        return tuple(sorted(firm, key=lambda hit: (-hit.at, -hit.message_id)))

    def _choose(self, hits: Iterable[Hit], chosen: dict[str, Match]) -> None:
        for hit in hits:
            if len(chosen) >= self._wanted.limit:
                return
            if hit.root_id in chosen or self._is_hidden(hit):
                continue
            if match := self._counts(hit):
                chosen[hit.root_id] = match

    def _look_deeper(self, roots: list[str], chosen: dict[str, Match]) -> None:
        """Look through conversations of which no match counted so far."""
        for root in roots[:_DEEP_LOOKS]:
            filters = replace(self._wanted.scope.filters, lineages=(root,))
            self._choose(self._sorted(self._search(filters, _DEEP)), chosen)

    def _ordered(self, found: Iterable[Match]) -> tuple[Match, ...]:
        if not self._wanted.newest:
            return tuple(found)
        return tuple(sorted(found, key=lambda each: -each.hit.at))

    def _is_hidden(self, hit: Hit) -> bool:
        is_child = hit.session_id != hit.root_id
        return is_child and self._wanted.scope.hides(self._store.session(hit.session_id))

    def _counts(self, hit: Hit) -> Match | None:
        """Return a match unless it repeats what is known, or somebody else said it."""
        if hit.tier is MatchTier.SOME and hit.root_id in self._in_context:
            # The words stand in the window; what has only some of them would be noise.
            return None
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
        return None if is_echo(whole, self.query, names) else Match(hit, entry, whole)

    def _names(self, entry: Entry, message: Message) -> dict[str, str]:
        """Return the names of the calls that nameless results answer."""
        if all(result.name for result in message.results):
            return {}
        before = self._store.said(entry.session, entry.position - 1, before=_CALLS_BEFORE, after=0)
        return {call.id: call.name for each in before for call in each.message.calls}
