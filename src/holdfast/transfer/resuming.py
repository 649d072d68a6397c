"""Finds what of a conversation is stored already, and the message after which an import goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import UnknownSession
from holdfast.formats.events import MAIN, native_of
from holdfast.session import Entry, Fork, Kind
from holdfast.transcript import Message, Role
from holdfast.transfer.identity import import_record, is_of, mark_left

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.transfer.identity import Identity
    from holdfast.transfer.strands import StrandHistory

_AT_ONCE = 500
_NOTHING = Message(Role.USER)
_TRASHED = "it is in the trash; restore it, or delete it there to import it again"


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A stored session of a conversation, with its newest imported message."""

    session: Session
    last: str
    """The mark of its newest message that was imported."""
    is_open: bool
    """Whether more of the file may follow in it: nobody has gone on or ended it here."""


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """The last stored message of a strand, after which its import goes on."""

    mark: str
    """Of the last message that is stored."""
    session: Session
    is_branch: bool
    """Whether it goes on beside the session, in a branch, and not in it."""


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A strand that is not imported, and why."""

    session: str
    reason: str


class StoredSessions:
    """The stored sessions of one conversation, and where in them each message stands."""

    def __init__(
        self, store: Store, candidates: tuple[StoredSession, ...], branches: Sequence[Session] = ()
    ) -> None:
        """Hold the sessions; their messages are read when one is asked for.

        Args:
            candidates: Those that the strand was stored as.
            branches: Those that were stored as other strands of the conversation. A file that holds
                nothing but one of them tells it as if it were the whole.
        """
        self.candidates = candidates
        self._store = store
        self._branches = branches
        self._places: dict[str, Entry] | None = None

    def place_of(self, mark: str) -> Entry | None:
        """Return the message with a mark, without what it says."""
        if self._places is None:
            self._places = {
                mark: reference(candidate.session.id, position)
                for candidate in reversed(self.candidates)
                for mark, position in _marks(self._store, candidate.session)
            }
        return self._places.get(mark)

    def first_resume_point(self) -> ResumePoint | None:
        """Return where the strand probably goes on; None when all of it must be seen first."""
        if len(self.candidates) == 1 and self.candidates[0].is_open:
            (only,) = self.candidates
            # What follows may be a branch that left where the session ends.
            if all(mark_left(branch) != only.last for branch in self._branches):
                return ResumePoint(only.last, only.session, is_branch=False)
        return None

    def target(self, history: StrandHistory) -> ResumePoint | LeftAlone | None:
        """Return where a strand that was told to its end goes on; None when all is stored."""
        marks = [*history.marks(), history.first_mark]
        newest = self._newest(marks)
        if newest != history.mark and self._branches:
            # What was stored as other strands of the conversation counts as its own.
            self.candidates += tuple(_candidate(self._store, each) for each in self._branches)
            self._branches, self._places = (), None
            newest = self._newest(marks)
        owner = self._owner(newest) or self.candidates[0].session
        if newest == history.mark:
            return None
        going_on = (each for each in self.candidates if each.is_open and each.last == newest)
        candidate = next(going_on, None)
        session = owner if candidate is None else candidate.session
        if session.trashed is not None:
            return LeftAlone(session.id, _TRASHED)
        return ResumePoint(newest, session, is_branch=candidate is None)

    def _newest(self, marks: Sequence[str]) -> str:
        """Return the first of the marks that is stored; the last stands for nothing."""
        return next((mark for mark in marks if self._owner(mark) is not None), marks[-1])

    def _owner(self, mark: str) -> Session | None:
        place = self.place_of(mark)
        if place is not None:
            owners = (each.session for each in self.candidates if each.session.id == place.session)
            return next(owners)
        return next((each.session for each in self.candidates if each.last == mark), None)


@dataclass(slots=True)
class Resuming:
    """A strand of which only stored messages were told so far."""

    stored: StoredSessions
    target: ResumePoint | None


class BranchIndex:
    """The stored sessions of conversations; those with the same root are read once, together."""

    def __init__(self, store: Store) -> None:
        """Read nothing yet."""
        self._store = store
        self._known: dict[str, dict[Identity, list[Session]]] = {}
        """By id: what else there is in its family, by conversation."""

    def conversation_of(self, identity: Identity, session: Session) -> StoredSessions | LeftAlone:
        """Return the stored sessions of a conversation, of which one is known."""
        if session.trashed is not None:
            return LeftAlone(session.id, _TRASHED)
        if session.id not in self._known:
            read: dict[Identity, list[Session]] = {}
            for each in self._store.lineage(session.id):
                self._known[each.id] = read
                if (imported := import_record(each)) is not None:
                    read.setdefault(imported.identity, []).append(each)
        family = self._known[session.id].get(identity, [])
        ordered = sorted(family, key=lambda each: each.id != session.id)
        candidates = tuple(_candidate(self._store, each) for each in ordered)
        return StoredSessions(self._store, candidates, self._branches(identity, session.id))

    def _branches(self, identity: Identity, id_: str) -> tuple[Session, ...]:
        """Return the branches of a conversation that were told beside it, if it is the main one."""
        if identity.strand != MAIN:
            return ()
        return tuple(
            session
            for other, sessions in self._known[id_].items()
            if (other.system, other.name) == (identity.system, identity.name)
            and other.strand != MAIN
            for session in sessions
            if session.fork is Fork.BRANCH
        )


class IdLookup(Protocol):
    """What is known of ids without asking the store."""

    def is_barred(self, id_: str) -> bool:
        """Say whether an id cannot be given to another session."""
        ...

    def is_free(self, id_: str) -> bool:
        """Say whether nothing in the store has an id, as far as is known."""
        ...


def own_or_free(
    store: Store, proposed: Iterator[str], identity: Identity, ids: IdLookup
) -> Session | str:
    """Return the conversation's own session under the first of the ids that fits, or a free id."""
    while True:
        id_ = next(proposed)
        if ids.is_barred(id_):
            continue
        if ids.is_free(id_):
            return id_
        try:
            session = store.session(id_)
        except UnknownSession:
            return id_
        if is_of(session, identity):
            return session


def reference(session: str, position: int) -> Entry:
    """Return an entry by its place alone, which is all that a view keeps of it."""
    return Entry(
        id=0,
        session=session,
        position=position,
        kind=Kind.SAID,
        message=_NOTHING,
        at=0,
        tokens=0,
    )


def _candidate(store: Store, session: Session) -> StoredSession:
    """Return the session with its newest mark, looking further back step by step."""
    position, step, later = session.size, 1, 0
    while said := store.said(session.id, position, before=step, after=0):
        for entry in reversed(said):
            if mark := native_of(entry.message).mark:
                return StoredSession(session, mark, session.is_live and not later)
            later += 1
        position, step = said[0].position - 1, min(step * 8, _AT_ONCE)
    return StoredSession(session, mark_left(session), session.is_live and not later)


def _marks(store: Store, session: Session) -> Iterator[tuple[str, int]]:
    for first in range(1, session.size + 1, _AT_ONCE):
        for entry in store.entries(session.id, first, first + _AT_ONCE - 1):
            if entry.kind is Kind.SAID and (mark := native_of(entry.message).mark):
                yield mark, entry.position
