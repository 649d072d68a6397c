"""What a search asks of an index, and the words of a query looked up in it one by one.

A pattern is a query's own tree, with terms that were made up beside those that somebody typed. A
store answers in whatever way it likes: by a full-text index, or by lists of its own.

Stemming joins `researched` and `researching`, but not `went` and `go`, nor `film` and `movie`. A
question seldom uses the words of its answer, so a loose match counts these too, at less than a
word that was asked for. The lists are closed and small: verbs that do not follow the rules, and
things and people that everyone has two names for.

A word that many messages have says little, and its list is long: only its newest messages are
listed, and those that share it with a rarer word. A word that few messages have is looked for in
longer words, and with another ending, for languages that are not stemmed.

Somebody who types `lease_sched` means `release_schedule`. The list of spellings says how a part of
a word may go on. The index can say it too, by a prefix, but reads every word with that beginning
for it. So the likeliest ways are tried first, and the prefix only when they find too little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from holdfast.recall.folding import is_paired, normal, root_of, stem
from holdfast.recall.query import All, Either, Node, Query, Term
from holdfast.recall.ranking import Candidate, Posting, rarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_SHORT_HASH = re.compile("[0-9a-f]{7,63}")
"""What programs that name things by hashes show of one at least."""
_MOST_SPELLINGS = 40
"""Words with a part in them that are looked up: the shortest come closest to the part."""


class TermIndex(Protocol):
    """One store as it is at one moment, within the filters of one search."""

    def total(self) -> int:
        """Return about how many messages there are, within the filters or not."""
        ...

    def newest(self, pattern: Node, count: int) -> Sequence[Candidate]:
        """Return the newest messages that match and pass the filters, newest first."""
        ...

    def ids(self, pattern: Node, count: int) -> Sequence[int]:
        """Return the ids of the newest messages that match, newest first.

        Some may be outside the filters where looking at each would take long.
        """
        ...

    def messages(self, ids: Sequence[int]) -> Sequence[Candidate]:
        """Return the messages with these ids that pass the filters."""
        ...

    def standing_at(self, places: Sequence[int]) -> Sequence[Candidate]:
        """Return the messages at these places that pass the filters."""
        ...

    def narrowed(self) -> TermIndex | None:
        """Return the index with `ids` held against the filters, if they were not before."""
        ...

    def words_holding(self, parts: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return for each part of a word the `shortest` stored words that hold it."""
        ...

    def words_beginning(self, prefix: str) -> Sequence[str]:
        """Return stored words that begin with a prefix, in any order."""
        ...

    def texts(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the searchable text of messages by id."""
        ...

    def names(self, keys: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Return the ids of sessions and of their roots by the sessions' keys."""
        ...


def phrase(words: Sequence[str], *, is_prefix: bool = False) -> Term:
    """Return words that must follow each other; a lone ideograph stands for all its pairs."""
    is_open = is_prefix or (len(words[-1]) == 1 and not words[-1].isascii())
    return Term(" ".join(words), tuple(words), is_prefix=is_open)


def either(patterns: Iterable[Node]) -> Either:
    """Return alternatives of which one must be found."""
    return Either(tuple(dict.fromkeys(patterns)))


def beginning_of(word: str) -> str:
    """Return the beginning that words share which somebody means by this one, or nothing.

    The beginning of a hash stands for the hash, and what the forms of a word share for the word.
    """
    return word if _SHORT_HASH.fullmatch(word) else root_of(word)


def shortest(words: Iterable[str], most: int = _MOST_SPELLINGS) -> list[str]:
    """Return the shortest words, in the order of their length and of the alphabet."""
    return sorted(words, key=lambda word: (len(word), word))[:most]


_IRREGULAR = """
be was were been; become became; begin began begun; bite bit bitten; blow blew blown; break broke
broken; bring brought; build built; buy bought; catch caught; choose chose chosen; come came; cost
costs; cut cuts; deal dealt; draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten;
fall fell fallen; feed fed; feel felt; fight fought; find found; fly flew flown; forget forgot
forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went
gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew
known; lead led; learn learnt; leave left; lend lent; lose lost; make made; mean meant; meet met;
pay paid; read reads; ride rode ridden; ring rang rung; rise rose risen; run ran; say said; see
saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot; sing
sang sung; sit sat; sleep slept; speak spoke spoken; spend spent; stand stood; steal stole stolen;
stick stuck; strike struck; swear swore sworn; swim swam swum; take took taken; teach taught; tear
tore torn; tell told; think thought; throw threw thrown; understand understood; wake woke woken;
wear wore worn; win won; write wrote written; child children; man men; woman women; person people;
foot feet; tooth teeth; mouse mice; wife wives; life lives; half halves; leaf leaves; knife knives;
"""
_NEAR_SYNONYMS = """
mother mom mum mommy; father dad daddy; grandmother grandma granny; grandfather grandpa granddad;
parents mom dad; sibling brother sister; kid child children son daughter; baby infant newborn;
husband wife spouse partner; boyfriend girlfriend partner; friend buddy pal; colleague coworker;
boss manager; doctor physician; lawyer attorney; movie film; television tv show series; photo
photograph picture pic; bike bicycle cycling; car vehicle; plane flight; phone telephone call;
mobile cellphone phone; job work career occupation; company firm employer business; house home
apartment flat; city town; country nation; store shop; restaurant cafe diner; meal food dish
cuisine; dinner supper; sick ill; illness disease; medicine medication drug; exercise workout gym
fitness; run jog; hike trek trail; trip travel vacation holiday journey; visit go; gift present;
party celebration; birthday bday; wedding marriage married; begin start; finish complete end; buy
purchase; like enjoy love; hobby interest pastime; favorite favourite prefer; happy glad; sad
upset; afraid scared fear; angry mad; nervous anxious worried; tired exhausted; big large; small
little tiny; quick fast; money cash; cheap inexpensive; expensive costly pricey; cost price; school
college university; study learn; class course lesson; teacher instructor; student pupil; exam test;
book novel; author writer; song music track; band group; concert gig show; picture painting; game
match; team club; pet dog cat; dog puppy; cat kitten; garden yard; beach sea ocean; mountain hill;
forest woods; autumn fall; clothes outfit clothing; shoe sneaker; bag purse; computer laptop pc;
bug defect error; fix repair; delete remove; create make; change modify update; folder directory;
setting option configuration; password credential; website site; picture image; document file;
"""


def _table() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in map(str.split, (_IRREGULAR + _NEAR_SYNONYMS).split(";")):
        for word in group:
            found.setdefault(stem(word), {}).update(dict.fromkeys(group))
    return {
        word: tuple(each for each in group if stem(each) != word) for word, group in found.items()
    }


_SYNONYMS: Mapping[str, tuple[str, ...]] = MappingProxyType(_table())


def synonyms_of(word: str) -> tuple[str, ...]:
    """Return other words that may stand for a word; most have none."""
    return _SYNONYMS.get(stem(word.lower()), ())


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
    asked: dict[tuple[str, ...], None] = {}
    for term in query.telling:
        asked[term.words] = None
        if len(term.words) > 1 and not term.is_quoted:
            asked.update(dict.fromkeys((word,) for word in term.words))
    counts = {
        words: search.add(phrase(words), 1.0, words) for words in list(asked)[: 2 * _MOST_POSTINGS]
    }
    for before, after in pairwise(query.terms):
        if not before.is_filler and not after.is_filler:
            words = (*before.words, *after.words)
            search.add(phrase(words), _SIDE_BY_SIDE, words)
    for word in dict.fromkeys(word for term in query.telling for word in term.words):
        if others := synonyms_of(word):
            search.add(either([phrase([other]) for other in others]), _SYNONYM)
    few = [
        words[0]
        for words, count in sorted(counts.items(), key=lambda item: item[1])
        if count <= _SCARCE and len(words) == 1 and len(words[0]) >= _SHORTEST_PART
    ]
    scarce = [word for word in few if not is_paired(word)]
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
            total, having = self._total, len(ids)
            if having >= _COMMON:
                # Judged by how dense its newest messages are.
                having = int(having * total / max(1, total - ids[-1] + 1))
            weight = share * rarity(having, total)
            self._found.append(_Found(Posting(pattern, weight, ids), words))
        return len(ids)

    def rarest(self, count: int) -> list[_Found]:
        """Return the postings that say most."""
        return sorted(self._found, key=lambda found: -found.posting.weight)[:count]


def _completed(index: TermIndex, found: Sequence[_Found]) -> list[Posting]:
    """Give common words the messages that they share with rarer ones, instead of the newest.

    Without a rare word, the rarest of the common ones takes its place. Words that follow each
    other need not be looked for again: whoever has both has each.
    """
    # Words by which messages are chosen: rare ones, with at least one that was asked for.
    quick = [each for each in found if each.is_quick]
    rare = [each for each in quick if not each.is_common]
    asked = [each for each in quick if each.words]
    anchor = rare if any(each.words for each in rare) else [*rare, *asked[:1]]
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


def _with(each: _Found, ids: Sequence[int] | None, found: Sequence[_Found]) -> Posting:
    """Return a posting with other messages and those of the phrases that its word is part of."""
    if ids is None:
        return each.posting
    own = set(each.words)
    phrased = (other.posting.ids for other in found if not other.is_quick and own & {*other.words})
    return replace(each.posting, ids=sorted({*ids, *chain.from_iterable(phrased)}, reverse=True))


_MOST_TERMS = 3
"""Terms that are looked for inside longer words."""
_SHORTEST_WITHIN = 3
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

    As words, the query found less than `limit` messages.
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
    return len(term.words[0]) >= (_SHORTEST_WITHIN if len(term.words) == 1 else _SHORTEST_ENDING)


def _ways(index: TermIndex, term: Term, longer: Sequence[str]) -> _Ways:
    """Return the ways of a term whose first word stands within these."""
    first, *others = term.words
    if others:
        endings = [*_as_it_is(first, longer), *(word for word in longer if word.endswith(first))]
        starts = list(dict.fromkeys(endings))
        *between, last = others
        words = index.words_beginning(last)
        onward = shortest(words, len(words))
        pairs = sorted(
            ((ending, word) for ending in starts for word in onward[:_LIKELY_PAIRS]),
            key=lambda pair: len(pair[0]) + len(pair[1]),
        )
        likely = [phrase([ending, *between, word]) for ending, word in pairs[:_LIKELY_PAIRS]]
        most = max(_FEWEST_ENDINGS, _MOST_PAIRS // max(1, len(onward)))
        whole = [phrase([ending, *others], is_prefix=True) for ending in starts[:most]]
        return _Ways(likely or whole, whole, is_slow=len(onward) * len(whole) > _SLOW)
    ways = [phrase([word]) for word in longer]
    is_listed = first.isascii() and first.isalpha()
    start = "" if longer and is_listed else beginning_of(first)
    if start:
        ways.append(phrase([start], is_prefix=True))
    return _Ways(ways, ways)


def _as_it_is(word: str, longer: Sequence[str]) -> list[str]:
    """Return a word if it may stand in the index itself; not all words are listed.

    A number that begins a name may be a version, which some write with a `v`.
    """
    if word.isdigit():
        return [word, f"v{word}"]
    is_listed = len(word) >= _SHORTEST_WITHIN and word.isalpha()
    is_stored = any(normal(each) == normal(word) for each in longer)
    return [word] if is_stored or not is_listed else []
