"""Carries out the five shapes of a search on a store: a module for each would repeat the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.conversation.finding import (
    Finder,
    Match,
    SessionChain,
    TrashedView,
    chain_from,
    source_of,
    trashed_view_of,
)
from holdfast.conversation.window import NOWHERE
from holdfast.ports import Listing
from holdfast.recall import snippet
from holdfast.recall.passages import best_pieces, ends_meant
from holdfast.recall.shapes import (
    Beginning,
    ConversationList,
    Excerpt,
    Excerpts,
    Listed,
    Neighborhood,
    OneMessage,
    Quote,
    QuotedPassages,
)
from holdfast.recall.values import CURRENT, MatchTier, Told, Wrong, told
from holdfast.recall.wording import is_said_by, words_of
from holdfast.session import Kind, searchable
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.conversation.window import Presence
    from holdfast.ports import Store
    from holdfast.recall import Query
    from holdfast.recall.passages import MessagePiece, Source
    from holdfast.recall.values import Browse, Discovery, Inside, Scroll
    from holdfast.session import Entry, Session

_AROUND = 5
"""Messages on each side of a match."""
_ENDS = 3
_FIRST = 20
_LAST = 10
_SNIPPET = 240
_LISTED = 50
_LOOKED_AT = 40
"""Messages at the ends of a conversation among which the user's first and last are looked for."""


class SearchRunner:
    """Runs a search request on a store, as seen from one window."""

    def __init__(self, store: Store, now: int, current: Presence, *, shows_all: bool) -> None:
        """Look at a store.

        Args:
            current: Which messages the window of the asking session shows.
            shows_all: Whether a result may repeat them.
        """
        self._store = store
        self._now = now
        self._current = current
        self._hidden = NOWHERE if shows_all else current
        self._families: dict[str, tuple[Session, ...]] = {}
        """Whole lineages by each of their sessions: many matches may be of one."""

    def discovery(self, wanted: Discovery) -> Excerpts | Wrong:
        """Return the conversations in which something was said."""
        finder = Finder(self._store, wanted, self._now, self._hidden)
        if finder.query.problem:
            return Wrong(finder.query.problem)
        found = finder.conversations()
        following = wanted.offset + wanted.limit if len(found) > wanted.limit else None
        excerpts = tuple(self._excerpt(each, finder.query) for each in found[: wanted.limit])
        note = "" if excerpts else _nothing(wanted, is_in_context=finder.is_in_context)
        return Excerpts(wanted.query, excerpts, note, following)

    def inside(self, wanted: Inside) -> QuotedPassages | Wrong:
        """Return the passages of one conversation that answer a query best."""
        finder = Finder(self._store, wanted, self._now, self._hidden)
        if finder.query.problem:
            return Wrong(finder.query.problem)
        id_ = self._current.session if wanted.session_id == CURRENT else wanted.session_id
        if not id_:
            return Wrong("no conversation is current here; give the session_id of one")
        session = self._store.session(id_)
        if session.trashed is not None:
            return _trashed(session)
        chain = chain_from(self._store, self._lineage(id_), id_)
        found = {each.entry.id: each for each in finder.messages(session.root)}
        ends = self._ends(chain, wanted, finder.query)
        said = [*found.values(), *(each for each in ends if each.entry.id not in found)]
        meant = {each.entry.id for each in ends}
        sources = [source_of(each, is_end=each.entry.id in meant) for each in said]
        pieces = self._ordered(best_pieces(sources, finder.query), said, wanted)
        quotes = self._quotes(pieces[wanted.offset :], said, sources)
        note = "" if pieces else _nothing(wanted, is_in_context=finder.is_in_context)
        return QuotedPassages(
            query=wanted.query,
            session=session,
            title=chain.title,
            quotes=quotes,
            note=note,
            offset=wanted.offset,
            by_time=wanted.sort != "relevance",
        )

    def _ends(self, chain: SessionChain, wanted: Inside, query: Query) -> list[Match]:
        """Return what the user said first or last, and the last answer, where that is asked for."""
        scope, (opening, closing) = wanted.scope, ends_meant(query)
        if scope.since is not None or scope.until is not None or wanted.sort != "relevance":
            return []
        last = chain.last(_LOOKED_AT)[::-1] if closing else ()
        chosen = [
            next(filter(_is_typed, chain.first(_LOOKED_AT) if opening else ()), None),
            next(filter(_is_typed, last), None),
            next(
                (
                    each
                    for each in last
                    if each.message.role is Role.ASSISTANT and each.message.text.strip()
                ),
                None,
            ),
        ]
        return [
            Match(MatchTier.SOME, each, self._store.whole(each.id))
            for each in chosen
            if each and not self._is_known(each) and is_said_by(each.message, scope.roles)
        ]

    def _ordered(
        self, pieces: Sequence[MessagePiece], said: Sequence[Match], wanted: Inside
    ) -> list[MessagePiece]:
        """Put pieces into the order that is wanted, of as many messages as are wanted.

        What was compacted away comes before what the current window shows. Where time decides,
        each message has its best piece.
        """
        best: dict[int, list[MessagePiece]] = {}
        for piece in pieces:
            best.setdefault(piece.source, []).append(piece)
        if wanted.sort != "relevance":
            first = sorted(best, key=lambda n: said[n].entry.at, reverse=wanted.sort == "newest")
            return [best[number][0] for number in first][: wanted.offset + wanted.limit]
        # Between equal keys the order of the scores stays.
        shown = {
            n for n in best if self._current.shows(said[n].entry.session, said[n].entry.position)
        }
        ranked = sorted(pieces, key=lambda piece: piece.source in shown)
        kept = set(list(dict.fromkeys(piece.source for piece in ranked))[: wanted.limit])
        return [piece for piece in ranked if piece.source in kept]

    def _quotes(
        self, pieces: Sequence[MessagePiece], said: Sequence[Match], sources: Sequence[Source]
    ) -> tuple[Quote, ...]:
        homes: dict[str, tuple[Session, int]] = {}
        quotes: list[Quote] = []
        for piece in pieces:
            found, entry = said[piece.source], said[piece.source].entry
            if entry.session not in homes:
                session = self._store.session(entry.session)
                home = session if session.trashed is None else self._chain(entry, session.id).leaf
                homes[entry.session] = home, self._store.count_said(session.id, session.size)
            home, total = homes[entry.session]
            number = self._store.count_said(entry.session, entry.position)
            quotes.append(
                Quote(
                    message=replace(told(entry, found.whole), text=sources[piece.source].text),
                    session=home,
                    place=(number, total),
                    piece=piece,
                    tier=found.tier,
                )
            )
        return tuple(quotes)

    def scroll(self, wanted: Scroll) -> Neighborhood | OneMessage | Wrong:
        """Return the messages around one, wherever in its lineage it lives."""
        entry = self._said(wanted.message_id)
        if entry is None:
            return Wrong(
                f"message {wanted.message_id} was written by a compaction and stands for many; "
                "search for what it is about with query"
            )
        session = self._store.session(entry.session)
        if session.trashed is not None and self._trashed_view(entry) is None:
            return _trashed(session)
        if wanted.session_id and self._store.session(wanted.session_id).root != session.root:
            return Wrong(
                f"message {entry.id} is not of session {wanted.session_id} but of "
                f"{session.id}; call again with that session_id, or with none"
            )
        if self._is_known(entry) and not entry.shortened:
            return Wrong(
                f"message {entry.id} stands in your context already; include_current=true shows "
                "it all the same"
            )
        focus = told(entry, self._store.whole(entry.id), is_focus=True)
        chain = self._chain(entry, wanted.session_id or entry.session)
        if wanted.window == 0:
            return OneMessage(_home(chain, session), focus, min(wanted.offset, len(focus.text)))
        # One more on each side tells whether there is anything to go on to.
        before, after = chain.around(entry, wanted.window + 1)
        near = (*before[-wanted.window :], *after[: wanted.window])
        return Neighborhood(
            session=_home(chain, self._store.session(entry.session)),
            focus=focus,
            before=self._unknown(before[-wanted.window :]),
            after=self._unknown(after[: wanted.window]),
            is_first=len(before) <= wanted.window or self._is_known(before[0]),
            is_last=len(after) <= wanted.window or self._is_known(after[-1]),
            in_context=sum(map(self._is_known, near)),
        )

    def read(self, session_id: str) -> Beginning | Wrong:
        """Return a conversation: all of it, or its beginning and its end."""
        session = self._store.session(session_id)
        if session.trashed is not None:
            return _trashed(session)
        chain = chain_from(self._store, self._lineage(session.id), session.id)
        first = chain.first(_FIRST + _LAST + 1)
        last: tuple[Entry, ...] = ()
        if len(first) > _FIRST + _LAST:
            first, last = first[:_FIRST], chain.last(_LAST)
        total = chain.size() if last else len(first)
        return Beginning(
            session=chain.leaf,
            title=chain.title,
            first=_told(first),
            last=_told(last),
            total=total,
        )

    def browse(self, wanted: Browse) -> ConversationList:
        """Return the conversations that were touched last, one for each lineage."""
        seen: dict[str, Session] = {}
        for session in self._recent(wanted):
            seen.setdefault(session.root, session)
            if len(seen) > wanted.offset + wanted.limit:
                break
        end = wanted.offset + wanted.limit
        shown = list(seen.values())[wanted.offset : end]
        following = end if len(seen) > end else None
        return ConversationList(tuple(map(self._listed, shown)), next_offset=following)

    def _recent(self, wanted: Browse) -> Iterator[Session]:
        scope, offset = wanted.scope, 0
        while True:
            listing = Listing(
                sources=scope.sources,
                exclude_sources=scope.hidden,
                since=scope.since,
                until=scope.until,
                limit=_LISTED,
                offset=offset,
            )
            found = self._store.sessions(listing)
            yield from (session for session in found if not scope.hides(session))
            offset += len(found)
            if len(found) < _LISTED:
                return

    def _listed(self, session: Session) -> Listed:
        chain = chain_from(self._store, self._lineage(session.id), session.id)
        spoken = (entry.message for entry in chain.first(_ENDS))
        first = next((each for each in spoken if each.role is Role.USER), None)
        return Listed(
            session=session,
            title=chain.title,
            preview=" ".join(words_of(first).split()) if first else "",
            messages=chain.size(),
            is_current=session.root == self._current.root,
        )

    def _excerpt(self, found: Match, query: Query) -> Excerpt:
        entry = found.entry
        chain = self._chain(entry, entry.session)
        before, after = chain.around(entry, _AROUND)
        near = {each.id for each in (*before, entry, *after)}
        opening = _others(chain.first(_ENDS), near)
        near |= {each.id for each in opening}
        closing = _others(chain.last(_ENDS), near)
        return Excerpt(
            session=_home(chain, self._store.session(entry.session)),
            title=chain.title,
            last_active=chain.leaf.touched,
            snippet=snippet(searchable(found.whole), query, width=_SNIPPET),
            tier=found.tier,
            focus=told(entry, found.whole, is_focus=True),
            before=self._unknown(before),
            after=self._unknown(after),
            opening=self._unknown(opening),
            closing=self._unknown(closing),
        )

    def _chain(self, entry: Entry, id_: str) -> SessionChain | TrashedView:
        """Return the conversation that holds an entry, seen from a session if that one does.

        What was said in a session that is in the trash is seen from one that lives and shows it.
        """
        lineage = self._lineage(entry.session)
        home = next(each for each in lineage if each.id == entry.session)
        if home.trashed is not None and (shown := self._trashed_view(entry)):
            return shown
        for each in dict.fromkeys((id_, entry.session)):
            chain = chain_from(self._store, lineage, each)
            if chain.holds(entry):
                return chain
        # It was said after everything that went on left its session.
        return chain_from(
            self._store, [s for s in lineage if s.parent != entry.session], entry.session
        )

    def _trashed_view(self, entry: Entry) -> TrashedView | None:
        return trashed_view_of(self._store, self._lineage(entry.session), entry)

    def _lineage(self, id_: str) -> tuple[Session, ...]:
        if id_ not in self._families:
            family = self._store.lineage(id_)
            self._families.update((each.id, family) for each in family)
        return self._families[id_]

    def _said(self, message_id: int) -> Entry | None:
        """Return what was said; a stand-in leads to what it stands for."""
        entry = self._store.entry(message_id)
        while entry.kind is Kind.DERIVED:
            if entry.stands_for is None:
                return None
            entry = self._store.entry(entry.stands_for)
        return entry

    def _is_known(self, entry: Entry) -> bool:
        return self._hidden.shows(entry.session, entry.position)

    def _unknown(self, entries: Iterable[Entry]) -> tuple[Told, ...]:
        return _told(entry for entry in entries if not self._is_known(entry))


def _home(chain: SessionChain | TrashedView, session: Session) -> Session:
    """Return the session to name for a message of one: not one that is in the trash."""
    return chain.leaf if isinstance(chain, TrashedView) else session


def _told(entries: Iterable[Entry]) -> tuple[Told, ...]:
    return tuple(told(entry) for entry in entries)


def _is_typed(entry: Entry) -> bool:
    return is_said_by(entry.message, (Role.USER,))


def _others(entries: Iterable[Entry], known: set[int]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.id not in known)


def _trashed(session: Session) -> Wrong:
    return Wrong(
        f"session {session.id} is in the trash; `holdfast sessions restore {session.id}` brings "
        "it back"
    )


def _nothing(wanted: Discovery | Inside, *, is_in_context: bool) -> str:
    if is_in_context:
        return "All that matches stands in your context already; include_current=true repeats it."
    scope = wanted.scope
    narrowed = scope.roles or scope.sources or scope.since is not None or scope.until is not None
    hint = "without role, source, since and until" if narrowed else "with fewer or other words"
    return f"Nothing was found. Try again {hint}."
