"""Sessions of strands as they are to be created: ids, times, where they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.exchange.describing import described
from holdfast.exchange.identity import countable
from holdfast.exchange.strands import sane
from holdfast.session import Fork, Session, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.exchange.families import Families
    from holdfast.exchange.identity import Origin
    from holdfast.exchange.matching import Target
    from holdfast.exchange.strands import Strand
    from holdfast.ports import Store
    from holdfast.session import Entry
    from holdfast.transcript import Message

__all__ = ["Forking", "Making", "Surroundings", "create_session", "moment_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a reading works with."""

    store: Store
    weigh: Callable[[Message], int]
    now: Callable[[], int]
    origin: Origin
    families: Families
    targets: Mapping[str, Target]
    """Where strands go on, as far as an earlier reading has found out."""


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


def create_session(around: Surroundings, strand: Strand, making: Making, first: str) -> Session:
    """Create the session of a strand.

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
        known = replace(known, imported=imported)
    identity = known.imported.identity
    session = Session(
        id=making.id or around.families.unused_id(identity, began, first),
        source=f"import:{around.origin.system}",
        started=moment_of(around, strand) if began is None else began,
        title=known.title,
        model=known.model,
        parent=None if fork is None else fork.parent,
        fork=None if fork is None else fork.kind,
        usage=countable(strand.about.usage) or Usage(),
        metadata=known.imported.metadata(),
    )
    return around.families.create(session, () if fork is None else fork.shows)


def moment_of(around: Surroundings, strand: Strand) -> int:
    """Return the time of what is told now: its own, or the last that is known."""
    known = (strand.gist.at, sane(strand.about.started), sane(around.origin.modified))
    found = next((at for at in known if at is not None), None)
    return around.now() if found is None else found
