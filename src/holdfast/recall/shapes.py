"""The five shapes of a result, as values that can be written in less and less room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.recall.asked import about, cropped, nearest, when
from holdfast.recall.passages import pieced
from holdfast.recall.values import MatchTier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.recall.asked import ResultLimits, Told
    from holdfast.recall.passages import MessagePiece
    from holdfast.session import Session

__all__ = [
    "Beginning",
    "ConversationList",
    "Excerpt",
    "Excerpts",
    "Listed",
    "Neighborhood",
    "OneMessage",
    "Quote",
    "QuotedPassages",
    "Result",
]

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
