"""Writes imported messages to sessions, in batches that may belong to several sessions.

A transaction costs more than the messages of a small session, whether many are told in one file or
each in a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import Conflict
from holdfast.formats.events import CompactionEvent
from holdfast.formats.json_access import mapping
from holdfast.session import Addition, Cause, Change, CompactionRecord, Span, Usage
from holdfast.transcript import Media, Text, ToolCall, ToolResult
from holdfast.transfer.identity import countable
from holdfast.transfer.imported_index import created_by
from holdfast.transfer.resuming import StoredSessions, reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.formats.events import RewindEvent
    from holdfast.ports import Store
    from holdfast.session import Draft, Entry, Head, Session, Spawn
    from holdfast.transcript import Message

_Name: TypeAlias = "str | tuple[int, tuple[Span, ...]]"
"""What makes a change the same one: what its agent calls it, or what it shows and when."""
FOLD = "agent"
"""Where the report of a compaction says what its agent said about it."""
BATCH = 500
"""Messages that are written in one transaction."""
Write: TypeAlias = "Callable[[Sequence[Addition]], None]"
_Piece: TypeAlias = tuple["SessionWriter", Addition]


@dataclass(frozen=True, slots=True)
class Count:
    """What was written to the store."""

    messages: int = 0
    tool_calls: int = 0
    images: int = 0
    errors: int = 0
    """Results of tools that failed."""
    compactions: int = 0
    rewinds: int = 0

    def __add__(self, other: Count) -> Count:
        """Add two counts."""
        return Count(
            self.messages + other.messages,
            self.tool_calls + other.tool_calls,
            self.images + other.images,
            self.errors + other.errors,
            self.compactions + other.compactions,
            self.rewinds + other.rewinds,
        )


def count_of(messages: Iterable[Message]) -> Count:
    """Return what messages count for."""
    total = calls = images = errors = 0
    for message in messages:
        total += 1
        for part in message.parts:
            if isinstance(part, Text):
                continue  # first, because most parts are
            if isinstance(part, ToolCall):
                calls += 1
            elif isinstance(part, ToolResult):
                errors += part.is_error
                images += sum(isinstance(piece, Media) for piece in part.content)
            elif isinstance(part, Media):
                images += 1
    return Count(messages=total, tool_calls=calls, images=images, errors=errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterStart:
    """After which message a writer begins, and the session that it writes to or creates."""

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
class ChangeRecord:
    """The time and the summary of a change, for the record that is kept of it."""

    at: int
    summary: str = ""


@dataclass(slots=True)
class _Log:
    """The messages of a writer: how many it has written, and which wait."""

    written: int = 0
    """How many messages this writer has written."""
    pending: list[Draft] = field(default_factory=list["Draft"])
    first: str = ""
    """The mark of the first that waits."""
    usage: Usage | None = None
    """What the waiting ones cost."""
    planned: Session | Spawn | None = None
    """The session, once it is known what comes first in it."""


class SessionWriter:
    """Writes one branch of a file to its session: created with the first message, then appended to.

    Every write says what it expects to find, so that of two who import the same file one comes
    first and the other raises `Conflict` and looks again.
    """

    def __init__(self, store: Store, stored: StoredSessions, start: WriterStart) -> None:
        """Write nothing yet."""
        self.stored = stored
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

        None means that it was stored before this writer began, at a place that is not known.
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

    def confirm(self, addition: Addition) -> None:
        """Take note that what waited was written."""
        if not isinstance(addition.to, str):
            self.session = created_by(addition.to)
        self._log.written += len(addition.drafts)
        self._log.pending.clear()

    def change(
        self, event: CompactionEvent | RewindEvent, pieces: Sequence[Entry], record: ChangeRecord
    ) -> bool:
        """Store a change of the window; returns whether it was not stored before."""
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
        """Read the stored changes, unless they are known."""
        if head.generation == self._generation:
            return
        self._generation = head.generation
        passes = store.compactions(id_)
        self._known = {mapping(each.report.get(FOLD)).get("id") for each in passes}
        views = (each for each in store.views(id_) if each.cause is Cause.REWIND)
        self._known |= {(each.upto, each.spans) for each in views}

    def has(self, name: _Name) -> bool:
        """Say whether a change was made."""
        return name in self._known

    def make(self, name: _Name, head: Head) -> None:
        """Take note that a change was made, which gave the session this head."""
        self._known.add(name)
        self._generation = head.generation


def _compaction(fold: CompactionEvent, record: ChangeRecord) -> CompactionRecord:
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


def _spans(pieces: Sequence[Entry]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for piece in pieces:
        last = spans[-1] if spans else None
        if last is not None and (last.session, last.last + 1) == (piece.session, piece.position):
            spans[-1] = Span(last.session, last.first, piece.position)
        else:
            spans.append(Span(piece.session, piece.position, piece.position))
    return tuple(spans)


class WriteBatch:
    """The messages of one file, of any number of its sessions, that wait for a transaction."""

    def __init__(self, write: Write) -> None:
        """Hold nothing."""
        self.count = Count()
        """What was written."""
        self.learned: set[SessionWriter] = set()
        """Sessions of which more is known than when they were created."""
        self._write = write
        self._waiting: list[SessionWriter] = []
        """Where messages wait, once for each."""

    def put(self, writer: SessionWriter) -> None:
        """Let a message wait that was added to a writer, until there are enough of them."""
        self._waiting.append(writer)
        if len(self._waiting) >= BATCH:
            self.flush()

    def create(self, writer: SessionWriter) -> None:
        """Let the session of a writer wait to be created, even where nothing is told in it."""
        self._waiting.append(writer)

    def flush(self) -> None:
        """Write what waits.

        Raises:
            Conflict: when somebody else has written to one of the sessions.
        """
        writers = [*dict.fromkeys(self._waiting)]
        self._waiting.clear()
        try:
            self._write_all(writers)
        except Conflict:
            if len(writers) == 1:
                raise
            # Whichever others came first with is found when each is written alone.
            for writer in writers:
                self._write_all([writer])

    def pieces(self) -> list[_Piece]:
        """Return what waits; it goes on waiting until it was written."""
        return self._pieces([*dict.fromkeys(self._waiting)])

    def confirm(self, pieces: Sequence[_Piece]) -> None:
        """Take note that all that waited was written."""
        self._waiting.clear()
        self._learn(pieces)

    def _write_all(self, writers: Sequence[SessionWriter]) -> None:
        """Write what waits in one step, however many sessions it belongs to."""
        if not writers:
            return
        pieces = self._pieces(writers)
        self._write([addition for _, addition in pieces])
        self._learn(pieces)

    def _pieces(self, writers: Sequence[SessionWriter]) -> list[_Piece]:
        self.learned.update([writer for writer in writers if writer.is_planned])
        return [(writer, writer.addition()) for writer in writers]

    def _learn(self, pieces: Sequence[_Piece]) -> None:
        for writer, addition in pieces:
            writer.confirm(addition)
        self.count += count_of(
            [draft.message for _, addition in pieces for draft in addition.drafts]
        )


def flush_together(write: Write, batches: Sequence[WriteBatch]) -> None:
    """Write what waits in all of them, in one step.

    Raises:
        Conflict: when somebody else has written to one of the sessions; then all of it still waits.
    """
    pieces = [batch.pieces() for batch in batches]
    additions = [addition for some in pieces for _, addition in some]
    if additions:
        write(additions)
    for batch, some in zip(batches, pieces, strict=True):
        batch.confirm(some)
