"""Counts each reply once, though the file of a fork repeats what was said before it.

Some agents copy the lines of a session into the file of one that goes on from it, with what each
reply cost. The session that was there first has paid for them. How much of a session's cost is a
copy follows from what is stored, and what was taken off stands in its metadata, so that it comes
out the same whichever file is imported first and however often.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import Conflict, UnknownSession
from holdfast.formats.events import native_of
from holdfast.ports import Amendment
from holdfast.session import Fork, Kind, Usage
from holdfast.transfer.identity import countable, import_record, is_strand, repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from holdfast.formats.events import SourceMetadata
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.transcript import Message

_AT_ONCE = 500
_TRIES = 20
_COUNTS = tuple(Usage.__dataclass_fields__)
_Name: TypeAlias = tuple[object, ...]


class SessionsByFile:
    """A family of sessions, by the files that they were told in."""

    def __init__(self, lineage: Sequence[Session]) -> None:
        """Sort the sessions of a family by those that they came from."""
        self._known = {session.id: session for session in lineage}
        self._firsts: dict[str, Session] = {}
        """What is known of the first sessions of files, by those that are told in them."""
        self._children: dict[str, list[Session]] = {}
        for session in lineage:
            if session.parent is not None:
                self._children.setdefault(session.parent, []).append(session)

    def __contains__(self, id_: str) -> bool:
        """Say whether a session is one of the family."""
        return id_ in self._known

    def first(self, id_: str) -> Session:
        """Return the session of the file that a session is told in."""
        passed: list[str] = []
        session = self._known[id_]
        while is_strand(session) and session.parent in self._known:
            passed.append(session.id)
            session = self._firsts.get(session.parent) or self._known[session.parent]
        # Branches of branches may go any number deep, and each of them is asked for.
        self._firsts.update(dict.fromkeys(passed, session))
        return session

    def told_with(self, id_: str) -> list[Session]:
        """Return the session of a file and the branches that are told in it."""
        found = [self.first(id_)]
        for session in found:  # which grows while it is read
            found += (
                child
                for child in self._children.get(session.id, ())
                if is_strand(child) and child.fork is Fork.BRANCH
            )
        return found

    def told_before(self, id_: str) -> Iterator[Session]:
        """Return what is told in the files that the file of a session goes on from."""
        parent = self.first(id_).parent
        while parent in self._known:
            yield from self.told_with(parent)
            parent = self.first(parent).parent

    def told_after(self, id_: str) -> Iterator[Session]:
        """Return the sessions of files that may repeat the file of a session."""
        for session in self.told_with(id_):
            for child in self._children.get(session.id, ()):
                # There may be any number of sub-agents, and next to none of them repeat anything.
                if not is_strand(child) and (child.fork is Fork.BRANCH or repeats(child)):
                    yield child


def count_once(store: Store, id_: str) -> None:
    """Take from the totals of a session what those that it came from have counted.

    The branches in its file go with it. Nothing is taken from what is told in the file of another:
    a reader counts each reply of a file once.
    """
    session = store.session(id_)
    if session.parent is None or is_strand(session):
        return
    # A sub-agent begins with words of its own; few are given those of the session that asked.
    is_guest = session.fork is Fork.DELEGATION and not repeats(session)
    if is_guest and first_mark(store, id_) != first_mark(store, session.parent):
        return
    files = SessionsByFile(store.lineage(id_))
    known = {
        name
        for elder in files.told_before(id_)
        for message, native, _ in _paid(store, elder)
        for name in _names(message, native)
    }
    for each in files.told_with(id_):
        _discount(store, each.id, known, _names)


def count_apart(store: Store, ids: Iterable[str]) -> list[str]:
    """Count each reply once in sessions of which none names another and all begin alike.

    Some agents have written a session that was taken up again into another file, with another
    name, and said so nowhere. Its copies are known by their ids, their times and their words.

    Returns:
        Those that can be compared with others at all.
    """
    begun = _by_beginning(store, ids)
    for sessions in begun.values():
        # The one that ended first has paid.
        ordered = sorted(sessions, key=lambda each: (each.touched, each.id))
        known: set[_Name] = set()
        for session in ordered if len(ordered) > 1 else ():
            for each in SessionsByFile(store.lineage(session.id)).told_with(session.id):
                _discount(store, each.id, known, _full_name)
                for message, native, _ in _paid(store, each):
                    known.update(_full_name(message, native))
    return [session.id for sessions in begun.values() for session in sessions]


def _by_beginning(store: Store, ids: Iterable[str]) -> dict[int, list[Session]]:
    """Return sessions by the moment at which they begin.

    The first words of two may be the same without a copy: a prompt that many begin with.
    """
    found: dict[int, list[Session]] = {}
    for id_ in ids:
        with suppress(UnknownSession):
            session = store.session(id_)
            for entry in store.said(id_, 1, before=1, after=0):
                native = native_of(entry.message)
                if session.parent is None and native.id and native.at is not None:
                    found.setdefault(native.at, []).append(session)
    return found


def _discount(
    store: Store,
    id_: str,
    known: set[_Name],
    names: Callable[[Message, SourceMetadata], tuple[_Name, ...]],
) -> None:
    """Count what is not known by name."""
    for _ in range(_TRIES):
        session = store.session(id_)
        imported = import_record(session)
        if imported is None:
            return
        copied = (
            usage
            for message, native, usage in _paid(store, session)
            if not known.isdisjoint(names(message, native))
        )
        before, now = imported.repeated or Usage(), sum(copied, Usage())
        if now == before:
            return
        metadata = replace(imported, repeated=now).metadata()
        change = Amendment(
            metadata=metadata,
            usage=Usage(*(getattr(before, name) - getattr(now, name) for name in _COUNTS)),
            was=session.metadata,
        )
        # Where somebody else has changed the session, what is to be taken off may be another.
        with suppress(Conflict):
            store.amend(id_, change)
            return


def first_mark(store: Store, id_: str) -> str:
    """Return the mark of the first message of a session; empty where it has none."""
    marks = [native_of(entry.message).mark for entry in store.said(id_, 1, before=1, after=0)]
    return marks[0] if marks else ""


def _paid(store: Store, session: Session) -> Iterator[tuple[Message, SourceMetadata, Usage]]:
    """Return the messages of a session whose cost was counted."""
    for first in range(1, session.size + 1, _AT_ONCE):
        for entry in store.entries(session.id, first, first + _AT_ONCE - 1):
            native = native_of(entry.message)
            usage = countable(native.usage)
            if entry.kind is Kind.SAID and native.mark and usage is not None:
                yield entry.message, native, usage


def _names(message: Message, native: SourceMetadata) -> tuple[_Name, ...]:
    """Return what shows that a message is another's copy: each is enough.

    The agent may have given the copy an id of its own. Then the words have to be the same: in
    some files replies are merely counted, and those of two sessions may be called alike.
    """
    words = ("words", native.reply, native.usage, _said(message))
    if native.id:
        return ("id", native.reply, native.id), words
    return (words,)


def _full_name(message: Message, native: SourceMetadata) -> tuple[_Name, ...]:
    """Return what shows that a message is another's copy where nothing else says so."""
    if not native.id or native.at is None:
        return ()
    return ((native.id, native.reply, native.at, native.usage, _said(message)),)


def _said(message: Message) -> int:
    return hash((message.text, *(call.id for call in message.calls)))
