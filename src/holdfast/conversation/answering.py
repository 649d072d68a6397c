"""The four shapes of a search, read from a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.conversation.finding import Finder
from holdfast.conversation.presence import NOWHERE
from holdfast.conversation.threads import Shown, Thread, shown_of, thread_of
from holdfast.ports import Listing
from holdfast.recall import snippet
from holdfast.recall.asked import Wrong
from holdfast.recall.shapes import (
    Beginning,
    ConversationList,
    Excerpt,
    Excerpts,
    Listed,
    Neighborhood,
    OneMessage,
)
from holdfast.recall.told import Told, told
from holdfast.recall.wording import words_of
from holdfast.session import Kind, searchable
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.conversation.finding import Match
    from holdfast.conversation.presence import Presence
    from holdfast.ports import Store
    from holdfast.recall import Query
    from holdfast.recall.asked import Browse, Discovery, Scroll
    from holdfast.session import Entry, Session

__all__ = ["Answering"]

_AROUND = 5
_AROUND_WITHIN = 1
"""Messages on each side of a match, among all conversations and within one."""
_ENDS = 3
_FIRST = 20
_LAST = 10
_SNIPPET = 240
_LISTED = 50


class Answering:
    """Answers questions about one store at one moment."""

    def __init__(self, store: Store, now: int, current: Presence, *, shows_all: bool) -> None:
        """Look at a store.

        Args:
            store: Where the sessions are.
            now: The time.
            current: What the window of the asking session shows.
            shows_all: Whether that may be repeated.
        """
        self._store = store
        self._now = now
        self._current = current
        self._hidden = NOWHERE if shows_all else current
        self._families: dict[str, tuple[Session, ...]] = {}
        """Whole lineages by each of their sessions: many matches may be of one."""

    def discovery(self, wanted: Discovery) -> Excerpts | Wrong:
        """Return the conversations in which something was said, or places in one of them."""
        finder = Finder(self._store, wanted, self._now, self._hidden)
        if finder.query.problem:
            return Wrong(finder.query.problem)
        if wanted.session_id:
            session = self._store.session(wanted.session_id)
            found = finder.places(session.root)
        else:
            found = finder.conversations()
        excerpts = tuple(
            self._excerpt(each, finder.query, is_within=bool(wanted.session_id)) for each in found
        )
        note = "" if excerpts else _nothing(wanted, is_in_context=finder.is_in_context)
        return Excerpts(wanted.query, excerpts, note)

    def scroll(self, wanted: Scroll) -> Neighborhood | OneMessage | Wrong:
        """Return the messages around one, wherever in its lineage it lives."""
        entry = self._said(wanted.message_id)
        if entry is None:
            return Wrong(
                f"message {wanted.message_id} was written by a compaction and stands for many; "
                "search for what it is about with query"
            )
        session = self._store.session(entry.session)
        if session.trashed is not None and self._shown(entry) is None:
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
        thread = self._thread(entry, wanted.session_id or entry.session)
        if wanted.window == 0:
            return OneMessage(_home(thread, session), focus, min(wanted.offset, len(focus.text)))
        return self._neighborhood(entry, focus, wanted, thread)

    def read(self, session_id: str) -> Beginning | Wrong:
        """Return a conversation: all of it, or its beginning and its end."""
        session = self._store.session(session_id)
        if session.trashed is not None:
            return _trashed(session)
        thread = thread_of(self._store, self._lineage(session.id), session.id)
        first = thread.first(_FIRST + _LAST + 1)
        last: tuple[Entry, ...] = ()
        if len(first) > _FIRST + _LAST:
            first, last = first[:_FIRST], thread.last(_LAST)
        total = thread.size() if last else len(first)
        return Beginning(
            session=thread.leaf,
            title=thread.title,
            first=_told(first),
            last=_told(last),
            total=total,
        )

    def browse(self, wanted: Browse) -> ConversationList:
        """Return the conversations that were touched last, one for each lineage."""
        seen: dict[str, Session] = {}
        for session in self._recent(wanted):
            seen.setdefault(session.root, session)
            if len(seen) >= wanted.limit:
                break
        return ConversationList(tuple(map(self._listed, seen.values())))

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
        thread = thread_of(self._store, self._lineage(session.id), session.id)
        spoken = (entry.message for entry in thread.first(_ENDS))
        first = next((each for each in spoken if each.role is Role.USER), None)
        return Listed(
            session=session,
            title=thread.title,
            preview=" ".join(words_of(first).split()) if first else "",
            messages=thread.size(),
            is_current=session.root == self._current.root,
        )

    def _excerpt(self, found: Match, query: Query, *, is_within: bool) -> Excerpt:
        entry, hit = found.entry, found.hit
        thread = self._thread(entry, hit.session_id)
        reach = _AROUND_WITHIN if is_within else _AROUND
        before, after = thread.around(entry, reach)
        near = {each.id for each in (*before, entry, *after)}
        opening = () if is_within else _others(thread.first(_ENDS), near)
        near |= {each.id for each in opening}
        closing = () if is_within else _others(thread.last(_ENDS), near)
        return Excerpt(
            session=_home(thread, self._store.session(entry.session)),
            title=thread.title,
            last_active=thread.leaf.touched,
            snippet=snippet(searchable(found.whole), query, width=_SNIPPET),
            tier=hit.tier,
            focus=told(entry, found.whole, is_focus=True),
            before=self._unknown(before),
            after=self._unknown(after),
            opening=self._unknown(opening),
            closing=self._unknown(closing),
        )

    def _neighborhood(
        self, entry: Entry, focus: Told, wanted: Scroll, thread: Thread | Shown
    ) -> Neighborhood:
        # One more on each side tells whether there is anything to go on to.
        before, after = thread.around(entry, wanted.window + 1)
        near = (*before[-wanted.window :], *after[: wanted.window])
        return Neighborhood(
            session=_home(thread, self._store.session(entry.session)),
            focus=focus,
            before=self._unknown(before[-wanted.window :]),
            after=self._unknown(after[: wanted.window]),
            is_first=len(before) <= wanted.window or self._is_known(before[0]),
            is_last=len(after) <= wanted.window or self._is_known(after[-1]),
            in_context=sum(map(self._is_known, near)),
        )

    def _thread(self, entry: Entry, id_: str) -> Thread | Shown:
        """Return the conversation that holds an entry, seen from a session if that one does.

        What was said in a session that is in the trash is seen from one that lives and shows it.
        """
        lineage = self._lineage(entry.session)
        if _of(entry, lineage).trashed is not None and (shown := self._shown(entry)):
            return shown
        for each in dict.fromkeys((id_, entry.session)):
            thread = thread_of(self._store, lineage, each)
            if thread.holds(entry):
                return thread
        # It was said after everything that went on left its session.
        return thread_of(
            self._store, [s for s in lineage if s.parent != entry.session], entry.session
        )

    def _shown(self, entry: Entry) -> Shown | None:
        return shown_of(self._store, self._lineage(entry.session), entry)

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


def _of(entry: Entry, lineage: Iterable[Session]) -> Session:
    """Return the session in which an entry stands."""
    return next(each for each in lineage if each.id == entry.session)


def _home(thread: Thread | Shown, session: Session) -> Session:
    """Return the session to name for a message of one: not one that is in the trash."""
    return thread.leaf if isinstance(thread, Shown) else session


def _told(entries: Iterable[Entry]) -> tuple[Told, ...]:
    return tuple(told(entry) for entry in entries)


def _others(entries: Iterable[Entry], known: set[int]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.id not in known)


def _trashed(session: Session) -> Wrong:
    return Wrong(
        f"session {session.id} is in the trash; `holdfast sessions restore {session.id}` brings "
        "it back"
    )


def _nothing(wanted: Discovery, *, is_in_context: bool) -> str:
    if is_in_context:
        return "All that matches stands in your context already; include_current=true repeats it."
    scope = wanted.scope
    narrowed = scope.roles or scope.sources or scope.since is not None or scope.until is not None
    hint = "without role, source, since and until" if narrowed else "with fewer or other words"
    return f"Nothing was found. Try again {hint}."
