"""Terms that are seldom words, written so that they may stand within longer ones.

Somebody who types `lease_sched` means `release_schedule`. The list of spellings says how a part of
a word may go on. The index can say it too, by a prefix, but reads every word with that beginning
for it. So the likeliest ways are tried first, and the prefix only when they find too little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.recall.folding import is_paired, normal
from holdfast.recall.term_index import beginning_of, either, phrase, shortest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.recall.query import Node, Query, Term
    from holdfast.recall.term_index import TermIndex

__all__ = ["Expanded", "expanded"]

_MOST_TERMS = 3
"""Terms that are looked for inside longer words."""
_SHORTEST_PART = 3
"""Letters of a word from which it is listed."""
_SHORTEST_ENDING = 2
_NAME = 3
"""Words from which words joined by signs, such as a path or an address, are a whole name."""
_LIKELY_PAIRS = 16
"""Ways in which both ends of a name may go on that are tried first."""
_MOST_PAIRS = 1_000
"""All ways in which they may: the words that the last may be are read anew for each first one."""
_FEWEST_ENDINGS = 2
_SLOW = 300
"""Words read for all the ways from which that takes long, some 5 ms."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """Terms of a query with the longer words that they may stand in."""

    likely: Mapping[Term, Node]
    """In a few ways that take no time."""
    whole: Mapping[Term, Node]
    """In every way."""
    enough: int
    """How many messages found in the likely ways are enough not to try the others."""


def expanded(index: TermIndex, query: Query, limit: int) -> Expanded:
    """Expand the terms of a query that find too little as words; there may be none.

    Args:
        index: Where to look.
        query: What was asked for; as words it found less than `limit`.
        limit: How many messages are wanted.
    """
    search = _Seldom(index, query, limit)
    terms = [term for term in query.telling if search.has(term)][:_MOST_TERMS]
    holding = index.words_holding([term.words[0] for term in terms if _is_part(term)])
    ways = {term: _ways(index, term, holding.get(term.words[0], [])) for term in terms}
    return Expanded(
        {term: either(each.likely) for term, each in ways.items() if each.likely},
        {term: either(each.whole) for term, each in ways.items() if each.whole},
        enough=1 if any(each.is_slow for each in ways.values()) else limit,
    )


@dataclass(frozen=True, slots=True)
class _Ways:
    """The ways in which one term may stand within longer words."""

    likely: Sequence[Node]
    whole: Sequence[Node]
    is_slow: bool = False
    """Whether asking for all of them takes long."""


@dataclass(frozen=True, slots=True)
class _Seldom:
    """Tells which terms of a query find too little."""

    index: TermIndex
    query: Query
    limit: int

    def has(self, term: Term) -> bool:
        """Say whether a term may be expanded, and finds too little as it is."""
        if term.is_quoted or term.is_prefix or is_paired(term.words[0]):
            return False
        is_name = len(term.words) >= _NAME
        if len(self.query.telling) == 1 and not is_name:
            return True
        # A whole name that stands somewhere as it was typed is no part of another one.
        enough = 1 if is_name else self.limit
        return len(self.index.ids(phrase(term.words), enough)) < enough


def _is_part(term: Term) -> bool:
    """Say whether the first word of a term is long enough to be looked for within others."""
    return len(term.words[0]) >= (_SHORTEST_PART if len(term.words) == 1 else _SHORTEST_ENDING)


def _ways(index: TermIndex, term: Term, longer: Sequence[str]) -> _Ways:
    """Return the ways of a term whose first word stands within these."""
    first, *others = term.words
    if others:
        endings = [*_as_it_is(first, longer), *(word for word in longer if word.endswith(first))]
        return _joined_ways(index, list(dict.fromkeys(endings)), others)
    ways = [phrase([word]) for word in longer]
    is_listed = first.isascii() and first.isalpha()
    start = "" if longer and is_listed else beginning_of(first)
    if start:
        ways.append(phrase([start], is_prefix=True))
    return _Ways(ways, ways)


def _joined_ways(index: TermIndex, endings: Sequence[str], others: Sequence[str]) -> _Ways:
    """Return the ways in which words that follow each other may go on at both ends."""
    *between, last = others
    words = index.words_beginning(last)
    onward = shortest(words, len(words))
    pairs = sorted(
        ((ending, word) for ending in endings for word in onward[:_LIKELY_PAIRS]),
        key=lambda pair: len(pair[0]) + len(pair[1]),
    )
    likely = [phrase([ending, *between, word]) for ending, word in pairs[:_LIKELY_PAIRS]]
    most = max(_FEWEST_ENDINGS, _MOST_PAIRS // max(1, len(onward)))
    whole = [phrase([ending, *others], is_prefix=True) for ending in endings[:most]]
    return _Ways(likely or whole, whole, is_slow=len(onward) * len(whole) > _SLOW)


def _as_it_is(word: str, longer: Sequence[str]) -> list[str]:
    """Return a word if it may stand in the index itself; not all words are listed.

    A number that begins a name may be a version, which some write with a `v`.
    """
    if word.isdigit():
        return [word, f"v{word}"]
    is_listed = len(word) >= _SHORTEST_PART and word.isalpha()
    is_stored = any(normal(each) == normal(word) for each in longer)
    return [word] if is_stored or not is_listed else []
