"""The store as a port: everything that outlives a process, behind methods that say what happens.

The message log only grows. What the model sees is a view of it, and a view is changed by
compare-and-swap, so that two writers can neither fork a conversation nor lose a message. All
methods block and may be called from any thread; `holdfast.testing.StoreSuite` says what an
implementation must do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from holdfast.errors import StoreError
from holdfast.session import Usage, is_among

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from holdfast.recall import Filters, Hit
    from holdfast.session import (
        Addition,
        Change,
        CompactionRecord,
        Draft,
        EndReason,
        Entry,
        Fork,
        Head,
        Refreshed,
        Session,
        SessionState,
        Spawn,
        View,
        Window,
    )
    from holdfast.transcript import Message


class Capability(StrEnum):
    """What a store can do."""

    LOG = "log"
    """Sessions, messages, windows and lineage."""
    SEARCH = "search"
    """Full-text search over everything that was said."""
    LEASES = "leases"
    """Who compacts which session."""
    TRASH = "trash"
    """Sessions out of sight, back again, and deleted for good."""
    DURABLE = "durable"
    """What was written is there for other processes, and when the store is opened again."""
    BACKUP = "backup"
    """A consistent copy in a file, taken while others write."""
    REPAIR = "repair"
    """Damage is found, and what can be read is saved."""


REQUIRED = frozenset({Capability.LOG, Capability.SEARCH, Capability.LEASES, Capability.TRASH})
"""What every store can do."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a check found; no problems means that everything that was written can be read."""

    problems: tuple[str, ...]
    sessions: int = 0
    messages: int = 0
    bytes: int = 0
    """What the store takes; 0 where it does not say."""
    version: int = 0
    """Of the layout in which it is stored; 0 where there is none."""


class Trash(Protocol):
    """Sessions out of sight: nothing is thrown away unless somebody asks for it by name."""

    def trash(self, ids: Sequence[str], at: int, *, unless_used_since: int | None = None) -> int:
        """Put sessions into the trash, out of lists and search; returns how many.

        Args:
            ids: The sessions.
            at: The time.
            unless_used_since: Leaves conversations as they are in which anything was said at
                this time or later, in whichever of their sessions that are not in the trash.
        """
        ...

    def restore(self, ids: Sequence[str]) -> int:
        """Take sessions out of the trash; returns how many."""
        ...

    def purge(self, ids: Sequence[str]) -> int:
        """Delete trashed sessions for good, with messages that nothing else shows.

        Without sessions, what an interrupted call has left is deleted.
        """
        ...


@runtime_checkable
class FileUpkeep(Protocol):
    """Care for a store that is one file."""

    @property
    def file(self) -> Path:
        """Return where the file is."""
        ...

    def repair(self) -> tuple[str, ...]:
        """Rebuild what can be rebuilt from the log; returns what was done."""
        ...

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others go on reading and writing."""
        ...


def file_upkeep(store: object, name: str) -> FileUpkeep:
    """Return what takes care of a store's file.

    Raises:
        StoreError: when the store is not kept in a file.
    """
    if isinstance(store, FileUpkeep):
        return store
    raise StoreError(f"{name} is not kept in a file, so that it can be neither copied nor repaired")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Which sessions are wanted; the newest come first."""

    sources: tuple[str, ...] = ()
    """Only these; empty means all. `import:` stands for every import."""
    exclude_sources: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    title: str = ""
    """Only sessions whose title holds this, whatever the case."""
    trashed: bool = False
    """The sessions in the trash instead of the others."""
    live: bool | None = None
    limit: int | None = 50
    offset: int = 0

    def admits(self, session: Session) -> bool:
        """Say whether a session is wanted, limit and offset aside."""
        return (
            (session.trashed is not None) == self.trashed
            and (not self.sources or is_among(session.source, self.sources))
            and not is_among(session.source, self.exclude_sources)
            and (self.since is None or session.touched >= self.since)
            and (self.until is None or session.touched <= self.until)
            and self.title.casefold() in session.title.casefold()
            and (self.live is None or (session.ended is None) == self.live)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """What is to be different about a session; None leaves it as it is."""

    title: str | None = None
    goal: str | None = None
    model: str | None = None
    key: str | None = None
    """What the caller calls the conversation; an empty text takes its key away."""
    metadata: Mapping[str, object] | None = None
    """Keys to set; a value of None takes the key away."""
    parent: str | None = None
    """The session that it came from, for one that had none: those that came from it go along."""
    fork: Fork | None = None
    """How it came from that parent."""
    usage: Usage | None = None
    """What is added to its totals; less than nothing is taken from them."""
    was: Mapping[str, object] | None = None
    """The metadata that the caller has seen; nothing is changed where they are others."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who works on a session, and until when."""

    session: str
    holder: str
    """`pid:thread:agent:nonce:@machine`."""
    expires: int


class SessionLog(Protocol):
    """Sessions, their logs and the views of them."""

    def create(self, session: Session) -> Session:
        """Add a session without a parent; `Conflict` when its id or its key is taken."""
        ...

    def session(self, id_: str) -> Session:
        """Return a session; one that is not there raises `UnknownSession`."""
        ...

    def keyed(self, key: str) -> Session | None:
        """Return the session outside the trash that the caller gave a key, if there is one."""
        ...

    def state(self, id_: str) -> SessionState:
        """Return everything about a session but its messages, in one read."""
        ...

    def refresh(self, id_: str, known: Head | None) -> Refreshed:
        """Return the state of a session, and what its window shows that a reader does not have.

        It is one read: entries and state are of the same moment.

        Args:
            id_: The session.
            known: Where the session stood when the reader looked last; None if never.
        """
        ...

    def sessions(self, wanted: Listing) -> tuple[Session, ...]:
        """Return the sessions that are wanted, the one touched last first."""
        ...

    def lineage(self, id_: str) -> tuple[Session, ...]:
        """Return every session with the same root, trashed or not: the root, then the oldest."""
        ...

    def amend(self, id_: str, amendment: Amendment) -> Session:
        """Change what may change about a session, in one step.

        `Conflict` when it was changed by another, is given a key that another has, or is given a
        parent though it has one or the parent came from it.
        """
        ...

    def end(self, id_: str, reason: EndReason | None, at: int) -> Session:
        """End a session; without a reason, reopen one whose end can be taken back."""
        ...

    def append(
        self,
        id_: str,
        drafts: Sequence[Draft],
        usage: Usage = Usage(),  # noqa: B008 - a frozen value
        *,
        size: int | None = None,
    ) -> tuple[Entry, ...]:
        """Write messages to the end of the log: when this returns, they are durable.

        Nothing is written to one that ended (`SessionEnded`) or has another size (`Conflict`).
        """
        ...

    def add(self, additions: Sequence[Addition]) -> None:
        """Write to many sessions in one step, which creates those that are new.

        All of it is written or nothing: `Conflict` and `SessionEnded` as for one of them alone.
        """
        ...

    def head(self, id_: str) -> Head:
        """Return where the session stands."""
        ...

    def window(self, id_: str) -> Window:
        """Return what the current view shows, reading nothing else."""
        ...

    def window_at(self, id_: str, view: int | None) -> Window:
        """Return what another view of the session shows now; None is the plain log."""
        ...

    def since(self, id_: str, position: int) -> tuple[Entry, ...]:
        """Return what was said in the session itself after a position."""
        ...

    def entries(self, id_: str, first: int, last: int) -> tuple[Entry, ...]:
        """Return a stretch of the log, derived entries included."""
        ...

    def said(self, id_: str, position: int, *, before: int, after: int) -> tuple[Entry, ...]:
        """Return what was said next to a position, reading nothing else.

        Args:
            position: A place in its log.
            before: How many messages up to and including the position, the nearest ones.
            after: How many messages behind it.
        """
        ...

    def count_said(self, id_: str, upto: int) -> int:
        """Return how many messages were said in the session itself up to a position."""
        ...

    def entry(self, message_id: int) -> Entry:
        """Return one entry; one that is not there raises `UnknownSession`."""
        ...

    def whole(self, message_id: int) -> Message:
        """Return a message as it was said, however the window shows it."""
        ...

    def change(self, id_: str, change: Change) -> Head:
        """Give the session another window, in one step; `Conflict` if another came first."""
        ...

    def move(self, id_: str, view: int | None, generation: int) -> Head:
        """Show one of the session's other views, for undo and redo; `Conflict` as above."""
        ...

    def views(self, id_: str) -> tuple[View, ...]:
        """Return every view that the session had, oldest first."""
        ...

    def tip(self, id_: str) -> int | None:
        """Return the newest view of the line that the session is on, which redo moves to."""
        ...

    def compactions(self, id_: str) -> tuple[CompactionRecord, ...]:
        """Return every pass over the session, oldest first."""
        ...

    def count_compactions(self, id_: str) -> int:
        """Return how many passes over the session there were, without reading them."""
        ...

    def spawn(self, spawn: Spawn, before_commit: Callable[[], None] | None = None) -> Session:
        """Create a child session and end its parent if asked, in one step.

        A parent that ends hands its key over, unless the child has one of its own.

        Args:
            spawn: The child, with the parent's id in it.
            before_commit: Called when everything is written and nothing is final yet; if it
                raises, nothing has happened.
        """
        ...

    def pin(self, id_: str, message_id: int, *, pinned: bool) -> None:
        """Let compactions of the session keep a message word for word, or no longer."""
        ...

    def pins(self, id_: str) -> frozenset[int]:
        """Return the ids of the pinned messages."""
        ...

    def remember(self, name: str, value: str) -> None:
        """Keep a small value under a name, such as a model's true window."""
        ...

    def remembered(self, name: str) -> str | None:
        """Return the value kept under a name."""
        ...


class Index(Protocol):
    """Search over everything that was ever said."""

    def search(self, query: str, filters: Filters, *, limit: int, now: int) -> tuple[Hit, ...]:
        """Return the best matches, best first; any text is a valid query."""
        ...


class Leases(Protocol):
    """Who compacts which session."""

    def acquire(self, lease: Lease, now: int) -> Lease:
        """Take or renew a lease; what is returned is another's when another holds it."""
        ...

    def release(self, lease: Lease) -> None:
        """Give a lease back; another's lease stays."""
        ...


class Store(SessionLog, Index, Leases, Trash, Protocol):
    """A place for sessions; most outlive a process."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Return what it can do: at least what is `REQUIRED`."""
        ...

    @property
    def name(self) -> str:
        """Return where it is, for messages to people."""
        ...

    def check(self) -> Health:
        """Return what is wrong with the store, if anything."""
        ...

    def close(self) -> None:
        """Let go of files and connections; closing twice is harmless."""
        ...
