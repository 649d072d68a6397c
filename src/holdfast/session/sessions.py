"""What a session is, the tree that sessions form by their parents, and what may happen to one.

Times are whole milliseconds since the epoch, UTC, so that two machines sort them alike.

Each function looks at values that a store has read and raises what the port promises. What is to
be written afterwards is the store's own affair.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, cast

from holdfast.errors import Conflict, SessionEnded, StoreError, UnknownSession
from holdfast.keywords import names_checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

WINDOW_KEY = "context_length"
"""Where a session's metadata keep the window of its model."""
SERVER_KEY = "server"
"""Where they keep the compatible server at which the model was asked; never a credential."""
REPORTED_KEY = "last_request"
"""Where they keep what the newest large request weighed: as reported, and by estimate."""


class Fork(StrEnum):
    """How a session came from its parent."""

    COMPRESSION = "compression"
    """The parent ended when it was compacted; the child goes on with summary and tail."""
    BRANCH = "branch"
    """The child goes its own way from some point of the parent's window."""
    DELEGATION = "delegation"
    """A sub-agent works on a task while the parent lives on."""
    REVIEW = "review"
    """The child looks at a copy of the parent's window."""
    RESET = "reset"
    """The user began anew."""


class EndReason(StrEnum):
    """Why nothing more is said in a session."""

    COMPRESSION = "compression"
    BRANCHED = "branched"
    RESET = "reset"
    SUBAGENT = "subagent"
    CLOSED = "closed"


CLOSABLE = frozenset({EndReason.CLOSED, EndReason.SUBAGENT, EndReason.RESET})
"""Ends that can be taken back: no other session goes on with what was said here."""


@names_checked
@dataclass(frozen=True, slots=True)
class Usage:
    """What providers reported, added up."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float = 0.0
    """In US dollars, where the host knows prices."""

    @property
    def prompt_tokens(self) -> int:
        """Return what requests weighed, cached parts included."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        """Add two usages."""
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One conversation, as the store knows it."""

    id: str
    source: str
    """Where it comes from: `cli`, `api`, `gateway`, `subagent`, `tool`, `import:<system>`."""
    started: int
    title: str = ""
    model: str = ""
    goal: str = ""
    parent: str | None = None
    fork: Fork | None = None
    root: str = ""
    """The first session of its lineage; its own id when it has no parent."""
    ended: int | None = None
    end_reason: EndReason | None = None
    trashed: int | None = None
    touched: int = 0
    """When its newest message was written; its start while there is none."""
    size: int = 0
    """How many messages its log holds, derived ones included: the newest position."""
    generation: int = 0
    """How often its window was changed by anything but an append."""
    key: str | None = None
    """What the caller calls the conversation; of the sessions outside the trash, one has it.
    A session that ends for its child hands the key over to it."""
    usage: Usage = field(default_factory=Usage)
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def context_length(self) -> int | None:
        """Return the window that it was opened with last, in tokens, where that was said."""
        kept = self.metadata.get(WINDOW_KEY)
        return kept if isinstance(kept, int) and kept > 0 else None

    @property
    def server(self) -> Mapping[str, object]:
        """Return at which compatible server it was held: `base_url`, `provider`, and `named`.

        `named` says that a flag named the server for this conversation. Empty where it was held
        at the provider's own address, or that is not known.
        """
        kept = self.metadata.get(SERVER_KEY)
        return cast("dict[str, object]", kept) if isinstance(kept, dict) else {}

    @property
    def last_request(self) -> tuple[int, int]:
        """Return what its newest large request weighed, as reported and by estimate."""
        match self.metadata.get(REPORTED_KEY):
            case [int() as reported, int() as estimate]:
                return reported, estimate
            case _:
                return 0, 0

    @property
    def is_live(self) -> bool:
        """Say whether messages may still be appended."""
        return self.ended is None and self.trashed is None


def is_among(source: str, sources: Sequence[str]) -> bool:
    """Say whether a source is one of some; `import:` stands for all that begin so."""
    return any(
        source.startswith(each) if each.endswith(":") else source == each for each in sources
    )


UNDATED = "undated"
"""What begins the id of a session of which nobody knows when it was."""


def session_id(moment: str, nonce: int) -> str:
    """Return a new id from a moment such as `20261116_093000`, or `UNDATED`, and a number."""
    return f"{moment}_{nonce & 0xFFFFFF:06x}"


_FOLLOWED = {
    EndReason.COMPRESSION: Fork.COMPRESSION,
    EndReason.BRANCHED: Fork.BRANCH,
    EndReason.RESET: Fork.RESET,
}
"""In which child a conversation goes on, by why its session ended."""
_NUMBERED = re.compile(r"(?P<stem>.*) #(?P<number>\d+)", re.DOTALL)
_PLACES = {"folder": "cwd", "branch": "git_branch", "version": "version", "file": "file"}
"""What people ask about where a session took place, and what its metadata call it."""


def children_of(lineage: Iterable[Session], parent: str) -> tuple[Session, ...]:
    """Return the children of a session, oldest first."""
    found = [session for session in lineage if session.parent == parent]
    return tuple(sorted(found, key=lambda session: (session.started, session.id)))


def path_to(lineage: Sequence[Session], id_: str) -> tuple[Session, ...]:
    """Return the sessions from the root down to this one."""
    known = {session.id: session for session in lineage}
    path: list[Session] = []
    # Each is taken out, so that the path ends however the parents lead.
    at = known.pop(id_, None)
    while at is not None:
        path.append(at)
        at = known.pop(at.parent, None) if at.parent else None
    return tuple(reversed(path))


def places_of(path: Sequence[Session]) -> dict[str, str]:
    """Return where a session took place, as far as it or a session before it says.

    A branch goes on where its parent was, so that only what is different is stored with it.

    Args:
        path: The sessions that it came from, the oldest first, and itself.
    """
    found: dict[str, str] = {}
    for session in path:
        imported = session.metadata.get("import")
        about = cast("dict[str, object]", imported if isinstance(imported, dict) else {})
        for label, key in _PLACES.items():
            value = (about if key == "file" else session.metadata).get(key)
            if isinstance(value, str) and value:
                found[label] = value
    return {label: found[label] for label in _PLACES if label in found}


def siblings_of(lineage: Sequence[Session], id_: str) -> tuple[Session, ...]:
    """Return the other children of the session's parent."""
    parent = next((session.parent for session in lineage if session.id == id_), None)
    if parent is None:
        return ()
    return tuple(each for each in children_of(lineage, parent) if each.id != id_)


def latest_leaf(lineage: Sequence[Session], id_: str) -> Session:
    """Return the session in which this one goes on.

    A session that lives is its own leaf. One that ended goes on in the child that it ended for:
    a branch that was made beside it is another conversation. Where no such child is left, the
    end of the line is the answer.
    """
    at = next(session for session in lineage if session.id == id_)
    seen: set[str] = set()
    while not at.is_live and at.id not in seen:
        seen.add(at.id)
        onward = _successor(lineage, at)
        if onward is None:
            break
        at = onward
    return at


def _successor(lineage: Sequence[Session], session: Session) -> Session | None:
    wanted = _FOLLOWED.get(session.end_reason) if session.end_reason else None
    children = [
        child
        for child in children_of(lineage, session.id)
        if child.fork is wanted and wanted is not None and child.trashed is None
    ]
    # The child that a session ends for is begun at the very moment of its end.
    ending = [child for child in children if child.started == session.ended]
    return (ending or children or [None])[-1]


def next_title(title: str, taken: Iterable[str]) -> str:
    """Return the title of the next session of a lineage: `Task`, `Task #2`, `Task #3`."""
    match = _NUMBERED.fullmatch(title)
    stem = match["stem"] if match else title
    if not stem:
        return ""
    highest = 1
    for other in (title, *taken):
        found = _NUMBERED.fullmatch(other)
        if found and found["stem"] == stem:
            highest = max(highest, int(found["number"]))
    return f"{stem} #{highest + 1}"


def unknown_session(id_: str) -> UnknownSession:
    """Return the error for a session that is not there."""
    return UnknownSession(f"there is no session {id_!r}; `holdfast sessions list` shows all")


def id_taken(id_: str) -> Conflict:
    """Return the error for an id that a session has already."""
    return Conflict(f"there is a session {id_} already; choose another id")


def key_taken(key: str, holder: str) -> Conflict:
    """Return the error for a caller's key that another session has."""
    return Conflict(f"session {holder} has the key {key!r} already")


def not_in_trash(id_: str) -> StoreError:
    """Return the error for a session that is to be deleted and was not put into the trash."""
    return StoreError(f"session {id_} is not in the trash; put it there first")


def check_live(session: Session, lineage: Callable[[], Sequence[Session]]) -> None:
    """Raise `SessionEnded` when nothing may be added to a session; it says where it goes on.

    Args:
        session: The session.
        lineage: Reads every session with the same root.
    """
    if session.trashed is not None:
        raise SessionEnded(f"session {session.id} is in the trash; restore it first")
    if session.ended is not None:
        onward = latest_leaf(lineage(), session.id)
        where = f"; it goes on in {onward.id}" if onward.id != session.id else ""
        raise SessionEnded(f"session {session.id} has ended ({session.end_reason}){where}")


def check_generation(id_: str, generation: int, expected: int) -> None:
    """Raise `Conflict` when the window is not the one that was read."""
    if generation != expected:
        raise Conflict(
            f"session {id_} was changed by somebody else since its window was read "
            f"(generation {generation}, expected {expected}); read it again"
        )


def check_size(id_: str, size: int, expected: int | None) -> None:
    """Raise `Conflict` when the log is not as long as a writer has seen it."""
    if expected is not None and size != expected:
        raise Conflict(
            f"session {id_} was written to by somebody else since it was read "
            f"({size} messages, expected {expected}); read it again"
        )


def check_adoption(session: Session, parent: Session) -> None:
    """Raise `Conflict` when a session cannot have come from a parent that is named later."""
    if session.parent is not None or session.root != session.id:
        raise Conflict(f"session {session.id} has come from another one already")
    if parent.root == session.id:
        raise Conflict(
            f"session {parent.id} came from {session.id}, so that cannot have come from it"
        )


def amended_metadata(
    id_: str,
    stored: Mapping[str, object],
    changes: Mapping[str, object],
    seen: Mapping[str, object] | None,
) -> dict[str, object]:
    """Return metadata with changes; a value of None takes a key away.

    Args:
        id_: The session.
        stored: Its metadata.
        changes: What is to be different.
        seen: The metadata that the caller has seen; others are a `Conflict`.
    """
    if seen is not None and stored != seen:
        raise Conflict(f"session {id_} was changed by somebody else; look at it again")
    changed = {**stored, **changes}
    return {name: value for name, value in changed.items() if value is not None}


def ended(session: Session, reason: EndReason | None, at: int) -> Session:
    """Return a session ended for a reason, or reopened without one.

    The first end stands: a session that was compacted away does not become one that was closed.
    """
    if reason is None and session.end_reason is not None and session.end_reason not in CLOSABLE:
        raise SessionEnded(
            f"session {session.id} has ended ({session.end_reason}), and that cannot be taken back"
        )
    if (reason is None) == (session.ended is None):
        return session
    return replace(session, ended=None if reason is None else at, end_reason=reason)
