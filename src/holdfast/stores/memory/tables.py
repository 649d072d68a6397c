"""The tables of a store in memory, transactions on them, and the words of its messages.

A writer works on tables of its own that lie over the others. Nobody sees them until everything is
written, and if anything fails they are dropped.

The words are those of the index on SQLite: folded, without accents, English ones stemmed, with
runs of ideographs in pairs. Each message is also kept as its words between blanks, in which words
that follow each other are found as a text in a text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from heapq import nlargest
from itertools import count
from typing import TYPE_CHECKING, assert_never, cast

from msgspec import structs

from holdfast.errors import UnknownSession
from holdfast.recall import All, Either, Filters, Node, Term, Without, fold
from holdfast.recall.folding import plain, spellings, stem
from holdfast.recall.ladder import ROLES
from holdfast.recall.ranking import Candidate, stands
from holdfast.recall.term_index import shortest
from holdfast.session import Entry, Head, Kind, SessionState, is_among, searchable
from holdfast.session.sessions import check_live, unknown_session

if TYPE_CHECKING:
    from holdfast.ports import Lease
    from holdfast.session import CompactionRecord, Entry, Session, Span, View
    from holdfast.transcript import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A session with everything that belongs to it but its messages."""

    session: Session
    number: int
    """Counts sessions in the order in which they were created."""
    view: int | None = None
    tip: int | None = None
    pins: frozenset[int] = frozenset()
    views: tuple[View, ...] = ()
    compactions: tuple[CompactionRecord, ...] = ()
    is_purged: bool = False
    """Whether it was deleted, and only what others show of it is left."""

    @property
    def head(self) -> Head:
        """Return where the session stands."""
        return Head(self.session.generation, self.view, self.session.size)

    @property
    def state(self) -> SessionState:
        """Return everything about the session but its messages."""
        return SessionState(
            session=self.copied(),
            head=self.head,
            tip=self.tip,
            pins=self.pins,
            compactions=len(self.compactions),
        )

    def copied(self) -> Session:
        """Return the session with metadata that a caller may change without harm."""
        session = self.session
        if not session.metadata:
            return session
        return replace(session, metadata=deepcopy(dict(session.metadata)))

    def shown_by(self, view: int | None) -> View | None:
        """Return one of the session's views; None is the plain log."""
        if view is None:
            return None
        found = next((each for each in self.views if each.id == view), None)
        if found is None:
            raise UnknownSession(f"the session has no view {view}")
        return found


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """An entry of the log without its pin, and the whole message where it was shortened."""

    entry: Entry
    whole: Message | None = None


def _empty() -> MutableMapping[str, str | None]:
    return {}


@dataclass(slots=True)
class Tables:
    """Everything in a store; None stands for what was deleted in a transaction."""

    sessions: MutableMapping[str, SessionRecord | None] = field(
        default_factory=dict[str, SessionRecord | None]
    )
    families: MutableMapping[str, tuple[str, ...] | None] = field(
        default_factory=dict[str, tuple[str, ...] | None]
    )
    """The ids of sessions by the root that they share."""
    log: MutableMapping[tuple[str, int], MessageRecord | None] = field(
        default_factory=dict[tuple[str, int], MessageRecord | None]
    )
    """Messages by session and position."""
    messages: MutableMapping[int, MessageRecord | None] = field(
        default_factory=dict[int, MessageRecord | None]
    )
    keys: MutableMapping[str, str | None] = field(default_factory=_empty)
    """The ids of sessions by what their callers call them."""
    values: MutableMapping[str, str | None] = field(default_factory=_empty)
    leases: MutableMapping[str, Lease | None] = field(default_factory=dict[str, "Lease | None"])
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    """Numbers sessions, views and passes; what is rolled back leaves gaps."""
    ids: Iterator[int] = field(default_factory=lambda: count(1))
    """Numbers messages."""

    def begun(self) -> Tables:
        """Return tables to write to, which lie over these."""
        over = {name: ChainMap({}, getattr(self, name)) for name in _TABLES}
        return Tables(**over, numbers=self.numbers, ids=self.ids)

    def commit(self, written: Tables) -> None:
        """Take over what a transaction wrote."""
        for name in _TABLES:
            changes = cast("ChainMap[object, object]", getattr(written, name)).maps[0]
            table = cast("MutableMapping[object, object]", getattr(self, name))
            for key, value in changes.items():
                if value is None:
                    table.pop(key, None)
                else:
                    table[key] = value

    def fresh(self) -> list[Entry]:
        """Return what was said in a transaction, in order."""
        written = cast("ChainMap[int, MessageRecord | None]", self.messages).maps[0]
        entries = [each.entry for each in written.values() if each is not None]
        return [each for each in entries if each.kind is Kind.SAID]

    def found(self, id_: str) -> SessionRecord:
        """Return a session; one that is not there raises `UnknownSession`."""
        stored = self.sessions.get(id_)
        if stored is None or stored.is_purged:
            raise unknown_session(id_)
        return stored

    def live(self, id_: str) -> SessionRecord:
        """Return a session to which something may be added."""
        stored = self.found(id_)
        check_live(stored.session, lambda: self.lineage(id_))
        return stored

    def lineage(self, id_: str) -> tuple[Session, ...]:
        """Return every session with the same root: that one, then the oldest first."""
        root = self.found(id_).session.root
        members = [self.sessions.get(each) for each in self.families.get(root) or ()]
        known = [each for each in members if each is not None and not each.is_purged]
        known.sort(key=lambda each: (each.session.id != root, each.session.started, each.number))
        return tuple(each.copied() for each in known)

    def all_sessions(self) -> Iterator[SessionRecord]:
        """Return every session, deleted ones of which something is left included."""
        return (each for each in self.sessions.values() if each is not None)

    def message(self, id_: int) -> MessageRecord:
        """Return a message; one that is not there raises `UnknownSession`."""
        stored = self.messages.get(id_)
        if stored is None:
            raise UnknownSession(f"there is no message {id_}")
        return stored

    def whole(self, id_: int) -> Message:
        """Return a message as it was said; a stand-in leads to what it stands for."""
        stored = self.message(id_)
        while stored.whole is None and stored.entry.stands_for is not None:
            stored = self.message(stored.entry.stands_for)
        return stored.whole or stored.entry.message

    def text(self, id_: int) -> str:
        """Return the words of a message that a search may find."""
        return searchable(self.whole(id_))

    def between(self, id_: str, positions: Iterable[int]) -> Iterator[Entry]:
        """Return the entries of a log at some positions, as far as they are there."""
        for position in positions:
            stored = self.log.get((id_, position))
            if stored is not None:
                yield stored.entry

    def said(self, id_: str, positions: Iterable[int]) -> Iterator[Entry]:
        """Return what was said at some positions of a log."""
        return (each for each in self.between(id_, positions) if each.kind is Kind.SAID)

    def shown(self, stored: SessionRecord, view: int | None) -> tuple[Entry, ...]:
        """Return what a view of a session shows now."""
        through = stored.shown_by(view)
        id_, upto = stored.session.id, through.upto if through else 0
        entries: list[Entry] = []
        for span in through.spans if through else ():
            entries += self.between(span.session, range(span.first, span.last + 1))
        entries += self.said(id_, range(upto + 1, stored.session.size + 1))
        return self.pinned(stored, entries)

    def pinned(self, stored: SessionRecord, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """Return entries with the pins of a session."""
        return tuple(
            structs.replace(each, message=structs.replace(each.message, pinned=True))
            if each.id in stored.pins
            else each
            for each in entries
        )


_TABLES = tuple(each.name for each in fields(Tables) if each.name not in ("numbers", "ids"))


def copied_json(values: Mapping[str, object]) -> dict[str, object]:
    """Return values as a store that writes JSON would return them."""
    return json.loads(json.dumps(values, default=str)) if values else {}


_TOKEN = re.compile(r"[^\W_]+")
_MOST_BEGINNING = 2_000
_stem = lru_cache(maxsize=1 << 15)(stem)


class WordLists:
    """The words of every message that was said and was not deleted."""

    def __init__(self) -> None:
        """Begin without words."""
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._said: dict[int, str] = {}
        self._spellings: set[str] = set()
        self._listed: list[str] = []
        """The words in order, as far as they were asked for."""

    @property
    def newest(self) -> int:
        """Return the id of the newest message, about as many as there are."""
        return next(reversed(self._said), 0)

    def add(self, id_: int, text: str) -> None:
        """Take in the words of a message, newer than all others."""
        words = [_stem(word) for word in _TOKEN.findall(fold(text).lower())]
        self._said[id_] = f" {' '.join(words)} "
        for word in dict.fromkeys(words):
            self._postings[word].append(id_)
        self._spellings |= spellings(text)

    def remove(self, ids: Iterable[int]) -> None:
        """Let no search find messages any more; their words stay in lists that find nothing."""
        for id_ in ids:
            self._said.pop(id_, None)

    def matching(self, pattern: Node) -> AbstractSet[int]:
        """Return the ids of all messages that match a pattern."""
        match pattern:
            case Term():
                *before, last = (_stem(plain(word)) for word in pattern.words)
                ends = self._beginning(last) if pattern.is_prefix else [last]
                found = {id_ for word in ends for id_ in self._postings.get(word, ())}
                for word in before:
                    found &= set(self._postings.get(word, ()))
                said = self._said
                if not before:
                    return {id_ for id_ in found if id_ in said}
                wanted = f" {' '.join([*before, last])}{'' if pattern.is_prefix else ' '}"
                return {id_ for id_ in found if wanted in said.get(id_, "")}
            case All(parts):
                first, *others = (frozenset(self.matching(each)) for each in parts)
                return first.intersection(*others)
            case Either(parts):
                return frozenset[int]().union(*map(self.matching, parts))
            case Without(wanted, unwanted):
                return self.matching(wanted) - self.matching(unwanted)
            case _:
                assert_never(pattern)

    def spellings_with(self, part: str) -> list[str]:
        """Return the shortest words as they were spelled that hold a part."""
        return shortest(word for word in self._spellings if part in word)

    def spellings_from(self, prefix: str) -> list[str]:
        """Return words as they were spelled that begin with a prefix."""
        found = sorted(word for word in self._spellings if word.startswith(prefix))
        return found[:_MOST_BEGINNING]

    def _beginning(self, prefix: str) -> list[str]:
        if len(self._listed) != len(self._postings):
            self._listed = sorted(self._postings)
        first = bisect_left(self._listed, prefix)
        last = bisect_left(self._listed, f"{prefix}\U0010ffff")
        return self._listed[first:last]


@dataclass(frozen=True, slots=True)
class FilteredWords:
    """The words of a store within the filters of one search."""

    tables: Tables
    words: WordLists
    filters: Filters
    spans: Sequence[Span]
    """What windows of living sessions show of sessions in the trash."""
    is_strict: bool = False
    """Whether every id is held against filters that leave out sources alone."""

    def total(self) -> int:
        """Return about how many messages there are."""
        return self.words.newest

    def newest(self, pattern: Node, count: int) -> list[Candidate]:
        """Return the newest matches that pass the filters, newest first."""
        return self.messages(sorted(self.words.matching(pattern), reverse=True))[:count]

    def ids(self, pattern: Node, count: int) -> list[int]:
        """Return the ids of the newest matches, newest first."""
        found = self.words.matching(pattern)
        if (
            self.is_strict
            or replace(self.filters, include_trashed=False, exclude_sources=()) != Filters()
        ):
            found = {each.id for each in self.messages(sorted(found))}
        return nlargest(count, found)

    def messages(self, ids: Sequence[int]) -> list[Candidate]:
        """Return the messages with these ids that pass the filters."""
        found = (self.tables.messages.get(id_) for id_ in ids)
        return [
            candidate
            for each in found
            if each is not None and (candidate := self._passing(each.entry)) is not None
        ]

    def standing_at(self, places: Sequence[int]) -> list[Candidate]:
        """Return the messages at these places that pass the filters."""
        names = {each.number: each.session.id for each in self.tables.all_sessions()}
        found = [
            self.tables.log.get((names.get(number, ""), position))
            for number, position in map(stands, places)
        ]
        return self.messages([each.entry.id for each in found if each is not None])

    def narrowed(self) -> FilteredWords | None:
        """Return the words with every id held against the filters, if they were not before."""
        if self.is_strict or not self.filters.exclude_sources:
            return None
        return replace(self, is_strict=True)

    def words_holding(self, parts: Sequence[str]) -> dict[str, list[str]]:
        """Return for each part of a word the stored words that hold it, the shortest first."""
        return {part: self.words.spellings_with(part) for part in parts}

    def words_beginning(self, prefix: str) -> list[str]:
        """Return stored words that begin with a prefix."""
        return self.words.spellings_from(prefix)

    def texts(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the searchable text of messages by id."""
        return {id_: self.tables.text(id_) for id_ in ids}

    def names(self, keys: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Return the ids of sessions and of their roots by the sessions' numbers."""
        wanted = set(keys)
        return {
            each.number: (each.session.id, each.session.root)
            for each in self.tables.all_sessions()
            if each.number in wanted
        }

    def _passing(self, entry: Entry) -> Candidate | None:
        stored = self.tables.sessions.get(entry.session)
        if stored is None or stored.is_purged or entry.kind is not Kind.SAID:
            return None
        if stored.session.trashed is not None and not self.filters.include_trashed:
            here = (each for each in self.spans if each.session == entry.session)
            if not any(each.first <= entry.position <= each.last for each in here):
                return None
        if not self._admits(stored, entry):
            return None
        role = ROLES.index(entry.message.role)
        return Candidate(entry.id, stored.number, entry.position, role, entry.at, entry.tokens)

    def _admits(self, stored: SessionRecord, entry: Entry) -> bool:
        session, filters = stored.session, self.filters
        return (
            (not filters.sessions or session.id in filters.sessions)
            and (not filters.models or session.model in filters.models)
            and (not filters.lineages or session.root in filters.lineages)
            and session.root not in filters.exclude_lineages
            and (not filters.sources or is_among(session.source, filters.sources))
            and not is_among(session.source, filters.exclude_sources)
            and (filters.since is None or session.touched >= filters.since)
            and (filters.until is None or session.started <= filters.until)
            and (not filters.roles or entry.message.role in filters.roles)
            and (filters.since is None or entry.at >= filters.since)
            and (filters.until is None or entry.at <= filters.until)
        )


def shown_of_trash(tables: Tables) -> list[Span]:
    """Return what the windows of living sessions show of sessions in the trash."""
    known = [each for each in tables.all_sessions() if not each.is_purged]
    trashed = {each.session.id for each in known if each.session.trashed is not None}
    if not trashed:
        return []
    return [
        span
        for each in known
        if each.session.trashed is None and (view := each.shown_by(each.view)) is not None
        for span in view.spans
        if span.session in trashed
    ]
