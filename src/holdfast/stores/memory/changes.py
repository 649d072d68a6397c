"""What is written to a store in memory, on the tables of one transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.errors import StoreError, UnknownSession
from holdfast.session import (
    Cause,
    Draft,
    Entry,
    Head,
    Kind,
    Session,
    Span,
    Spawn,
    Usage,
    View,
    merge_spans,
    names_itself,
    with_originals,
    with_own_id,
)
from holdfast.session.sessions import (
    amended_metadata,
    check_adoption,
    check_generation,
    check_size,
    id_taken,
    key_taken,
    not_in_trash,
    unknown_session,
)
from holdfast.stores.memory.tables import MessageRecord, SessionRecord, Tables, copied_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.ports import Amendment
    from holdfast.session import Addition, Change, Piece

_NOTHING = Usage()


def insert_session(tables: Tables, session: Session, parent: SessionRecord | None = None) -> None:
    """Add a session; its log begins empty whatever it says."""
    if tables.sessions.get(session.id) is not None:
        raise id_taken(session.id)
    root = session.id if parent is None else parent.session.root
    stored = replace(
        session,
        root=root,
        goal=session.goal or ("" if parent is None else parent.session.goal),
        touched=max(session.started, session.touched),
        size=0,
        generation=0,
        key=None,
        metadata=copied_json(session.metadata),
    )
    tables.sessions[session.id] = SessionRecord(session=stored, number=next(tables.numbers))
    tables.families[root] = (*(tables.families.get(root) or ()), session.id)
    if session.key:
        _give_key(tables, session.id, session.key)


def append_drafts(
    tables: Tables, id_: str, drafts: Sequence[Draft], usage: Usage, size: int | None
) -> tuple[Entry, ...]:
    """Write messages to the end of a log, and what they cost."""
    stored = tables.live(id_)
    check_size(id_, stored.session.size, size)
    entries = _written(tables, stored, drafts, Kind.SAID)
    pins = frozenset(each.id for each, draft in zip(entries, drafts, strict=True) if draft.pinned)
    session = stored.session
    stored = replace(
        stored,
        session=replace(
            session,
            size=session.size + len(entries),
            touched=max([session.touched, *(each.at for each in entries)]),
            usage=session.usage if usage == _NOTHING else session.usage + usage,
        ),
        pins=stored.pins | pins,
    )
    tables.sessions[id_] = stored
    return tuple(
        structs.replace(each, message=structs.replace(each.message, pinned=True))
        if each.id in pins
        else each
        for each in entries
    )


def add_to(tables: Tables, addition: Addition) -> tuple[Entry, ...]:
    """Write to a session, which is created unless it is there."""
    match addition.to:
        case str(id_):
            pass
        case Spawn(child=child) as spawn:
            if spawn.change is not None:
                raise StoreError(f"session {child.id} is rotated into; that is a step of its own")
            spawn_child(tables, spawn)
            id_ = child.id
        case Session(id=id_) as session:
            insert_session(tables, session)
    return append_drafts(tables, id_, addition.drafts, addition.usage or _NOTHING, addition.size)


def change_window(tables: Tables, id_: str, change: Change) -> Head:
    """Give a session another window if nobody else did since it was read."""
    stored = tables.live(id_)
    check_generation(id_, stored.session.generation, change.generation)
    late = tables.said(id_, range(change.seen + 1, stored.session.size + 1))
    return _show_change(tables, stored, change, list(late))


def spawn_child(tables: Tables, spawn: Spawn) -> None:
    """Create a child with its window, and end the parent if asked."""
    child, origin = spawn.child, spawn.child.parent
    if origin is None:
        raise StoreError(f"session {child.id} has no parent to come from")
    ends = spawn.parent_end is not None
    parent = tables.live(origin) if ends else tables.found(origin)
    if spawn.generation is not None:
        check_generation(origin, parent.session.generation, spawn.generation)
    if ends and child.key in (None, parent.session.key):
        child = replace(child, key=parent.session.key)
        parent = _without_key(tables, parent)
    insert_session(tables, child, parent)
    seen = spawn.seen if spawn.change is None else spawn.change.seen
    late: list[Entry] = []
    if seen is not None:
        late = list(tables.said(origin, range(seen + 1, parent.session.size + 1)))
    stored = replace(tables.found(child.id), pins=parent.pins)
    spans = _spans(tables, [*spawn.shows, *late])
    if spans:
        view = View(
            id=next(tables.numbers),
            session=child.id,
            parent=None,
            cause=Cause.FORK,
            spans=spans,
            upto=0,
            at=child.started,
        )
        stored = replace(stored, view=view.id, tip=view.id, views=(view,))
    tables.sessions[child.id] = stored
    if spawn.change is not None:
        _show_change(tables, stored, spawn.change, late)
    if ends:
        ended = replace(parent.session, ended=child.started, end_reason=spawn.parent_end)
        tables.sessions[origin] = replace(parent, session=ended)


def amend_session(tables: Tables, id_: str, amendment: Amendment) -> None:
    """Change what may change about a session."""
    session = tables.found(id_).session
    metadata = amended_metadata(id_, session.metadata, amendment.metadata or {}, amendment.was)
    session = replace(
        session,
        title=session.title if amendment.title is None else amendment.title,
        goal=session.goal if amendment.goal is None else amendment.goal,
        model=session.model if amendment.model is None else amendment.model,
        usage=session.usage if amendment.usage is None else session.usage + amendment.usage,
        metadata=copied_json(metadata),
    )
    tables.sessions[id_] = replace(tables.found(id_), session=session)
    if amendment.key:
        _give_key(tables, id_, amendment.key)
    elif amendment.key is not None:
        _without_key(tables, tables.found(id_))
    if amendment.parent is not None:
        stored, parent = tables.found(id_), tables.found(amendment.parent).session
        check_adoption(stored.session, parent)
        adopted = replace(stored.session, parent=parent.id, fork=amendment.fork)
        tables.sessions[id_] = replace(stored, session=adopted)
        along = tables.families.get(id_) or ()
        tables.families[id_] = None
        tables.families[parent.root] = (*(tables.families.get(parent.root) or ()), *along)
        for each in along:
            member = tables.sessions.get(each)
            if member is not None:
                moved = replace(member.session, root=parent.root)
                tables.sessions[each] = replace(member, session=moved)


def trash_sessions(
    tables: Tables, ids: Sequence[str], at: int | None, used_since: int | None = None
) -> int:
    """Put sessions into the trash, or take them out without a time; returns how many moved."""
    moved = 0
    for id_ in ids:
        stored = tables.found(id_)
        if (stored.session.trashed is None) == (at is None):
            continue
        if used_since is not None and any(
            each.trashed is None and each.touched >= used_since for each in tables.lineage(id_)
        ):
            continue
        tables.sessions[id_] = replace(stored, session=replace(stored.session, trashed=at))
        moved += 1
    return moved


def purge_sessions(tables: Tables, ids: Sequence[str]) -> list[int]:
    """Delete trashed sessions; returns the messages that went or are out of search from now on."""
    for id_ in dict.fromkeys(ids):
        stored = tables.found(id_)
        if stored.session.trashed is None:
            raise not_in_trash(id_)
    for id_ in dict.fromkeys(ids):
        stored = _without_key(tables, tables.found(id_))
        bare = Session(id=id_, source="", started=0, root=stored.session.root)
        bare = replace(bare, parent=stored.session.parent, size=stored.session.size)
        tables.sessions[id_] = SessionRecord(session=bare, number=stored.number, is_purged=True)
        tables.leases[id_] = None
    gone = {each.session.id for each in tables.all_sessions() if each.is_purged}
    needed = _needed(tables, gone)
    going = [
        each.entry
        for id_ in gone
        for position in range(1, tables.sessions[id_].session.size + 1)  # pyright: ignore[reportOptionalMemberAccess] - it is in the table
        if (each := tables.log.get((id_, position))) is not None
    ]
    left: set[str] = set()
    for entry in going:
        if entry.id in needed:
            left.add(entry.session)
        else:
            tables.messages[entry.id] = None
            tables.log[entry.session, entry.position] = None
    lost = {entry.id for entry in going} - needed
    for stored in [each for each in tables.all_sessions() if each.pins & lost]:
        tables.sessions[stored.session.id] = replace(stored, pins=stored.pins - lost)
    # Delete the rows of sessions on which neither messages nor other sessions hang.
    empty = gone - left
    rows = [each for each in tables.all_sessions() if each.session.id in empty]
    for stored in sorted(rows, key=lambda each: -each.number):
        id_, root = stored.session.id, stored.session.root
        others = (each.session for each in tables.all_sessions() if each.session.id != id_)
        if not any(id_ in (each.parent, each.root) for each in others):
            tables.sessions[id_] = None
            family = tuple(each for each in tables.families.get(root) or () if each != id_)
            tables.families[root] = family or None
    return [entry.id for entry in going]


def _needed(tables: Tables, gone: set[str]) -> set[int]:
    """Return the messages of sessions that go which those that stay show, stand for or pin."""
    needed: set[int] = set()
    for stored in tables.all_sessions():
        if stored.session.id in gone:
            continue
        needed |= stored.pins
        for view in stored.views:
            for span in view.spans:
                if span.session in gone:
                    found = tables.between(span.session, range(span.first, span.last + 1))
                    needed.update(entry.id for entry in found)
    staying = (each.entry for each in tables.messages.values() if each is not None)
    needed.update(
        entry.stands_for
        for entry in staying
        if entry.stands_for is not None and entry.session not in gone
    )

    def stands_for(id_: int) -> int | None:
        stored = tables.messages.get(id_)
        return stored.entry.stands_for if stored else None

    return with_originals(needed, stands_for)


def _written(
    tables: Tables, stored: SessionRecord, drafts: Iterable[Draft], kind: Kind
) -> list[Entry]:
    """Add drafts to a log; the caller makes the session longer."""
    session = stored.session
    entries: list[Entry] = []
    for position, draft in enumerate(drafts, start=session.size + 1):
        id_ = next(tables.ids)
        own = with_own_id(draft.message, id_) if names_itself(draft) else draft.message
        entry = Entry(
            id=id_,
            session=session.id,
            position=position,
            kind=kind,
            message=own,
            at=draft.at,
            tokens=draft.tokens,
            shortened=draft.whole is not None,
            stands_for=draft.stands_for,
        )
        message = MessageRecord(entry, draft.whole)
        tables.messages[id_] = tables.log[session.id, position] = message
        entries.append(entry)
    return entries


def _show_change(
    tables: Tables, stored: SessionRecord, change: Change, late: Sequence[Entry]
) -> Head:
    """Write what a change derives, its view and the record of the pass."""
    session = stored.session
    drafts = [piece for piece in change.pieces if isinstance(piece, Draft)]
    derived = iter(_written(tables, stored, drafts, Kind.DERIVED))
    pieces: list[Piece] = [
        next(derived) if isinstance(piece, Draft) else piece for piece in change.pieces
    ]
    size = session.size + len(drafts)
    view = View(
        id=next(tables.numbers),
        session=session.id,
        parent=stored.view,
        cause=change.cause,
        spans=_spans(tables, [*pieces, *late]),
        upto=size,
        at=change.at,
    )
    passes = stored.compactions
    if change.compaction is not None:
        record = replace(
            change.compaction,
            id=next(tables.numbers),
            session=session.id,
            before=stored.view,
            after=view.id,
            report=copied_json(change.compaction.report),
        )
        passes = (*passes, record)
    stored = replace(
        stored,
        session=replace(session, size=size, generation=session.generation + 1),
        view=view.id,
        tip=view.id,
        views=(*stored.views, view),
        compactions=passes,
    )
    tables.sessions[session.id] = stored
    return stored.head


def _spans(tables: Tables, entries: Iterable[Piece]) -> tuple[Span, ...]:
    """Return entries by reference; each must stand in the log that it names."""
    places = [
        (entry.session, entry.position, entry.position)
        for entry in entries
        if isinstance(entry, Entry)
    ]
    spans = tuple(Span(*span) for span in merge_spans(places))
    for span in spans:
        if tables.sessions.get(span.session) is None:
            raise unknown_session(span.session)
        positions = range(span.first, span.last + 1)
        if any(tables.log.get((span.session, each)) is None for each in positions):
            raise UnknownSession(
                f"session {span.session} has no messages {span.first} to {span.last} to show"
            )
    return spans


def _give_key(tables: Tables, id_: str, key: str) -> None:
    holder = tables.sessions.get(tables.keys.get(key) or "")
    if holder is not None and holder.session.id != id_:
        if holder.session.trashed is None:
            raise key_taken(key, holder.session.id)
        _without_key(tables, holder)
    stored = _without_key(tables, tables.found(id_))
    tables.sessions[id_] = replace(stored, session=replace(stored.session, key=key))
    tables.keys[key] = id_


def _without_key(tables: Tables, stored: SessionRecord) -> SessionRecord:
    if stored.session.key is not None:
        tables.keys[stored.session.key] = None
        stored = replace(stored, session=replace(stored.session, key=None))
        tables.sessions[stored.session.id] = stored
    return stored
