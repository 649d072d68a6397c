"""Writes a strand to its session: created when something is said, appended to in batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.errors import Conflict
from holdfast.formats.events import CompactionEvent
from holdfast.session import Addition, Cause, Change, CompactionRecord, Span, Usage
from holdfast.transfer.families import created_by
from holdfast.transfer.identity import countable
from holdfast.transfer.matching import Shelf, reference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.formats.events import RewindEvent
    from holdfast.ports import Store
    from holdfast.session import Draft, Entry, Head, Session, Spawn

__all__ = ["FOLD", "Landing", "Record", "Start"]

_Name: TypeAlias = "str | tuple[int, tuple[Span, ...]]"
"""What makes a change the same one: what its agent calls it, or what it shows and when."""

FOLD = "agent"
"""Where the report of a compaction says what its agent said about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where the writing begins."""

    index: int
    """How many messages of the strand are stored."""
    session: Session | None
    """The session that takes the rest; None when it is to be created."""
    id: str = ""
    """The id of one that is to be created; empty where it depends on what comes first in it."""
    plan: Callable[[str], Session | Spawn]
    """Returns the session to create, from the mark or the name of what comes first in it."""
    write: Callable[[Sequence[Addition]], None]
    """Writes to the store, in one step."""


@dataclass(frozen=True, slots=True)
class Record:
    """What goes into the record of a change besides what the agent said about it."""

    at: int
    summary: str = ""


@dataclass(slots=True)
class _Log:
    """What is known of the session's log."""

    written: int = 0
    """How many messages this landing has written."""
    pending: list[Draft] = field(default_factory=list["Draft"])
    first: str = ""
    """The mark of the first that waits."""
    usage: Usage | None = None
    """What the waiting ones cost."""
    planned: Session | Spawn | None = None
    """The session, once it is known what comes first in it."""


class Landing:
    """A session that a strand is written to.

    Every write says what it expects to find, so that of two who import the same file one comes
    first and the other raises `Conflict` and looks again.
    """

    def __init__(self, store: Store, shelf: Shelf, start: Start) -> None:
        """Write nothing yet."""
        self.shelf = shelf
        self.session = start.session
        self._base = 0 if start.session is None else start.session.size
        self._store = store
        self._start = start
        self._log = _Log()
        self._changes = _Changes()

    @property
    def id(self) -> str:
        """Return the id of the session, which need not be created yet."""
        if self.session is not None:
            return self.session.id
        return self._start.id or created_by(self._planned(self._log.first)).id

    @property
    def is_fresh(self) -> bool:
        """Say whether the session is created for what is written."""
        return self._start.session is None

    @property
    def is_planned(self) -> bool:
        """Say whether it is settled how the session is described at first."""
        return self.session is not None or self._log.planned is not None

    @property
    def written(self) -> int:
        """Return how many messages were written."""
        return self._log.written

    def add(self, draft: Draft, mark: str, usage: Usage | None) -> None:
        """Let a message wait for its batch."""
        log = self._log
        if not log.pending:
            log.first, log.usage = mark, None
        if (counted := countable(usage)) is not None:
            log.usage = counted if log.usage is None else log.usage + counted
        log.pending.append(draft)

    def entry(self, index: int) -> Entry | None:
        """Return a message of the strand by its number, without what it says.

        None means that it was stored before this landing began, at a place that is not known.
        """
        first, base = self._start.index, self._base
        # Nothing but the strand is in the log as long as there are as many messages in both.
        is_known = index >= first or base == first
        return reference(self.id, base + 1 + index - first) if is_known else None

    def addition(self) -> Addition:
        """Return what waits, with the session if it is to be created."""
        log, session = self._log, self.session
        return Addition(
            to=self._planned(log.first) if session is None else session.id,
            drafts=tuple(log.pending),
            usage=log.usage,
            size=self._base + log.written,
        )

    def landed(self, addition: Addition) -> None:
        """Learn that what waited was written."""
        if not isinstance(addition.to, str):
            self.session = created_by(addition.to)
        self._log.written += len(addition.drafts)
        self._log.pending.clear()

    def change(
        self, event: CompactionEvent | RewindEvent, pieces: Sequence[Entry], record: Record
    ) -> bool:
        """Show other messages from here on; says whether that was not done before."""
        fold = event if isinstance(event, CompactionEvent) else None
        session = self.made("" if fold is None else f"fold:{fold.id}")
        # In this order: who makes the same change after the look finds another generation.
        head = self._store.head(session.id)
        self._changes.look(self._store, session.id, head)
        size = self._base + self._log.written
        name = (size, _spans(pieces)) if fold is None else fold.id
        if self._changes.has(name):
            return False
        if head.size != size:
            raise Conflict(f"session {session.id} was written to by somebody else")
        changed = self._store.change(
            session.id,
            Change(
                cause=Cause.REWIND if fold is None else Cause.COMPACTION,
                pieces=tuple(pieces),
                generation=head.generation,
                seen=size,
                at=record.at,
                compaction=None if fold is None else _compaction(fold, record),
            ),
        )
        self._changes.make(name, changed)
        return True

    def made(self, first: str = "") -> Session:
        """Return the session, which is created if it is not there.

        Args:
            first: The mark or the name of what will come first in it.
        """
        if self.session is None:
            planned = self._planned(first)
            self._start.write((Addition(to=planned),))
            self.session = created_by(planned)
        return self.session

    def _planned(self, first: str) -> Session | Spawn:
        # Once, because an id that was proposed is not proposed again.
        if self._log.planned is None:
            self._log.planned = self._start.plan(first)
        return self._log.planned


class _Changes:
    """The changes of a window that are stored, by an import that was stopped later or by this one.

    They are read again only when somebody else has made one: a file may tell thousands.
    """

    def __init__(self) -> None:
        self._generation: int | None = None
        self._known: set[object] = set()

    def look(self, store: Store, id_: str, head: Head) -> None:
        """Learn what is stored, unless that is known."""
        if head.generation == self._generation:
            return
        self._generation = head.generation
        self._known = {_fold_id(each.report) for each in store.compactions(id_)}
        views = (each for each in store.views(id_) if each.cause is Cause.REWIND)
        self._known |= {(each.upto, each.spans) for each in views}

    def has(self, name: _Name) -> bool:
        """Say whether a change was made."""
        return name in self._known

    def make(self, name: _Name, head: Head) -> None:
        """Learn that a change was made, and that the session stands there now."""
        self._known.add(name)
        self._generation = head.generation


def _compaction(fold: CompactionEvent, record: Record) -> CompactionRecord:
    said: dict[str, object] = {
        "id": fold.id,
        "at": fold.at,
        "trigger": fold.trigger,
        "tokens_before": fold.tokens_before,
        "tokens_after": fold.tokens_after,
    }
    report: dict[str, object] = {FOLD: said}
    if fold.tokens_before is not None and fold.tokens_after is not None:
        report |= {"tokens_before": fold.tokens_before, "tokens_after": fold.tokens_after}
    return CompactionRecord(at=record.at, trigger=FOLD, summary=record.summary, report=report)


def _fold_id(report: Mapping[str, object]) -> object:
    said = report.get(FOLD)
    return cast("dict[str, object]", said).get("id") if isinstance(said, dict) else None


def _spans(pieces: Sequence[Entry]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for piece in pieces:
        last = spans[-1] if spans else None
        if last is not None and (last.session, last.last + 1) == (piece.session, piece.position):
            spans[-1] = Span(last.session, last.first, piece.position)
        else:
            spans.append(Span(piece.session, piece.position, piece.position))
    return tuple(spans)
