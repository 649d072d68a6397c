"""Search over the log: what was asked for first, what comes close after it.

A search climbs down a ladder and stops when it has enough. Messages with all the words come
first, then those that hold some of them inside longer words, then, for words without operators,
those that share the rarest words with the query, in themselves or in their neighbors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, TypeAlias

from holdfast.recall import All, Hit, MatchTier, plain
from holdfast.recall.folding import is_paired, normal
from holdfast.recall.ranking import (
    NEAR,
    Candidate,
    closeness,
    exact_name,
    leading,
    prior,
    weigh,
)
from holdfast.stores.sqlite.clues import clues_of
from holdfast.stores.sqlite.expressions import either, expression, phrase
from holdfast.stores.sqlite.lookup import Lookup
from holdfast.stores.sqlite.scope import ROLES, scope_of
from holdfast.stores.sqlite.widening import widened

if TYPE_CHECKING:
    import sqlite3

    from holdfast.recall import Filters, Node, Query, Term
    from holdfast.recall.ranking import Clue
    from holdfast.stores.sqlite.lookup import Words

__all__ = ["Request", "Texts", "search"]

Texts: TypeAlias = Callable[[Sequence[int]], Mapping[int, str]]
"""Gives the searchable text of messages by id."""
_Ranked: TypeAlias = tuple[float, Candidate]

_POOL = 400
"""The newest matches that are ranked when all the words are common."""
_SPARE = 60
"""Places beyond those wanted that are looked at: some stand outside the scope, or nowhere."""
_PARTS = 5
"""The newest matches within longer words that are ranked, for each that is wanted."""
_READ = 40
"""Matches whose text is read for the ranking."""
_SPREAD = 250
"""Messages whose neighbors are credited with their words."""
_PHRASE = 200
"""Characters of a query that may stand in a text word for word."""
_MOST_WAYS = 60


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted."""

    query: Query
    filters: Filters
    limit: int
    now: int
    """Milliseconds since the epoch: what is fresh counts a little more."""


def search(
    connection: sqlite3.Connection, request: Request, texts_of: Texts, words: Words
) -> tuple[Hit, ...]:
    """Return the best matches, best first, each message once; a read-only connection will do."""
    tree = request.query.tree
    if tree is None or request.limit < 1:
        return ()
    lookup = Lookup(connection, scope_of(connection, request.filters), words)
    ladder = _Ladder(lookup, request, tree, texts_of)
    found: dict[int, tuple[MatchTier, _Ranked]] = {}
    for tier, ranked in (
        (MatchTier.WORDS, ladder.words),
        (MatchTier.PARTS, ladder.parts),
        (MatchTier.SOME, ladder.some),
    ):
        if len(found) < request.limit:
            for each in ranked():
                found.setdefault(each[1].id, (tier, each))
    best = list(found.values())[: request.limit]
    names = lookup.names(sorted({each.session for _, (_, each) in best}))
    return tuple(_hit(tier, each, names) for tier, each in best)


class _Ladder:
    """The rungs of one search."""

    def __init__(self, lookup: Lookup, request: Request, tree: Node, texts_of: Texts) -> None:
        self._lookup = lookup
        self._request = request
        self._query = request.query
        self._tree = All(self._query.telling) if self._query.is_plain else tree
        self._texts_of = texts_of

    def words(self) -> list[_Ranked]:
        """Rank what holds everything that was asked for."""
        return self._read(self._lookup.newest(expression(self._tree, self._spelled), _POOL))

    def parts(self) -> list[_Ranked]:
        """Rank what holds everything, some of it within longer words or with another ending."""
        if self._query.is_prose:
            return []
        limit = self._request.limit
        terms = widened(self._lookup, self._query, limit)
        found: list[Candidate] = []
        # The same text twice is one search.
        for written in dict.fromkeys(map(self._written, (terms.likely, terms.whole))):
            if written and len(found) < terms.enough:
                found = self._lookup.newest(written, min(_POOL, _PARTS * limit))
        return self._read(found)

    def some(self) -> list[_Ranked]:
        """Rank what shares words with the query, and what stands beside such messages."""
        query = self._query
        if not query.is_divisible:
            return []
        clues, known = self._clues()
        scores = weigh(clues, known, NEAR if query.is_prose else ())
        wanted = nlargest(self._request.limit + _SPARE, scores, key=scores.__getitem__)
        return sorted(
            (
                (scores[each.place] * prior(each, self._request.now), each)
                for each in self._lookup.standing_at(wanted)
            ),
            key=_best_first,
        )

    def _clues(self) -> tuple[list[Clue], list[Candidate]]:
        """Return the words of the query one by one, and the messages that have most of them."""
        clues = clues_of(self._lookup, self._query)
        chosen = leading(clues, _SPREAD)
        known = self._lookup.messages(chosen)
        stricter = self._lookup.narrowed(len(known), len(chosen))
        if stricter is None:
            return clues, known
        clues = clues_of(stricter, self._query)
        return clues, stricter.messages(leading(clues, _SPREAD))

    def _read(self, candidates: Sequence[Candidate]) -> list[_Ranked]:
        """Rank matches that hold the same words by their texts, as far as those are read."""
        now = self._request.now
        phrased = plain(self._query.text[:_PHRASE]).strip()
        exact = exact_name(self._query.text[:_PHRASE])
        terms = self._query.telling
        ordered = sorted(((prior(each, now), each) for each in candidates), key=_best_first)
        texts = self._texts_of([each.id for _, each in ordered[:_READ]])
        read = [
            (weight * (1 + closeness(texts.get(each.id, ""), terms, phrased, exact)), each)
            for weight, each in ordered[:_READ]
        ]
        return sorted([*read, *ordered[_READ:]], key=_best_first)

    def _written(self, ways: Mapping[Term, str]) -> str:
        """Write the query with some of its terms in other ways; nothing without such terms."""
        if not ways:
            return ""
        return expression(self._tree, lambda term: ways.get(term) or self._spelled(term))

    def _spelled(self, term: Term) -> str:
        """Write a term; an open one with the words whose stems are shorter than its beginning."""
        written = phrase(term.words, is_prefix=term.is_prefix)
        prefix, *others = term.words
        if not term.is_prefix or others or is_paired(prefix):
            return written
        hidden = [
            phrase([word])
            for word in self._lookup.words_beginning(prefix)
            if not normal(word).startswith(normal(prefix))
        ]
        return either([written, *hidden[:_MOST_WAYS]])


def _best_first(ranked: _Ranked) -> tuple[float, int]:
    return -ranked[0], -ranked[1].id


def _hit(tier: MatchTier, ranked: _Ranked, names: Mapping[int, tuple[str, str]]) -> Hit:
    score, each = ranked
    session, root = names[each.session]
    return Hit(
        message_id=each.id,
        session_id=session,
        root_id=root,
        position=each.position,
        role=ROLES[each.role],
        at=each.at,
        score=score,
        tier=tier,
    )
