"""The five shapes of a result, and how much of one is written: what fits a budget of tokens.

A result says what was cut. Tools' outputs give way first, then what people and models said, then
whole messages far from the one that was asked for, and at last whole results from the end of the
list.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.recall.passages import MessagePiece, pieced
from holdfast.recall.values import MatchTier, ResultLimits, Told, about, cropped, nearest, when

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.session import Session
    from holdfast.tokens import Counter

_PREVIEW = 160
_HOW = {
    MatchTier.WORDS: "words",
    MatchTier.PARTS: "parts of words",
    MatchTier.SOME: "some of the words",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A conversation around a match: how it began, what was found, how it ended."""

    session: Session
    """The session in which the match stands."""
    title: str
    last_active: int
    snippet: str
    tier: MatchTier
    focus: Told
    before: tuple[Told, ...] = ()
    after: tuple[Told, ...] = ()
    opening: tuple[Told, ...] = ()
    closing: tuple[Told, ...] = ()

    @property
    def size(self) -> int:
        """Return how many messages it holds."""
        return 1 + sum(map(len, (self.before, self.after, self.opening, self.closing)))

    def document(self, room: ResultLimits) -> dict[str, object]:
        """Return the excerpt as plain values."""
        around = [
            *nearest(self.before, room.reach, at_end=True),
            self.focus,
            *nearest(self.after, room.reach, at_end=False),
        ]
        found: dict[str, object] = {
            **about(self.session, self.title),
            "last_active": when(self.last_active),
            "match": {
                "message_id": self.focus.id,
                "role": str(self.focus.role),
                "at": when(self.focus.at),
                "snippet": self.snippet,
                "matched": _HOW[self.tier],
            },
        }
        if opening := nearest(self.opening, room.reach, at_end=False):
            found["opening"] = _documents(opening, room)
        found["around"] = _documents(around, room)
        if closing := nearest(self.closing, room.reach, at_end=True):
            found["closing"] = _documents(closing, room)
        return found


@dataclass(frozen=True, slots=True)
class Excerpts:
    """What a query found, best first."""

    query: str
    excerpts: tuple[Excerpt, ...]
    note: str = ""
    next_offset: int | None = None
    """How many results to skip for those that follow; None where there are no more."""

    @property
    def size(self) -> int:
        """Return how many messages it holds."""
        return sum(each.size for each in self.excerpts)

    @property
    def count(self) -> int:
        """Return how many results it holds."""
        return len(self.excerpts)

    def document(self, room: ResultLimits) -> dict[str, object]:
        """Return the result as plain values."""
        shown = self.excerpts[: room.results]
        found: dict[str, object] = {
            "shape": "discovery",
            "query": cropped(self.query, _PREVIEW)[0],
            "results": [each.document(room) for each in shown],
        }
        if self.next_offset is not None:
            left_out = len(self.excerpts) - len(shown)
            found["next_offset"] = self.next_offset - left_out
        return {**found, "note": self.note} if self.note else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A piece of a message that matched."""

    message: Told
    session: Session
    place: tuple[int, int]
    """The number of the message among those of its session, and how many those are."""
    piece: MessagePiece
    tier: MatchTier

    @property
    def order(self) -> tuple[str, int, int]:
        """Return what puts pieces into the order in which they were said."""
        return self.session.id, self.place[0], self.piece.start


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedPassages:
    """The pieces of one conversation that a query found, in the order that was wanted."""

    query: str
    session: Session
    title: str
    quotes: tuple[Quote, ...]
    note: str = ""
    offset: int = 0
    """Pieces before these, which another answer had."""
    by_time: bool = False
    """Whether time decided the order, in which each message then stays."""

    def runs(self, count: int) -> list[list[list[Quote]]]:
        """Return passages made of so many pieces: messages that follow each other, with pieces.

        A passage stands where the first of its pieces does.
        """
        if self.by_time:
            return [[[each]] for each in self.quotes[:count]]
        ordered = sorted(self.quotes[:count], key=lambda each: each.order)
        passages: list[list[list[Quote]]] = []
        for quote in ordered:
            last = passages[-1][-1][-1] if passages else None
            gap = quote.place[0] - last.place[0] if last and last.session == quote.session else 2
            if gap == 0:
                passages[-1][-1].append(quote)
            elif gap == 1:
                passages[-1].append([quote])
            else:
                passages.append([[quote]])
        ranks = {quote.order: rank for rank, quote in enumerate(self.quotes[:count])}
        return sorted(
            passages, key=lambda run: min(ranks[each.order] for own in run for each in own)
        )

    def document(self, count: int) -> dict[str, object]:
        """Return so many pieces as plain values, joined where they stand side by side."""
        found: dict[str, object] = {
            "shape": "inside",
            "query": cropped(self.query, _PREVIEW)[0],
            **about(self.session, self.title),
        }
        if self.quotes:
            found["matched"] = _HOW[min(each.tier for each in self.quotes)]
        found["passages"] = [self._passage(run) for run in self.runs(count)]
        if count < len(self.quotes):
            found["next_offset"] = self.offset + count
        return {**found, "note": self.note} if self.note else found

    def _passage(self, run: Sequence[Sequence[Quote]]) -> dict[str, object]:
        first = run[0][0]
        found: dict[str, object] = {
            "place": f"{first.place[0]} of {first.place[1]}",
            "at": when(first.message.at),
        }
        if first.session.id != self.session.id:
            found["session_id"] = first.session.id
        messages = [
            each[0].message.header()
            | {"text": pieced(each[0].message.text, [one.piece for one in each])}
            for each in run
        ]
        return {**found, "messages": messages}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighborhood:
    """The messages around one."""

    session: Session
    focus: Told
    before: tuple[Told, ...] = ()
    after: tuple[Told, ...] = ()
    is_first: bool = False
    """Whether nothing was said before what is held here."""
    is_last: bool = False
    in_context: int = 0
    """Neighbors that are left out because the current window shows them."""
    count: int = 1

    @property
    def size(self) -> int:
        """Return how many messages it holds."""
        return 1 + len(self.before) + len(self.after)

    def document(self, room: ResultLimits) -> dict[str, object]:
        """Return the result as plain values, with the ids to go on from."""
        before = nearest(self.before, room.reach, at_end=True)
        after = nearest(self.after, room.reach, at_end=False)
        shown = [*before, self.focus, *after]
        at_start = self.is_first and len(before) == len(self.before)
        at_end = self.is_last and len(after) == len(self.after)
        found: dict[str, object] = {
            "shape": "scroll",
            **about(self.session),
            "anchor": self.focus.id,
            "at": when(self.focus.at),
            "messages": _documents(shown, room),
            "earlier": None if at_start else shown[0].id,
            "later": None if at_end else shown[-1].id,
        }
        return {**found, "in_context": self.in_context} if self.in_context else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """A conversation: all of it, or how it began and ended."""

    session: Session
    title: str
    first: tuple[Told, ...]
    last: tuple[Told, ...]
    """The end, when there is a gap before it."""
    total: int
    """How many messages the conversation has."""
    count: int = 1

    @property
    def size(self) -> int:
        """Return how many messages it holds."""
        return len(self.first) + len(self.last)

    def document(self, room: ResultLimits) -> dict[str, object]:
        """Return the result as plain values, with the gap and the ids at its sides."""
        first = nearest(self.first, room.reach, at_end=False, least=1)
        last = nearest(self.last, room.reach, at_end=True, least=1)
        found: dict[str, object] = {
            "shape": "read",
            **about(self.session, self.title),
            "messages_in_all": self.total,
            "messages": _documents(first, room),
        }
        missing = self.total - len(first) - len(last)
        if missing > 0 and first:
            found["gap"] = {
                "messages": missing,
                "after_id": first[-1].id,
                "before_id": last[0].id if last else None,
                "how": "session_search with around_message_id set to one of these ids goes on",
            }
        if last:
            found["ending"] = _documents(last, room)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of the recent conversations."""

    session: Session
    title: str
    preview: str
    messages: int
    is_current: bool = False

    def document(self) -> dict[str, object]:
        """Return the line as plain values."""
        found = about(self.session, self.title)
        if self.preview:
            found["preview"] = cropped(self.preview, _PREVIEW)[0]
        found["messages"] = self.messages
        return {**found, "current": True} if self.is_current else found


@dataclass(frozen=True, slots=True)
class ConversationList:
    """The conversations that were touched last."""

    lines: tuple[Listed, ...]
    size: int = 0
    next_offset: int | None = None

    @property
    def count(self) -> int:
        """Return how many conversations it holds."""
        return len(self.lines)

    def document(self, room: ResultLimits) -> dict[str, object]:
        """Return the result as plain values."""
        shown = [line.document() for line in self.lines[: room.results]]
        found: dict[str, object] = {"shape": "browse", "conversations": shown}
        if self.next_offset is not None:
            found["next_offset"] = self.next_offset - (len(self.lines) - len(shown))
        return found if self.lines else {**found, "note": "There are no conversations yet."}


@dataclass(frozen=True, slots=True)
class OneMessage:
    """One message, as much of it as fits."""

    session: Session
    message: Told
    offset: int = 0

    def document(self, characters: int) -> dict[str, object]:
        """Return so many characters of the message as plain values, and where to go on."""
        text = self.message.text
        end = min(self.offset + characters, len(text))
        return {
            "shape": "scroll",
            **about(self.session),
            "anchor": self.message.id,
            "at": when(self.message.at),
            "messages": [{**self.message.header(), "text": text[self.offset : end]}],
            "offset": self.offset,
            "characters_in_all": len(text),
            "next_offset": end if end < len(text) else None,
        }


Result: TypeAlias = (
    Excerpts | QuotedPassages | Neighborhood | Beginning | ConversationList | OneMessage
)


def _documents(messages: Sequence[Told], room: ResultLimits) -> list[dict[str, object]]:
    return [each.document(room) for each in messages]


BUDGET = 4_000
"""Tokens that a result may take unless the caller says otherwise."""
_PASSAGES = 2_500
"""Tokens of passages, unless the caller says otherwise: more seldom has more of the answer."""

_LADDER = (
    *(ResultLimits(output, 8_000) for output in (4_000, 2_000, 1_200, 800, 500, 300, 200, 140)),
    *(
        ResultLimits(120, words)
        for words in (4_000, 2_500, 1_600, 1_100, 800, 600, 450, 330, 240, 180)
    ),
    *(ResultLimits(100, 140, reach) for reach in (1.0, 0.8, 0.6, 0.4, 0.2)),
    ResultLimits(100, 120, 0.0),
    ResultLimits(60, 60, 0.0),
    *(ResultLimits(60, 60, 0.0, results) for results in (15, 10, 7, 5, 4, 3, 2, 1)),
    ResultLimits(20, 20, 0.0, 1),
)
_MORE = "around_message_id shows a message with its neighbors, with window=0 one message in full"


def fitted(result: Result, budget: int | None, counter: Counter) -> dict[str, object]:
    """Return a result as plain values that take at most so many tokens when written as JSON.

    A budget too small for even the barest form gets the barest form.
    """
    if budget is None:
        budget = _PASSAGES if isinstance(result, QuotedPassages) else BUDGET
    if isinstance(result, OneMessage):
        most = max(len(result.message.text) - result.offset, 0)
        return _as_much_as_fits(result.document, most, budget, counter)
    if isinstance(result, QuotedPassages):
        return _as_much_as_fits(result.document, len(result.quotes), budget, counter)
    found: dict[str, object] = {}
    for room in _LADDER:
        document = result.document(room)
        shown = list(_messages(document))
        shortened = [
            cast("int", each["characters_cut"]) for each in shown if "characters_cut" in each
        ]
        cuts = {
            "results_left_out": result.count - min(result.count, room.results),
            "messages_left_out": result.size - len(shown),
            "messages_shortened": len(shortened),
            "characters_cut": sum(shortened),
        }
        told: dict[str, object] = {name: count for name, count in cuts.items() if count}
        found = {**document, "cut": {**told, "how": _MORE}} if told else document
        if counter.count(written(found)) <= budget:
            break
    return found


def written(document: Mapping[str, object]) -> str:
    """Return a result as the text that a model reads."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _messages(value: object) -> list[Mapping[str, object]]:
    """Return every message in a document."""
    found: list[Mapping[str, object]] = []
    if isinstance(value, dict):
        each = cast("dict[str, object]", value)
        if "text" in each:
            return [each]
        for inner in each.values():
            found += _messages(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            found += _messages(inner)
    return found


def _as_much_as_fits(
    document: Callable[[int], dict[str, object]], most: int, budget: int, counter: Counter
) -> dict[str, object]:
    """Return a document with as many characters or pieces as fit."""

    def fits(size: int) -> bool:
        return counter.count(written(document(size))) <= budget

    if fits(most):
        return document(most)
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    # A page must get on, whatever the budget.
    return document(max(low, 1))
