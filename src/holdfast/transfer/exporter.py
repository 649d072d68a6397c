"""Exports a stored session as events, so that an agent's writer can write it.

What is imported again from what is told here is the same session: names, times and compactions
are told as their own agent wrote them. What holdfast derived is told as what it stands for.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, cast

from msgspec import structs

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
from holdfast.formats.json_access import whole
from holdfast.formats.replay import merged
from holdfast.session import Cause, Fork, Kind, Span, children_of, fork_view, path_to
from holdfast.transcript import Role
from holdfast.transfer.identity import import_record, is_strand, mark_left, parent_name
from holdfast.transfer.session_writer import FOLD

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Entry, Session, View

_AT_ONCE = 500
"""Messages that are read at a time."""


class MessageKeys:
    """Names of messages, each given once and found by its place in the store."""

    def __init__(self, marks: Collection[str] = ()) -> None:
        """Begin without names.

        Args:
            marks: Marks of messages that somebody will ask for.
        """
        self._by_place: dict[tuple[str, int], str] = {}
        self._by_id: dict[int, str] = {}
        self._used: set[str] = set()
        self._marks = marks
        self._by_mark: dict[str, str | None] = {}
        """Names by those marks; None where it was told twice."""

    def name(self, entry: Entry, wanted: str, mark: str = "") -> str:
        """Return a name for a message: the one that its agent gave, unless another has it."""
        key = wanted if wanted and wanted not in self._used else f"#{entry.id}"
        self._used.add(key)
        self._call(entry, key)
        if mark in self._marks:
            self._by_mark[mark] = None if mark in self._by_mark else key
        return key

    def of_mark(self, mark: str) -> str | None:
        """Return the name of the message with a mark, where that is known for certain."""
        return self._by_mark.get(mark)

    def share(self, entry: Entry, other: Entry) -> bool:
        """Let an entry be called like another; says whether that has a name."""
        key = self._by_id.get(other.id)
        if key is None:
            return False
        self._call(entry, key)
        return True

    def alias(self, entry: Entry) -> bool:
        """Let an entry be called like the one it stands for; says whether that has a name."""
        key = None if entry.stands_for is None else self._by_id.get(entry.stands_for)
        if key is None:
            return False
        self._call(entry, key)
        return True

    def of_spans(self, spans: Iterable[Span]) -> tuple[str, ...]:
        """Return the names of what spans show."""
        places = (
            (span.session, position)
            for span in spans
            for position in range(span.first, span.last + 1)
        )
        return self._of(places)

    def of_entries(self, entries: Iterable[Entry]) -> tuple[str, ...]:
        """Return the names of entries."""
        return self._of((entry.session, entry.position) for entry in entries)

    def _call(self, entry: Entry, key: str) -> None:
        self._by_id[entry.id] = key
        self._by_place[entry.session, entry.position] = key

    def _of(self, places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
        found = (self._by_place[place] for place in places if place in self._by_place)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class DueChild:
    """A session that came from the one that is told, whose turn has come."""

    session: Session
    of: str
    """The strand that it came from."""


class PendingChildren:
    """Sessions that came from the one that is told, until their turn has come."""

    def __init__(self, children: Sequence[Session]) -> None:
        """Sort them by what is known of when they began."""
        known = [
            (imported.place if (imported := import_record(child)) else None, child)
            for child in children
        ]
        unknown = [child for place, child in known if place is None]
        places = [(place, child) for place, child in known if place is not None]
        self._placed = deque(sorted(places, key=itemgetter(0)))
        self._dated = deque(child for child in unknown if child.fork is Fork.DELEGATION)
        self._last = [child for child in unknown if child.fork is not Fork.DELEGATION]

    def due(self, said: int, at: int) -> Iterator[Session]:
        """Take out those that began before a message that is told after so many others."""
        while self._placed and self._placed[0][0] <= said:
            yield self._placed.popleft()[1]
        while self._dated and self._dated[0].started < at:
            yield self._dated.popleft()

    def rest(self) -> Iterator[Session]:
        """Return those that began when everything was said, or nobody knows when."""
        yield from (child for _, child in self._placed)
        yield from self._dated
        yield from self._last


@dataclass(frozen=True, slots=True)
class SessionViews:
    """What the views of a session say."""

    shared: tuple[Span, ...] = ()
    """What it showed of its parent when it began."""
    changes: tuple[View, ...] = ()
    newest: int | None = None
    copied: int = 0
    """How many messages at the beginning of its log are copies of its parent's."""


def views_of(store: Store, session: Session) -> SessionViews:
    """Return what the views of a session say."""
    if session.parent is None and not session.generation:
        return SessionViews()  # it has none, and many are told at once
    views = store.views(session.id)
    return SessionViews(
        shared=first.spans if (first := fork_view(views)) else (),
        changes=tuple(view for view in views if view.cause is not Cause.FORK),
        newest=views[-1].id if views else None,
    )


def leaves_after(session: Session, keys: MessageKeys) -> str | None:
    """Return the key of the last message that a branch shares; None where views have to say it.

    A branch of branches may show a piece of each of them, so that reading what all of them show
    takes ever longer. The mark of the one message is enough, where nothing else is to be known.
    """
    if session.generation or not is_strand(session):
        return None
    mark = mark_left(session)
    return keys.of_mark(mark) if mark else ""


def without_copies(
    store: Store, session: Session, shown: SessionViews, keys: MessageKeys
) -> SessionViews:
    """Return what is to be told of a branch whose own file begins with lines of its parent's.

    Its copies are called like what they are copies of, and so is what happened to them.
    """
    if shown.shared or not parent_name(session):
        return shown
    parent = store.session(session.parent or "")
    copied = 0
    said = (entry for entry in entries_of(store, parent) if entry.kind is Kind.SAID)
    for mine, theirs in zip(entries_of(store, session), said, strict=False):
        if not _is_copy(mine, theirs) or not keys.share(mine, theirs):
            break
        copied = mine.position
    changes = tuple(view for view in shown.changes if view.upto >= copied)
    return replace(shown, changes=changes, copied=copied)


def _is_copy(mine: Entry, theirs: Entry) -> bool:
    """Say whether both say the same for the same agent, which may call the copy otherwise."""
    one, other = native_of(mine.message), native_of(theirs.message)
    is_alike = bool(one.mark) and bool(other.mark) and one.reply == other.reply
    return is_alike and (mine.message.role, mine.message.parts) == (
        theirs.message.role,
        theirs.message.parts,
    )


def entries_of(store: Store, session: Session, after: int = 0) -> Iterator[Entry]:
    """Return the log of a session behind a position, a part at a time."""
    for first in range(after + 1, session.size + 1, _AT_ONCE):
        yield from store.entries(session.id, first, first + _AT_ONCE - 1)


def export_session(store: Store, id_: str, *, family: bool = False) -> Iterator[Event]:
    """Return the events of a session, from the first message to what its model sees now.

    A session that was rotated is told together with those that it goes on from. A branch that is
    told alone begins with what it shares.

    Args:
        family: Whether branches and sub-agents that came from it are told as strands of their own.
    """
    teller = _Exporter(store, id_)
    return _unfolded(teller, teller.tell(teller.rotations(id_), MAIN, family=family))


def _unfolded(teller: _Exporter, events: Iterator[Event | DueChild]) -> Iterator[Event]:
    """Return events with those of each child in its place."""
    # A stack instead of calls: branches of branches may go deeper than calls can.
    told = [events]
    while told:
        for event in told[-1]:
            if isinstance(event, DueChild):
                told.append(teller.tell_child(event))
                break
            yield event
        else:
            told.pop()


class _Exporter:
    """Follows sessions from entry to entry, and remembers what each was called."""

    def __init__(self, store: Store, id_: str) -> None:
        """Read who is related to whom."""
        self._store = store
        self._lineage = store.lineage(id_)
        self._by_parent: dict[str | None, list[Session]] = {}
        for session in self._lineage:
            self._by_parent.setdefault(session.parent, []).append(session)
        # After these messages branches of the family leave.
        marks = (mark_left(session) for session in self._lineage if session.fork is Fork.BRANCH)
        self._keys = MessageKeys(frozenset(mark for mark in marks if mark))
        self._strands = {MAIN}
        self._shown: dict[str, SessionViews] = {}
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
    ) -> Iterator[Event | DueChild]:
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
            # What a branch showed of its parent when it began.
            for span in views_of(self._store, first).shared:
                for entry in self._store.entries(span.session, span.first, span.last):
                    yield self._told(entry, strand, first)
        shown = SessionViews()
        for session in sessions:
            children = [
                child
                for child in children_of(self._by_parent.get(session.id, ()), session.id)
                if family
                and child.fork in (Fork.BRANCH, Fork.DELEGATION)
                and child.trashed is None
                and child not in sessions
            ]
            known = self._shown.pop(session.id, None)
            shown = views_of(self._store, session) if known is None else known
            yield from self._own(session, strand, shown, PendingChildren(children))
        # The user took a change back.
        if shown.newest is not None and self._store.head(last.id).view != shown.newest:
            self._line += 1
            entries = self._store.window(last.id).entries
            shows = self._keys.of_entries(entries)
            yield RewindEvent(strand=strand, line=self._line, shows=shows, at=None)

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
        self, session: Session, strand: str, shown: SessionViews, children: PendingChildren
    ) -> Iterator[Event | DueChild]:
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
                yield DueChild(child, strand)
            said += entry.kind is Kind.SAID
            # One that shows in another form what was told already is not told again; one with a
            # summary in front of that says more than what was told.
            is_plain = entry.stands_for is not None and entry.message.summary is None
            if not (is_plain and self._keys.alias(entry)):
                yield self._told(entry, strand, session)
        for view in changes:
            yield self._changed(view, records, strand)
        for child in children.rest():
            yield DueChild(child, strand)

    def _told(self, entry: Entry, strand: str, session: Session) -> MessageEvent:
        self._line += 1
        message = self._store.whole(entry.id) if entry.shortened else entry.message
        native = native_of(message)
        mark = native.mark
        is_ours = entry.kind is not Kind.SAID and message.summary is not None
        if native.mark and not is_ours:
            native = structs.replace(native, mark="")
        else:
            model = session.model if message.role is Role.ASSISTANT else ""
            native = SourceMetadata(at=entry.at or None, model=model)
        return MessageEvent(
            strand=strand,
            line=self._line,
            key=self._keys.name(entry, native.id, mark),
            message=structs.replace(without_native(message), pinned=False),
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
            at=whole(known.get("at")),
            trigger=str(said.get("trigger", "")) if said else trigger,
            tokens_before=whole(known.get("tokens_before")),
            tokens_after=whole(known.get("tokens_after")),
        )

    def tell_child(self, child: DueChild) -> Iterator[Event | DueChild]:
        """Return the events of a child, as a strand of its own."""
        session = child.session
        imported = import_record(session)
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
        after, shown = leaves_after(session, self._keys), SessionViews()
        if after is None:
            found = views_of(self._store, session)
            shown = without_copies(self._store, session, found, self._keys)
            copies = Span(session.id, 1, shown.copied)
            after = (self._keys.of_spans((*shown.shared, copies)) or ("",))[-1]
        # What it shares may be long, and all those that it came from wait until it is told.
        self._shown[session.id] = replace(shown, shared=())
        return after


def _about(first: Session, last: Session) -> About:
    """Return what is known of a conversation that began as one session and goes on as another."""
    imported = import_record(first)
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
