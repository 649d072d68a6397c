"""Tells a stored session as events, so that an agent's writer can write it.

What is imported again from what is told here is the same session: names, times and compactions
are told as their own agent wrote them. What holdfast derived is told as what it stands for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
    native_of,
    without_native,
)
from holdfast.formats.replay import merged
from holdfast.session import Cause, Fork, Kind, Span, children_of, path_to
from holdfast.transcript import Role
from holdfast.transfer.children import Child, Children
from holdfast.transfer.identity import imported_of
from holdfast.transfer.keys import Keys
from holdfast.transfer.landing import FOLD
from holdfast.transfer.showing import (
    Shown,
    entries_of,
    leaves_after,
    marks_left,
    shown_by,
    without_copies,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Session, View

__all__ = ["tell_session"]


def tell_session(store: Store, id_: str, *, family: bool = False) -> Iterator[Event]:
    """Return the events of a session, from the first message to what its model sees now.

    A session that was rotated is told together with those that it goes on from. A branch that is
    told alone begins with what it shares.

    Args:
        store: Where it is.
        id_: The session.
        family: Whether branches and sub-agents that came from it are told as strands of their own.
    """
    teller = _Teller(store, id_)
    return _unfolded(teller, teller.tell(teller.rotations(id_), MAIN, family=family))


def _unfolded(teller: _Teller, events: Iterator[Event | Child]) -> Iterator[Event]:
    """Return events with those of each child in its place."""
    # A stack instead of calls: branches of branches may go deeper than calls can.
    told = [events]
    while told:
        for event in told[-1]:
            if isinstance(event, Child):
                told.append(teller.tell_child(event))
                break
            yield event
        else:
            told.pop()


class _Teller:
    """Follows sessions from entry to entry, and remembers what each was called."""

    def __init__(self, store: Store, id_: str) -> None:
        """Read who is related to whom."""
        self._store = store
        self._lineage = store.lineage(id_)
        self._by_parent: dict[str | None, list[Session]] = {}
        for session in self._lineage:
            self._by_parent.setdefault(session.parent, []).append(session)
        self._keys = Keys(marks_left(self._lineage))
        self._strands = {MAIN}
        self._shown: dict[str, Shown] = {}
        """What was read of the views of a child that is told next."""
        self._line = 0

    def rotations(self, id_: str) -> tuple[Session, ...]:
        """Return the session, and before it those that were compacted into it."""
        path = path_to(self._lineage, id_)
        first = len(path) - 1
        while first and path[first].fork is Fork.COMPRESSION:
            first -= 1
        return path[first:]

    def tell(
        self,
        sessions: Sequence[Session],
        strand: str,
        *,
        family: bool,
        of: StrandStarted | None = None,
    ) -> Iterator[Event | Child]:
        """Return the events of a strand; `of` is how it begins as part of another.

        Where the turn of a child has come, that is returned in the place of its events.
        """
        first, last = sessions[0], sessions[-1]
        self._line += 1
        if of is None:
            yield StrandStarted(strand=strand, line=self._line, about=self._about(first, last))
        else:
            yield replace(of, line=self._line)
        if of is None and first.fork is not Fork.DELEGATION:
            for entry in self._shared(first):
                yield self._told(entry, strand, first)
        shown = Shown()
        for session in sessions:
            children = self._children(session, sessions) if family else ()
            known = self._shown.pop(session.id, None)
            shown = shown_by(self._store, session) if known is None else known
            yield from self._own(session, strand, shown, Children(children))
        yield from self._undone(last, strand, shown)

    def _about(self, first: Session, last: Session) -> About:
        """Return what is known of a strand that is told by itself.

        A branch is where the conversation goes on that it left: it has its name and its folder.
        """
        about = _about(first, last)
        session = first
        for ancestor in reversed(path_to(self._lineage, first.id)[:-1]):
            if session.fork is not Fork.BRANCH:
                break
            about = replace(merged(_about(ancestor, ancestor), about), usage=about.usage)
            session = ancestor
        return about if session is first else replace(about, title=first.title)

    def _own(
        self, session: Session, strand: str, shown: Shown, children: Children
    ) -> Iterator[Event | Child]:
        """Tell what was said in the session itself, with its changes and children between."""
        changes = [*shown.changes]
        passes = self._store.compactions(session.id) if changes else ()
        records = {each.after: each for each in passes}
        said = shown.copied
        for entry in entries_of(self._store, session, shown.copied):
            while changes and changes[0].upto < entry.position:
                yield self._changed(changes[0], records, strand)
                del changes[0]
            for child in children.due(said, entry.at):
                yield Child(child, strand)
            said += entry.kind is Kind.SAID
            if not self._stands_in(entry):
                yield self._told(entry, strand, session)
        for view in changes:
            yield self._changed(view, records, strand)
        for child in children.rest():
            yield Child(child, strand)

    def _shared(self, session: Session) -> Iterator[Entry]:
        """Return what a branch showed of its parent when it began."""
        for span in shown_by(self._store, session).shared:
            yield from self._store.entries(span.session, span.first, span.last)

    def _stands_in(self, entry: Entry) -> bool:
        """Say whether an entry shows in another form what was told already.

        One with a summary in front of that says more than what was told.
        """
        is_plain = entry.stands_for is not None and entry.message.summary is None
        return is_plain and self._keys.alias(entry)

    def _told(self, entry: Entry, strand: str, session: Session) -> MessageEvent:
        self._line += 1
        message = self._store.whole(entry.id) if entry.shortened else entry.message
        native = native_of(message)
        mark = native.mark
        is_ours = entry.kind is not Kind.SAID and message.summary is not None
        if native.mark and not is_ours:
            native = replace(native, mark="")
        else:
            model = session.model if message.role is Role.ASSISTANT else ""
            native = SourceMetadata(at=entry.at, model=model)
        return MessageEvent(
            strand=strand,
            line=self._line,
            key=self._keys.name(entry, native.id, mark),
            message=replace(without_native(message), pinned=False),
            native=native,
        )

    def _changed(
        self, view: View, records: Mapping[int, CompactionRecord], strand: str
    ) -> CompactionEvent | RewindEvent:
        self._line += 1
        shows = self._keys.of_spans(view.spans)
        record = records.get(view.id)
        if view.cause is Cause.REWIND or record is None:
            return RewindEvent(strand=strand, line=self._line, shows=shows, at=view.at)
        said = cast("Mapping[str, object]", record.report.get(FOLD) or {})
        known = said or {**record.report, "id": f"fold-{record.id}", "at": record.at}
        trigger = "manual" if record.trigger == "manual" else "auto"
        return CompactionEvent(
            strand=strand,
            line=self._line,
            id=str(known["id"]),
            shows=shows,
            at=_number(known.get("at")),
            trigger=str(said.get("trigger", "")) if said else trigger,
            tokens_before=_number(known.get("tokens_before")),
            tokens_after=_number(known.get("tokens_after")),
        )

    def _undone(self, session: Session, strand: str, shown: Shown) -> Iterator[Event]:
        """Tell which view shows, where the user took a change back."""
        if shown.newest is not None and self._store.head(session.id).view != shown.newest:
            self._line += 1
            entries = self._store.window(session.id).entries
            shows = self._keys.of_entries(entries)
            yield RewindEvent(strand=strand, line=self._line, shows=shows, at=None)

    def _children(self, session: Session, told: Sequence[Session]) -> tuple[Session, ...]:
        """Return the children that are strands of their own."""
        kinds = (Fork.BRANCH, Fork.DELEGATION)
        return tuple(
            child
            for child in children_of(self._by_parent.get(session.id, ()), session.id)
            if child.fork in kinds and child.trashed is None and child not in told
        )

    def tell_child(self, child: Child) -> Iterator[Event | Child]:
        """Return the events of a child, as a strand of its own."""
        session = child.session
        imported = imported_of(session)
        strand = session.id if imported is None else imported.identity.strand or session.id
        strand = session.id if strand in self._strands else strand
        self._strands.add(strand)
        after = self._left_after(session) if session.fork is Fork.BRANCH else ""
        about = replace(_about(session, session), parent="", fork=None)
        begun = StrandStarted(
            strand=strand, line=0, about=about, of=child.of, fork=session.fork, after=after
        )
        return self.tell((session,), strand, family=True, of=begun)

    def _left_after(self, session: Session) -> str:
        """Return the key of the last message that a branch shares, and keep what it shows."""
        after, shown = leaves_after(session, self._keys), Shown()
        if after is None:
            found = shown_by(self._store, session)
            shown = without_copies(self._store, session, found, self._keys)
            copies = Span(session.id, 1, shown.copied)
            after = (self._keys.of_spans((*shown.shared, copies)) or ("",))[-1]
        # What it shares may be long, and all those that it came from wait until it is told.
        self._shown[session.id] = replace(shown, shared=())
        return after


def _about(first: Session, last: Session) -> About:
    """Return what is known of a conversation that began as one session and goes on as another."""
    imported = imported_of(first)
    if imported is None:
        return About(
            id=last.id,
            title=last.title,
            model=last.model,
            cwd=str(last.metadata.get("cwd", "")),
            started=first.started,
        )
    renamed = first.title != imported.title
    return replace(imported.about, title=first.title) if renamed else imported.about


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
