"""Makes the rows of imported sessions: ids, times, titles, models, and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import Conflict
from holdfast.ports import Amendment
from holdfast.session import Fork, Session, Spawn, Usage, next_title, title_from
from holdfast.transfer.identity import (
    Identity,
    ImportRecord,
    countable,
    import_record,
    proposed_ids,
)
from holdfast.transfer.resuming import own_or_free
from holdfast.transfer.session_writer import SessionWriter
from holdfast.transfer.strands import sane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.ports import Store
    from holdfast.session import Entry
    from holdfast.transcript import Message
    from holdfast.transfer.identity import ImportOrigin
    from holdfast.transfer.imported_index import ImportedIndex
    from holdfast.transfer.resuming import BranchIndex, ResumePoint
    from holdfast.transfer.strands import StrandImport


@dataclass(frozen=True, slots=True)
class StrandDescription:
    """Title, model and import record of the session of a strand."""

    title: str
    model: str
    imported: ImportRecord


def identity_of(strand: StrandImport, origin: ImportOrigin) -> Identity:
    """Return what makes a strand the same one in the next reading."""
    return Identity.of(origin, strand.name, strand.begun.strand)


def describe(strand: StrandImport, origin: ImportOrigin) -> StrandDescription:
    """Return what is known of a strand by now."""
    title = _title(strand)
    imported = ImportRecord(
        identity=identity_of(strand, origin), file=origin.file, about=strand.about, title=title
    )
    return StrandDescription(title, strand.facts.model or strand.about.model, imported)


def update_description(store: Store, strand: StrandImport, origin: ImportOrigin) -> None:
    """Write what was learned of a strand after its session was created.

    A title that the user gave stays. So does the path that the session was first read from.
    """
    writer = strand.state
    if not isinstance(writer, SessionWriter) or writer.session is None:
        return
    session = writer.session
    now, before = describe(strand, origin), import_record(session)
    # A branch of a file that goes on in one of its own keeps the name that it has there.
    if before is None or before.identity.strand != now.imported.identity.strand:
        return
    imported = replace(
        now.imported,
        file=before.file,
        mark=before.mark,
        place=before.place,
        repeated=before.repeated,
        begins=before.begins,
    )
    metadata = imported.metadata()
    changed = {key: value for key, value in metadata.items() if session.metadata.get(key) != value}
    title = now.title if session.title == before.title != now.title else None
    model = now.model if now.model != session.model else None
    if changed or title is not None or model:
        writer.session = store.amend(
            session.id, Amendment(title=title, model=model or None, metadata=changed or None)
        )


def count_stated_usage(store: Store, strand: StrandImport, origin: ImportOrigin) -> None:
    """Count what a file states as the cost of the whole, less what its messages have told of it.

    It is the difference to what is counted, whenever an earlier import was stopped. A branch has
    no total of its own: the session that it left has counted it.
    """
    writer, stated = strand.state, countable(strand.about.usage)
    if stated is None or not isinstance(writer, SessionWriter) or writer.session is None:
        return
    imported = import_record(writer.session)
    if imported is None or imported.mark:
        return
    if imported.identity.strand != identity_of(strand, origin).strand:
        return
    counted = store.session(writer.id).usage + (imported.repeated or Usage())
    missing = Usage(
        **{
            name: max(getattr(stated, name) - getattr(counted, name), 0)
            for name in Usage.__dataclass_fields__
        }
    )
    if missing != Usage():
        store.append(writer.id, (), missing)


def _title(strand: StrandImport) -> str:
    branches = 0
    while not strand.about.title and strand.begun.fork is Fork.BRANCH and strand.parent is not None:
        strand, branches = strand.parent, branches + 1
    title = strand.about.title or title_from(strand.facts.opening)
    if not branches:
        return title
    stem, mark, number = next_title(title, ()).rpartition("#")
    return f"{stem}{mark}{int(number) + branches - 1}" if stem else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportContext:
    """What the import of a file works with."""

    store: Store
    weigh: Callable[[Message], int]
    origin: ImportOrigin
    imported_index: ImportedIndex
    branch_index: BranchIndex
    targets: Mapping[str, ResumePoint]
    """Where strands go on, as far as an earlier reading has found out."""
    promised: set[str]
    """Ids of sessions that are going to be created."""

    def is_barred(self, id_: str) -> bool:
        """Say whether an id cannot be given to another session."""
        return id_ in self.promised or id_ in self.imported_index.barred

    def is_free(self, id_: str) -> bool:
        """Say whether nothing in the store has an id, as far as is known."""
        return self.imported_index.is_free(self.origin.system, id_)


@dataclass(frozen=True, slots=True)
class ForkPoint:
    """Where a session that is to be created leaves its parent."""

    parent: str
    kind: Fork = Fork.BRANCH
    shows: tuple[Entry, ...] = ()
    mark: str = ""
    """Of the last message that they share."""
    place: int | None = None
    """How many messages of the parent's strand were told before; None for no strand of a file."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """The id, the time and the parent of a session that is to be created."""

    began: int | None
    """When it began, as its file says."""
    id: str = ""
    """Empty for a second session of the same strand, whose id depends on what it begins with."""
    fork: ForkPoint | None = None


def planned_session(
    context: ImportContext, strand: StrandImport, new: NewSession, first: str
) -> Session | Spawn:
    """Return the session of a strand as it is to be created.

    Args:
        new: What is settled of the session.
        first: The mark or the name of what comes first in it.

    Raises:
        Conflict: when somebody has created a second session of the strand meanwhile.
    """
    began, fork = new.began, new.fork
    known = describe(strand, context.origin)
    if fork is not None:
        imported = replace(known.imported, mark=fork.mark, place=fork.place)
    else:
        # A name, which is no mark, has a colon. What came from another is compared with that.
        is_bare = ":" in first or bool(known.imported.about.parent)
        begins = first if strand.facts.is_known and not is_bare else ""
        imported = replace(known.imported, begins=begins)
    identity = imported.identity
    id_ = new.id
    if not id_:
        found = own_or_free(context.store, proposed_ids(identity, began, first), identity, context)
        if not isinstance(found, str):
            raise Conflict(f"session {found.id} was imported by somebody else")
        context.promised.add(found)
        id_ = found
    session = Session(
        id=id_,
        source=f"import:{context.origin.system}",
        started=moment_of(strand) if began is None else began,
        title=known.title,
        model=known.model,
        parent=None if fork is None else fork.parent,
        fork=None if fork is None else fork.kind,
        metadata=imported.metadata(),
    )
    return session if fork is None else Spawn(child=session, shows=fork.shows)


def moment_of(strand: StrandImport) -> int:
    """Return the time of what is told now: its own, or the last that is known, or 0 for none.

    When a file was changed says nothing: whoever copies a session does not use it.
    """
    return strand.facts.at or sane(strand.about.started) or 0
