"""The words of a query one by one, with the messages that have them: what a loose match is made of.

A word that many messages have says little, and its list is long: only its newest messages are
listed, and those that share it with a rarer word. A word that few messages have is looked for in
longer words, and with another ending, for languages that are not stemmed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from holdfast.recall.folding import is_paired
from holdfast.recall.query import All
from holdfast.recall.ranking import Posting, rarity
from holdfast.recall.synonyms import synonyms_of
from holdfast.recall.term_index import beginning_of, either, phrase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.recall.query import Node, Query
    from holdfast.recall.term_index import TermIndex

__all__ = ["postings_of"]

_COMMON = 500
"""Messages of a word that are listed; a word with more is common."""
_MOST_POSTINGS = 24
_LOOSE = 0.6
"""What a word counts that was found inside another, or with another ending."""
_SYNONYM = 0.5
"""What a word counts that means nearly what was asked for."""
_SIDE_BY_SIDE = 0.5
"""What two words count, beside what each does, that follow each other as in the query."""
_SHORTEST_PART = 3
_SCARCE = 3
"""Messages up to which a word is also looked for within longer words."""
_MOST_SCANNED = 3
"""Such words for which the list of spellings is read: that takes time for each."""


def postings_of(index: TermIndex, query: Query) -> list[Posting]:
    """Return the words of a query with their messages, the rarest first."""
    search = _Gathered(index)
    counts = {words: search.add(phrase(words), 1.0, words) for words in _asked(query)}
    for before, after in pairwise(query.terms):
        if not before.is_filler and not after.is_filler:
            words = (*before.words, *after.words)
            search.add(phrase(words), _SIDE_BY_SIDE, words)
    for word in dict.fromkeys(word for term in query.telling for word in term.words):
        if others := synonyms_of(word):
            search.add(either([phrase([other]) for other in others]), _SYNONYM)
    scarce = _scarce(counts)
    holding = index.words_holding(scarce[:_MOST_SCANNED])
    for word in scarce:
        ways: list[Node] = [phrase([longer]) for longer in holding.get(word, ()) if longer != word]
        if start := beginning_of(word):
            ways.append(phrase([start], is_prefix=True))
        if ways:
            search.add(either(ways), _LOOSE)
    return _completed(index, search.rarest(_MOST_POSTINGS))


@dataclass(frozen=True, slots=True)
class _Found:
    """A posting, and the words that follow each other in it; none where one of several may."""

    posting: Posting
    words: tuple[str, ...] = ()

    @property
    def is_common(self) -> bool:
        """Say whether only the newest messages are listed."""
        return len(self.posting.ids) >= _COMMON

    @property
    def is_quick(self) -> bool:
        """Say whether it can be asked for again in no time: a phrase cannot."""
        return len(self.words) <= 1


class _Gathered:
    """Postings as they are looked up."""

    def __init__(self, index: TermIndex) -> None:
        self._index = index
        self._total = index.total()
        self._found: list[_Found] = []

    def add(self, pattern: Node, share: float, words: tuple[str, ...] = ()) -> int:
        """Look for one thing, and return how many messages have it, as far as they are listed."""
        ids = self._index.ids(pattern, _COMMON)
        if ids:
            weight = share * rarity(_estimate(ids, self._total), self._total)
            self._found.append(_Found(Posting(pattern, weight, ids), words))
        return len(ids)

    def rarest(self, count: int) -> list[_Found]:
        """Return the postings that say most."""
        return sorted(self._found, key=lambda found: -found.posting.weight)[:count]


def _asked(query: Query) -> list[tuple[str, ...]]:
    """Return what is looked for; words that were joined count together and alone."""
    asked: dict[tuple[str, ...], None] = {}
    for term in query.telling:
        asked[term.words] = None
        if len(term.words) > 1 and not term.is_quoted:
            asked.update(dict.fromkeys((word,) for word in term.words))
    return list(asked)[: 2 * _MOST_POSTINGS]


def _scarce(counts: Mapping[tuple[str, ...], int]) -> list[str]:
    """Return the words that few messages have, the scarcest first."""
    words = [
        words[0]
        for words, count in sorted(counts.items(), key=lambda item: item[1])
        if count <= _SCARCE and len(words) == 1 and len(words[0]) >= _SHORTEST_PART
    ]
    return [word for word in words if not is_paired(word)]


def _completed(index: TermIndex, found: Sequence[_Found]) -> list[Posting]:
    """Give common words the messages that they share with rarer ones, instead of the newest.

    Without a rare word, the rarest of the common ones takes its place. Words that follow each
    other need not be looked for again: whoever has both has each.
    """
    anchor = _anchor(found)
    if not anchor:
        return [each.posting for each in found]
    anchored = either([each.posting.pattern for each in anchor])
    chosen = {each.posting.pattern for each in anchor}
    shared = {
        each.posting.pattern: index.ids(All((anchored, each.posting.pattern)), _COMMON)
        for each in found
        if each.is_common and each.posting.pattern not in chosen
    }
    if len(anchor) == 1:
        # Whatever another word shares with it has it too, however old that is.
        only = anchor[0].posting
        shared[only.pattern] = [*only.ids, *chain.from_iterable(shared.values())]
    return [_with(each, shared.get(each.posting.pattern), found) for each in found]


def _anchor(found: Sequence[_Found]) -> list[_Found]:
    """Return the words by which messages are chosen: rare ones, with at least one asked for."""
    quick = [each for each in found if each.is_quick]
    rare = [each for each in quick if not each.is_common]
    asked = [each for each in quick if each.words]
    return rare if any(each.words for each in rare) else [*rare, *asked[:1]]


def _with(each: _Found, ids: Sequence[int] | None, found: Sequence[_Found]) -> Posting:
    """Return a posting with other messages and those of the phrases that its word is part of."""
    if ids is None:
        return each.posting
    own = set(each.words)
    phrased = (other.posting.ids for other in found if not other.is_quick and own & {*other.words})
    return replace(each.posting, ids=sorted({*ids, *chain.from_iterable(phrased)}, reverse=True))


def _estimate(ids: Sequence[int], total: int) -> int:
    """Return how many messages have a word, judged by how dense its newest messages are."""
    if len(ids) < _COMMON:
        return len(ids)
    return int(len(ids) * total / max(1, total - ids[-1] + 1))
