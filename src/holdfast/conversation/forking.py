"""Sessions that come from others: which they show, what becomes of the parent, who is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.conversation.compacting import switched
from holdfast.ports import Amendment
from holdfast.session import Fork, Session, Spawn, next_title

if TYPE_CHECKING:
    from holdfast.conversation.parts import Parts
    from holdfast.session import EndReason, Entry, Head

__all__ = ["Forking", "forked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forking:
    """How a session is to come from another."""

    fork: Fork
    shows: tuple[Entry, ...] = ()
    head: Head | None = None
    """Where the parent stood when that was read, if what was said there since is to follow."""
    end: EndReason | None = None
    """Why the parent ends; None lets it live on."""
    title: str = ""
    keep_goal: bool = True


def forked(parts: Parts, session: Session, wanted: Forking) -> Session:
    """Create the child in one step with the end of its parent.

    Raises:
        Conflict: when the parent's window was changed since it was read.
    """
    store, fork, head = parts.store, wanted.fork, wanted.head
    taken = [each.title for each in store.lineage(session.id)]
    following = "" if fork is Fork.RESET else next_title(session.title, taken)
    child = Session(
        id=parts.unused_id(),
        source="subagent" if fork is Fork.DELEGATION else session.source,
        started=parts.clock.moment(),
        title=wanted.title or following,
        model=session.model,
        goal=session.goal if wanted.keep_goal else "",
        parent=session.id,
        fork=fork,
        metadata=session.metadata if wanted.shows else {},
    )
    spawn = Spawn(
        child=child,
        shows=wanted.shows,
        parent_end=wanted.end,
        generation=None if head is None else head.generation,
        seen=None if head is None else head.size,
    )
    made = switched(parts, spawn) if wanted.end is not None else store.spawn(spawn)
    if session.goal and not wanted.keep_goal:
        # A child without a goal takes its parent's.
        made = store.amend(made.id, Amendment(goal=""))
    return made
