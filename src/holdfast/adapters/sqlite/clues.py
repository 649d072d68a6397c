"""The words of a query one by one, with the messages that have them: what a loose match is made of.

A word that many messages have says little, and its list is long: only its newest messages are
listed, and those that share it with a rarer word. A word that no message has is looked for inside
longer words, and with another ending, for languages that are not stemmed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from holdfast.adapters.sqlite.expressions import either, phrase
from holdfast.recall.folding import is_paired, root_of
from holdfast.recall.kinship import kin
from holdfast.recall.ranking import Clue, rarity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.adapters.sqlite.lookup import Lookup
    from holdfast.recall import Query

__all__ = ["clues_of"]

_COMMON = 1_000
"""Messages of a word that are listed; a word with more is common."""
_MOST_CLUES = 24
_LOOSE = 0.6
"""What a word counts that was found inside another, or with another ending."""
_KIN = 0.5
"""What a word counts that means nearly what was asked for."""
_SIDE_BY_SIDE = 0.5
"""What two words count, beside what each does, that follow each other as in the query."""
_SHORTEST_PART = 3


def clues_of(lookup: Lookup, query: Query) -> list[Clue]:
    """Return the clues of a query, the rarest first."""
    search = _Clues(lookup)
    absent = [words for words in _asked(query) if not search.add(phrase(words), 1.0)]
    for before, after in pairwise(query.terms):
        if not before.is_filler and not after.is_filler:
            search.add(phrase([*before.words, *after.words]), _SIDE_BY_SIDE)
    for word in dict.fromkeys(word for term in query.telling for word in term.words):
        if others := kin(word):
            search.add(either([phrase([other]) for other in others]), _KIN)
    missing = [words[0] for words in absent if len(words) == 1 and not is_paired(words[0])]
    holding = lookup.words_holding([word for word in missing if len(word) >= _SHORTEST_PART])
    for word in missing:
        ways = [phrase([longer]) for longer in holding.get(word, ())]
        if root := root_of(word):
            ways.append(phrase([root], is_prefix=True))
        if ways:
            search.add(either(ways), _LOOSE)
    return _completed(lookup, search.rarest(_MOST_CLUES))


class _Clues:
    """Clues as they are found."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._total = lookup.total()
        self._found: list[Clue] = []

    def add(self, written: str, share: float) -> bool:
        """Look for one thing, and say whether any message has it."""
        ids = self._lookup.ids(written, _COMMON)
        if ids:
            weight = share * rarity(_estimate(ids, self._total), self._total)
            self._found.append(Clue(written, weight, ids))
        return bool(ids)

    def rarest(self, count: int) -> list[Clue]:
        """Return the clues that say most."""
        return sorted(self._found, key=lambda clue: -clue.weight)[:count]


def _asked(query: Query) -> list[tuple[str, ...]]:
    """Return what is looked for; words that were joined count together and alone."""
    asked: dict[tuple[str, ...], None] = {}
    for term in query.telling:
        asked[term.words] = None
        if len(term.words) > 1 and not term.is_quoted:
            asked.update(dict.fromkeys((word,) for word in term.words))
    return list(asked)[: 2 * _MOST_CLUES]


def _completed(lookup: Lookup, clues: list[Clue]) -> list[Clue]:
    """Give common words the messages that they share with rare ones, instead of the newest."""
    rare = [clue.written for clue in clues if len(clue.ids) < _COMMON]
    if not rare:
        return clues
    anchor = either(rare)
    return [
        clue
        if len(clue.ids) < _COMMON
        else Clue(clue.written, clue.weight, lookup.ids(f"({anchor} AND {clue.written})", _COMMON))
        for clue in clues
    ]


def _estimate(ids: Sequence[int], total: int) -> int:
    """Return how many messages have a word, judged by how dense its newest messages are."""
    if len(ids) < _COMMON:
        return len(ids)
    return int(len(ids) * total / max(1, total - ids[-1] + 1))
