"""Sessions of strands as they are to be created: ids, times, where they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import Conflict
from holdfast.session import Fork, Session, Spawn
from holdfast.transfer.describing import described
from holdfast.transfer.identity import proposed_ids
from holdfast.transfer.matching import own_or_free
from holdfast.transfer.strands import sane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.ports import Store
    from holdfast.session import Entry
    from holdfast.transcript import Message
    from holdfast.transfer.families import Families
    from holdfast.transfer.identity import Identity, Origin
    from holdfast.transfer.matching import Relatives, Target
    from holdfast.transfer.strands import Strand

__all__ = ["Forking", "Making", "Surroundings", "moment_of", "planned_session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a reading works with."""

    store: Store
    weigh: Callable[[Message], int]
    now: Callable[[], int]
    origin: Origin
    families: Families
    relatives: Relatives
    targets: Mapping[str, Target]
    """Where strands go on, as far as an earlier reading has found out."""
    promised: set[str]
    """Ids of sessions that are going to be created."""

    def is_barred(self, id_: str) -> bool:
        """Say whether an id cannot be given to another session."""
        return id_ in self.promised or id_ in self.families.barred

    def is_free(self, id_: str) -> bool:
        """Say whether nothing in the store has an id, as far as is known."""
        return self.families.is_free(self.origin.system, id_)


@dataclass(frozen=True, slots=True)
class Forking:
    """How a session is to come from another."""

    parent: str
    kind: Fork = Fork.BRANCH
    shows: tuple[Entry, ...] = ()
    mark: str = ""
    """Of the last message that they share."""
    place: int | None = None
    """How many messages of the parent's strand were told before; None for no strand of a file."""


@dataclass(frozen=True, slots=True)
class Making:
    """What is settled of a session before it is created."""

    began: int | None
    """When it began, as its file says."""
    id: str = ""
    """Empty for a second session of the same strand, whose id depends on what it begins with."""
    fork: Forking | None = None


def planned_session(
    around: Surroundings, strand: Strand, making: Making, first: str
) -> Session | Spawn:
    """Return the session of a strand as it is to be created.

    Args:
        around: What the reading works with.
        strand: The strand.
        making: What is settled of the session.
        first: The mark or the name of what comes first in it.
    """
    began, fork = making.began, making.fork
    known = described(strand, around.origin)
    if fork is not None:
        imported = replace(known.imported, mark=fork.mark, place=fork.place)
    else:
        # A name, which is no mark, has a colon. What came from another is compared with that.
        is_bare = ":" in first or bool(known.imported.about.parent)
        begins = first if strand.gist.is_known and not is_bare else ""
        imported = replace(known.imported, begins=begins)
    identity = imported.identity
    session = Session(
        id=making.id or _unused_id(around, identity, began, first),
        source=f"import:{around.origin.system}",
        started=moment_of(around, strand) if began is None else began,
        title=known.title,
        model=known.model,
        parent=None if fork is None else fork.parent,
        fork=None if fork is None else fork.kind,
        metadata=imported.metadata(),
    )
    return session if fork is None else Spawn(child=session, shows=fork.shows)


def _unused_id(around: Surroundings, identity: Identity, began: int | None, first: str) -> str:
    """Return an id for a second session of a strand.

    Raises:
        Conflict: when somebody has created it meanwhile.
    """
    ids = proposed_ids(identity, began, first)
    id_ = own_or_free(around.store, ids, identity, around)
    if not isinstance(id_, str):
        raise Conflict(f"session {id_.id} was imported by somebody else")
    around.promised.add(id_)
    return id_


def moment_of(around: Surroundings, strand: Strand) -> int:
    """Return the time of what is told now: its own, or the last that is known."""
    at = strand.gist.at
    if at is None:
        at = sane(strand.about.started)
    if at is None:
        at = sane(around.origin.modified)
    return around.now() if at is None else at
