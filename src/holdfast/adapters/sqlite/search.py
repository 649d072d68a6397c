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

from holdfast.adapters.sqlite.clues import clues_of
from holdfast.adapters.sqlite.expressions import either, expression, phrase
from holdfast.adapters.sqlite.lookup import Lookup
from holdfast.adapters.sqlite.scope import ROLES, scope_of
from holdfast.recall import All, Hit, Rung, plain
from holdfast.recall.folding import is_paired, normal, root_of
from holdfast.recall.ranking import (
    NEAR,
    Candidate,
    closeness,
    exact_name,
    leading,
    prior,
    weigh,
)

if TYPE_CHECKING:
    import sqlite3

    from holdfast.adapters.sqlite.lookup import Words
    from holdfast.recall import Filters, Node, Query, Term

__all__ = ["Request", "Texts", "search"]

Texts: TypeAlias = Callable[[Sequence[int]], Mapping[int, str]]
"""Gives the searchable text of messages by id."""
_Ranked: TypeAlias = tuple[float, Candidate]

_POOL = 400
"""The newest matches that are ranked when all the words are common."""
_READ = 60
"""Matches whose text is read for the ranking."""
_SPREAD = 400
"""Messages whose neighbors are credited with their words."""
_WIDENED = 3
"""Terms that are looked for inside longer words."""
_PHRASE = 200
"""Characters of a query that may stand in a text word for word."""
_SHORTEST_PART = 3
_SHORTEST_ENDING = 2
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
    found: dict[int, tuple[Rung, _Ranked]] = {}
    for rung, ranked in (
        (Rung.WORDS, ladder.words),
        (Rung.PARTS, ladder.parts),
        (Rung.SOME, ladder.some),
    ):
        if len(found) < request.limit:
            for each in ranked():
                found.setdefault(each[1].id, (rung, each))
    best = list(found.values())[: request.limit]
    names = lookup.names(sorted({each.session for _, (_, each) in best}))
    return tuple(_hit(rung, each, names) for rung, each in best)


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
        return self._read(expression(self._tree, self._spelled))

    def parts(self) -> list[_Ranked]:
        """Rank what holds everything, some of it within longer words or with another ending."""
        if self._query.is_prose:
            return []
        widened = self._widened()
        if not widened:
            return []
        return self._read(
            expression(self._tree, lambda term: widened.get(term) or self._spelled(term))
        )

    def some(self) -> list[_Ranked]:
        """Rank what shares words with the query, and what stands beside such messages."""
        query = self._query
        if not query.is_divisible:
            return []
        clues = clues_of(self._lookup, query)
        known = self._lookup.messages(leading(clues, _SPREAD))
        scores = weigh(clues, known, NEAR if query.is_prose else ())
        wanted = nlargest(3 * self._request.limit, scores, key=scores.__getitem__)
        return sorted(
            (
                (scores[each.place] * prior(each, self._request.now), each)
                for each in self._lookup.standing_at(wanted)
            ),
            key=_best_first,
        )

    def _read(self, written: str) -> list[_Ranked]:
        """Rank matches that hold the same words by their texts, as far as those are read."""
        candidates = self._lookup.newest(written, _POOL)
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

    def _widened(self) -> dict[Term, str]:
        """Write terms that are seldom words so that they may stand within longer ones."""
        terms = [term for term in self._query.telling if self._is_seldom(term)][:_WIDENED]
        parts = [term.words[0] for term in terms if _is_part(term)]
        holding = self._lookup.words_holding(parts)
        widened = {term: _ways(term, holding.get(term.words[0], [])) for term in terms}
        return {term: either(ways) for term, ways in widened.items() if ways}

    def _is_seldom(self, term: Term) -> bool:
        """Say whether a term that may be widened finds too little as it is."""
        if term.is_quoted or term.is_prefix or is_paired(term.words[0]):
            return False
        return len(self._lookup.ids(phrase(term.words), self._request.limit)) < self._request.limit


def _is_part(term: Term) -> bool:
    """Say whether the first word of a term is long enough to be looked for within others."""
    return len(term.words[0]) >= (_SHORTEST_PART if len(term.words) == 1 else _SHORTEST_ENDING)


def _ways(term: Term, longer: Sequence[str]) -> list[str]:
    """Return the ways in which a term may stand within longer words."""
    first, *others = term.words
    if others:
        endings = [first, *(word for word in longer if word.endswith(first))]
        return [phrase([word, *others], is_prefix=True) for word in endings]
    ways = [phrase([word]) for word in longer]
    root = "" if longer and first.isascii() else root_of(first)
    return [*ways, *([phrase([root], is_prefix=True)] if root else [])]


def _best_first(ranked: _Ranked) -> tuple[float, int]:
    return -ranked[0], -ranked[1].id


def _hit(rung: Rung, ranked: _Ranked, names: Mapping[int, tuple[str, str]]) -> Hit:
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
        rung=rung,
    )
