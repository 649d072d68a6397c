"""Which pieces of messages answer a query: cut at lines and sentences, weighed, each said once.

A long message is seldom an answer as a whole. Each is cut into pieces of a paragraph's size, and a
piece counts by the words of the query in it: rare ones more than common ones, words that stand
close together more than scattered ones, less where it is long. A piece is also credited, less,
with what stands beside it in its message and with the best of the messages before and after it.
What people and models said counts more than what tools printed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from holdfast.recall.folding import WORD, plain
from holdfast.recall.ranking import rarity
from holdfast.recall.term_index import phrase, synonyms_of
from holdfast.recall.wording import Spot, spots_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.recall.query import Query, Term

_SIZE = 600
"""Characters of a piece, about."""
_LONGEST = 100_000
"""Characters of a message that are cut into pieces."""
_SATURATION = 1.2
_LENGTH_SHARE = 0.5
_SYNONYM = 0.4
_CLOSE = 0.5
"""What two words of the query count that stand close together, against what each does."""
_REACH = 24
"""Characters between two words that still stand close together."""
_BESIDE = 0.35
"""What a piece counts for the one before and the one after it."""
_OWN_MESSAGE = 0.3
"""What the best piece of a message counts for its others."""
_NEXT_MESSAGE = 0.15
"""What the best piece of a message counts for those of the messages before and after it."""
_SHORT_NEXT = 0.5
"""The same for a message that is one piece and has no word of the query: people answer briefly."""
_NEXT = 2
"""Positions between messages that follow each other; a compaction may write between them."""
_END = 0.7
"""What the first or last messages count, against the best match, where the query is about them."""
_MOST = 100
"""Pieces that are told apart; more than any budget holds."""
_ALIKE = 0.6
"""The part of their words that two pieces share of which one is enough."""
_BRIEF = 12
"""Different words up to which a piece may be repeated: it takes no room, and may be an answer."""

_SENTENCE = re.compile(r"[.!?][\"')\]]*\s+|[\u3002\uff01\uff1f]")
_OPENING = frozenset(
    plain(
        """
    first beginning begin began begun start started initial initially original originally opening
    anfang zuerst erste ersten anfangs début premier première inicio primero primera начало первый
    """
    ).split()
)
_CLOSING = frozenset(
    plain(
        """
    last latest end ends ending final finally newest recent recently
    letzte letzten letzter zuletzt schluss fin dernier dernière último última последний конец
    """
    ).split()
)
"""Words by which a question means where a conversation begins or ends, whatever was said there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A message that may be quoted."""

    session: str
    position: int
    text: str
    weight: float = 1.0
    """What its words count: those of tools count less."""
    is_end: bool = False
    """Whether it is one of the first or last messages, and the query is about those."""


@dataclass(frozen=True, slots=True)
class MessagePiece:
    """A stretch of a source's text."""

    source: int
    """The number of the source."""
    start: int
    end: int
    score: float = 0.0


def ends_meant(query: Query) -> tuple[bool, bool]:
    """Say whether a question is about how a conversation began, and about how it ended."""
    words = {plain(word) for term in query.terms for word in term.words}
    asked = query.is_prose
    return asked and bool(words & _OPENING), asked and bool(words & _CLOSING)


def best_pieces(sources: Sequence[Source], query: Query) -> list[MessagePiece]:
    """Return the pieces that match, best first, without those that repeat a better one."""
    terms = [(term, 1.0) for term in query.telling]
    terms += [
        (phrase([other]), _SYNONYM)
        for term in query.telling
        if len(term.words) == 1
        for other in synonyms_of(term.words[0])
    ]
    pieces = [
        piece for number, each in enumerate(sources) for piece in _cut(number, each.text[:_LONGEST])
    ]
    matched = _own_scores(sources, pieces, terms)
    scores = _with_neighbors(sources, pieces, matched)
    ranked = sorted(
        (
            MessagePiece(piece.source, piece.start, piece.end, score)
            for piece, score in zip(pieces, scores, strict=True)
            if score > 0
        ),
        key=lambda piece: (-piece.score, piece.source, piece.start),
    )
    different: list[MessagePiece] = []
    seen: list[frozenset[str]] = []
    for piece in ranked:
        text = sources[piece.source].text[piece.start : piece.end]
        words = frozenset(WORD.findall(text.lower()))
        if len(words) > _BRIEF:
            # What repeats a better piece nearly word for word is left out.
            if any(len(words & other) > _ALIKE * len(words | other) for other in seen):
                continue
            seen.append(words)
        different.append(piece)
        if len(different) == _MOST:
            break
    return different


def _cut(number: int, text: str) -> Iterator[MessagePiece]:
    """Cut a text at its lines, and lines that are too long at sentences, else at words."""
    start = end = 0
    for line in text.splitlines(keepends=True):
        is_break = not line.strip() and end - start > _SIZE // 2
        if end > start and (is_break or end - start + len(line) > _SIZE):
            yield MessagePiece(number, start, end)
            start = end
        end += len(line)
        while end - start > 3 * _SIZE // 2:
            # At the end of the last sentence that fits, else of the last word.
            least, most = start + _SIZE // 2, start + _SIZE
            ends = [match.end() for match in _SENTENCE.finditer(text, least, most)]
            middle = ends[-1] if ends else text.rfind(" ", least, most) + 1 or most
            yield MessagePiece(number, start, middle)
            start = middle
    if text[start:end].strip():
        yield MessagePiece(number, start, end)


def _own_scores(
    sources: Sequence[Source], pieces: Sequence[MessagePiece], terms: Sequence[tuple[Term, float]]
) -> list[float]:
    """Weigh each piece by the words in it: rare ones, repeated ones and those close together."""
    wanted = [term for term, _ in terms]
    waiting = [iter(spots_of(each.text[:_LONGEST], wanted)) for each in sources]
    spot: list[Spot | None] = [next(each, None) for each in waiting]
    # A match over a cut belongs to the piece in which it begins.
    spots: list[list[Spot]] = []
    for piece in pieces:
        own: list[Spot] = []
        while (here := spot[piece.source]) and here.start < piece.end:
            own.append(here)
            spot[piece.source] = next(waiting[piece.source], None)
        spots.append(own)
    holding = Counter(number for found in spots for number in {spot.term for spot in found})
    rare = [weight * rarity(holding[n], len(pieces)) for n, (_, weight) in enumerate(terms)]
    mean = sum(piece.end - piece.start for piece in pieces) / max(1, len(pieces))
    scores: list[float] = []
    for piece, found in zip(pieces, spots, strict=True):
        length = (piece.end - piece.start) / mean
        bulk = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length)
        counts = Counter(spot.term for spot in found)
        score = sum(rare[n] * c * (1 + _SATURATION) / (c + bulk) for n, c in counts.items())
        close = {
            (min(a.term, b.term), max(a.term, b.term))
            for a, b in pairwise(found)
            if a.term != b.term and b.start - a.end <= _REACH
        }
        score += sum(_CLOSE * (rare[a] + rare[b]) / 2 for a, b in close)
        scores.append(score)
    return scores


def _with_neighbors(
    sources: Sequence[Source], pieces: Sequence[MessagePiece], matched: Sequence[float]
) -> list[float]:
    """Credit pieces with what stands beside them, and weigh them by who said it."""
    best = [0.0] * len(sources)
    for piece, score in zip(pieces, matched, strict=True):
        best[piece.source] = max(best[piece.source], score)
    beside = [0.0] * len(sources)
    order = sorted(range(len(sources)), key=lambda n: (sources[n].session, sources[n].position))
    for a, b in pairwise(order):
        first, second = sources[a], sources[b]
        if first.session == second.session and second.position - first.position <= _NEXT:
            beside[a] += best[b]
            beside[b] += best[a]
    top = max(best, default=0.0)
    scores: list[float] = []
    for index, (piece, own) in enumerate(zip(pieces, matched, strict=True)):
        source = sources[piece.source]
        near = sum(
            matched[other]
            for other in (index - 1, index + 1)
            if 0 <= other < len(pieces) and pieces[other].source == piece.source
        )
        score = own + _BESIDE * near / 2
        if score:
            score += _OWN_MESSAGE * best[piece.source] + _NEXT_MESSAGE * beside[piece.source]
        elif piece.end - piece.start == len(source.text):
            score = _SHORT_NEXT * beside[piece.source]
        if source.is_end:
            score = max(score, _END * (top or 1.0))
        scores.append(score * source.weight)
    return scores


def pieced(text: str, pieces: Iterable[MessagePiece]) -> str:
    """Return pieces of one text in their order; an ellipsis stands for what is left out."""
    joined, at = "", 0
    for piece in sorted(pieces, key=lambda each: each.start):
        if text[at : piece.start].strip():
            joined = f"{joined.rstrip()}\n…\n" if joined else "… "
        joined += text[piece.start : piece.end] if at else text[piece.start : piece.end].lstrip()
        at = piece.end
    return joined.rstrip() + (" …" if joined and text[at:].strip() else "")
