"""The search ladder: what was asked for first, what comes close after it.

A search goes down the tiers of matches and stops when it has enough. Messages with all words come
first, then those that hold some of them inside longer words, then, for words without operators,
those that share the rarest words with the query, in themselves or in their neighbors.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.recall.folding import is_paired, normal, plain
from holdfast.recall.query import All, Either, Node, Query, Term, Without
from holdfast.recall.ranking import NEAR, Candidate, closeness, exact_name, leading, prior, weigh
from holdfast.recall.term_index import TermIndex, either, expanded, phrase, postings_of
from holdfast.recall.values import Hit, MatchTier
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


ROLES = (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)
"""The roles in the order of the numbers that candidates have for them."""
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


def search(index: TermIndex, query: Query, *, limit: int, now: int) -> tuple[Hit, ...]:
    """Return the best matches, best first, each message once.

    What is fresh counts a little more: `now` is in milliseconds since the epoch.
    """
    if query.tree is None or limit < 1:
        return ()
    ladder = _Ladder(index, query, limit, now)
    found: dict[int, tuple[MatchTier, _Ranked]] = {}
    for tier, ranked in (
        (MatchTier.WORDS, ladder.words),
        (MatchTier.PARTS, ladder.parts),
        (MatchTier.SOME, ladder.some),
    ):
        if len(found) < limit:
            for each in ranked():
                found.setdefault(each[1].id, (tier, each))
    best = list(found.values())[:limit]
    names = index.names(sorted({each.session for _, (_, each) in best}))
    return tuple(
        Hit(
            message_id=each.id,
            session_id=names[each.session][0],
            root_id=names[each.session][1],
            position=each.position,
            role=ROLES[each.role],
            at=each.at,
            score=score,
            tier=tier,
        )
        for tier, (score, each) in best
    )


class _Ladder:
    """The tiers of one search."""

    def __init__(self, index: TermIndex, query: Query, limit: int, now: int) -> None:
        self._index = index
        self._query = query
        self._tree = query.tree if query.tree and not query.is_plain else All(query.telling)
        self._limit = limit
        self._now = now

    def words(self) -> list[_Ranked]:
        """Rank what holds everything that was asked for."""
        return self._read(self._index.newest(_pattern(self._tree, self._spelled), _POOL))

    def parts(self) -> list[_Ranked]:
        """Rank what holds everything, some of it within longer words or with another ending."""
        if self._query.is_prose:
            return []
        terms = expanded(self._index, self._query, self._limit)
        found: Sequence[Candidate] = ()
        # The same pattern twice is one search.
        for ways in (terms.likely, terms.whole) if terms.likely != terms.whole else (terms.whole,):
            if ways and len(found) < terms.enough:
                pattern = _pattern(self._tree, lambda t, ways=ways: ways.get(t) or self._spelled(t))
                found = self._index.newest(pattern, min(_POOL, _PARTS * self._limit))
        return self._read(found)

    def some(self) -> list[_Ranked]:
        """Rank what shares words with the query, and what stands beside such messages."""
        query = self._query
        if not query.is_divisible:
            return []
        postings = postings_of(self._index, query)
        chosen = leading(postings, _SPREAD)
        known = self._index.messages(chosen)
        # An index that did not hold every match against the filters may have hoped for too much.
        stricter = self._index.narrowed() if 2 * len(known) < len(chosen) else None
        if stricter is not None:
            postings = postings_of(stricter, query)
            known = stricter.messages(leading(postings, _SPREAD))
        scores = weigh(postings, known, NEAR if query.is_prose else ())
        wanted = nlargest(self._limit + _SPARE, scores, key=scores.__getitem__)
        return sorted(
            (
                (scores[each.place] * prior(each, self._now), each)
                for each in self._index.standing_at(wanted)
            ),
            key=_best_first,
        )

    def _read(self, candidates: Sequence[Candidate]) -> list[_Ranked]:
        """Rank matches that hold the same words by their texts, as far as those are read."""
        now = self._now
        phrased = plain(self._query.text[:_PHRASE]).strip()
        exact = exact_name(self._query.text[:_PHRASE])
        terms = self._query.telling
        ordered = sorted(((prior(each, now), each) for each in candidates), key=_best_first)
        texts = self._index.texts([each.id for _, each in ordered[:_READ]])
        read = [
            (weight * (1 + closeness(texts.get(each.id, ""), terms, phrased, exact)), each)
            for weight, each in ordered[:_READ]
        ]
        return sorted([*read, *ordered[_READ:]], key=_best_first)

    def _spelled(self, term: Term) -> Node:
        """Return a term as it is looked up; an open one with words of shorter stems beside it."""
        written = phrase(term.words, is_prefix=term.is_prefix)
        prefix, *others = term.words
        if not term.is_prefix or others or is_paired(prefix):
            return written
        hidden = [
            phrase([word])
            for word in self._index.words_beginning(prefix)
            if not normal(word).startswith(normal(prefix))
        ]
        return either([written, *hidden[:_MOST_WAYS]])


def _pattern(node: Node, spell: Callable[[Term], Node]) -> Node:
    """Return a query with its terms as they are looked up."""
    match node:
        case Term():
            return spell(node)
        case All(parts):
            return All(tuple(_pattern(part, spell) for part in parts))
        case Either(parts):
            return either(_pattern(part, spell) for part in parts)
        case Without(wanted, unwanted):
            return Without(_pattern(wanted, spell), _pattern(unwanted, spell))
        case _:
            assert_never(node)


def _best_first(ranked: _Ranked) -> tuple[float, int]:
    return -ranked[0], -ranked[1].id
