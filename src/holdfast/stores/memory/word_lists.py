"""The words of a store in memory: which messages have them, in lists and sets of Python.

The words are those of the index on SQLite: folded, without accents, English ones stemmed, with
runs of ideographs in pairs. Each message is also kept as its words between blanks, in which words
that follow each other are found as a text in a text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING, assert_never

from holdfast.recall import All, Either, Filters, Term, Without, fold
from holdfast.recall.folding import plain, spellings, stem
from holdfast.recall.ladder import ROLES
from holdfast.recall.ranking import Candidate, stands
from holdfast.recall.term_index import shortest
from holdfast.session import Kind, is_among

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from holdfast.recall import Node
    from holdfast.session import Entry, Span
    from holdfast.stores.memory.tables import SessionRecord, Tables

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
