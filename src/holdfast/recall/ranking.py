"""Which match is best: rare words, words close by, short messages, speakers, and time, in numbers.

Everything here is arithmetic on what the index and the log say. A word counts by how few messages
have it. A message is also credited, less, with words that were said right before or after it: an
answer seldom repeats the words of its question.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from holdfast.recall.folding import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.recall.query import Node, Term

_POSITION_BITS = 32
_POSITION_MASK = (1 << _POSITION_BITS) - 1

NEAR = ((-3, 0.12), (-2, 0.25), (-1, 0.5), (1, 0.5), (2, 0.25), (3, 0.12))
"""What a word counts for the messages before and after the one that has it, by distance."""
_SATURATION = 2.0
_LENGTH_SHARE = 0.3
"""How much of a message's length counts against it."""
_TOPIC_SHARE = 0.1
"""What a word counts for the other messages of a session in which it was said."""
_ROLE_WEIGHTS = (0.8, 1.0, 1.0, 0.85)
"""System, user, assistant, tool: what people say is looked for more than what tools print."""
_FRESHNESS = 0.1
_HALF_LIFE = 30 * 86_400_000.0
"""A month in milliseconds: a fresh message weighs a tenth more than one that is old."""
_EXACT = 2.0
"""What a name counts that stands in the text exactly as it was typed."""
_READ = 4_000
"""Characters of a message that are read for its ranking."""


class Candidate(NamedTuple):
    """A message that may be the answer, as the log knows it."""

    id: int
    session: int
    position: int
    role: int
    at: int
    tokens: int

    @property
    def place(self) -> int:
        """Return where the message stands: neighbors in a session are neighboring numbers."""
        return (self.session << _POSITION_BITS) + self.position


@dataclass(frozen=True, slots=True)
class Posting:
    """One word of a query, with the messages that have it."""

    pattern: Node
    """What the index was asked for."""
    weight: float
    ids: Sequence[int]


def rarity(found: int, total: int) -> float:
    """Return the weight of a word that so many of all messages have."""
    return math.log(1 + max(total - found + 0.5, 0.5) / (found + 0.5))


def prior(candidate: Candidate, now: int) -> float:
    """Return what speaks for a message before its words are looked at: its speaker and its age."""
    age = max(0, now - candidate.at)
    return _ROLE_WEIGHTS[candidate.role] * (1 + _FRESHNESS * 0.5 ** (age / _HALF_LIFE))


def leading(postings: Sequence[Posting], count: int) -> list[int]:
    """Return the ids with the heaviest words, the newer one first among equals."""
    weights: dict[int, float] = {}
    for posting in postings:
        weight = posting.weight
        for id_ in posting.ids:
            weights[id_] = weights.get(id_, 0.0) + weight
    ordered = sorted(weights, key=lambda id_: (-weights[id_], -id_))
    return ordered[:count]


def stands(place: int) -> tuple[int, int]:
    """Return the key of the session and the position that a place stands for."""
    return place >> _POSITION_BITS, place & _POSITION_MASK


def weigh(
    postings: Sequence[Posting],
    known: Sequence[Candidate],
    near: Sequence[tuple[int, float]] = NEAR,
) -> dict[int, float]:
    """Return a score for each place that has a word of the query, or stands beside one that has.

    Args:
        postings: The words of the query.
        known: The messages that are worth a look.
        near: Which neighbors of a message share its words, and by how much; empty for none.
    """
    numbers = {each.id: number for number, each in enumerate(known)}
    # The places of messages are numbered first, then those beside them.
    slots = {each.place: number for number, each in enumerate(known)}
    beside = [
        [slots.setdefault(each.place + distance, len(slots)) for distance, _ in near]
        for each in known
    ]
    # The mean length counts 1, and so does one that is not known.
    lengths = [each.tokens for each in known if each.tokens]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    bulks = [
        _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * (each.tokens or mean) / mean)
        for each in known
    ]
    bulks += [_SATURATION] * (len(slots) - len(bulks))
    scores = [0.0] * len(slots)
    topics: dict[int, float] = {}
    for posting in postings:
        own = [number for id_ in posting.ids if (number := numbers.get(id_)) is not None]
        most = posting.weight * (1 + _SATURATION)
        present = dict.fromkeys(own, 1.0)
        shares = [share for _, share in near]
        for place in own:
            for other, share in zip(beside[place], shares, strict=True):
                present[other] = present.get(other, 0.0) + share
        for slot, there in present.items():
            scores[slot] += most * there / (there + bulks[slot])
        for session in {known[number].session for number in own}:
            topics[session] = topics.get(session, 0.0) + posting.weight
    return {
        place: score + _TOPIC_SHARE * topics.get(place >> _POSITION_BITS, 0.0)
        for place, score in zip(slots, scores, strict=True)
        if score
    }


def exact_name(query: str) -> str:
    """Return a query that spells a name letter for letter, such as `--base` or `maxRetries`.

    Capitals inside a word and signs are what people type on purpose. A sentence is no name.
    """
    name = query.strip()
    if not name or len(name.split()) > 1 or (name.isalnum() and name[1:].islower()):
        return ""
    return name


def closeness(text: str, terms: Sequence[Term], phrase: str, exact: str = "") -> float:
    """Return how well a text fits beyond holding the words: repeated, side by side, verbatim.

    Args:
        text: The text of a message that holds the words.
        terms: What was asked for.
        phrase: The whole query as the index reads it.
        exact: A name that counts only letter for letter, wherever it stands in the text.
    """
    bare = plain(text[:_READ])
    score = 0.0
    spots: list[int] = []
    for term in terms:
        wanted = plain(term.text)
        count = bare.count(wanted)
        score += count / (count + 1.0)
        if count:
            spots.append(bare.find(wanted))
    score /= max(1, len(terms))
    if len(spots) > 1:
        own = sum(len(term.text) + 1 for term in terms)
        score += 0.5 * own / max(own, max(spots) - min(spots))
    if phrase in bare:
        score += 0.5
    if exact and exact in text:
        score += _EXACT
    return score
