"""One reading of a file into the store, from its first event to its last."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
    with_native,
)
from holdfast.session import Draft, Fork
from holdfast.transfer.identity import proposed_ids
from holdfast.transfer.new_session import (
    ForkPoint,
    NewSession,
    count_stated_usage,
    identity_of,
    moment_of,
    planned_session,
    update_description,
)
from holdfast.transfer.resuming import LeftAlone, Resuming, StoredSessions, own_or_free
from holdfast.transfer.session_writer import (
    ChangeRecord,
    Count,
    SessionWriter,
    WriteBatch,
    WriterStart,
)
from holdfast.transfer.strands import StrandImport, sane

if TYPE_CHECKING:
    from holdfast.formats.events import Event
    from holdfast.transfer.new_session import ImportContext
    from holdfast.transfer.resuming import ResumePoint


@dataclass(frozen=True, slots=True)
class Skipped:
    """A conversation that was left as it is, though its file tells more."""

    session: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTally:
    """What an import of one file, or of many, has brought."""

    sessions: tuple[str, ...] = ()
    """The sessions that were created, branches and sub-agents among them."""
    grown: tuple[str, ...] = ()
    """The sessions that were there and have more in them now."""
    unchanged: tuple[str, ...] = ()
    """The sessions that had everything already."""
    branches: int = 0
    """How many of the created ones go on from some point of another."""
    count: Count = field(default_factory=Count)
    skipped: tuple[Skipped, ...] = ()
    problems: tuple[Problem, ...] = ()

    def __add__(self, other: ImportTally) -> ImportTally:
        """Add what became of another file."""
        return replace(
            self,
            sessions=self.sessions + other.sessions,
            grown=self.grown + other.grown,
            unchanged=self.unchanged + other.unchanged,
            branches=self.branches + other.branches,
            count=self.count + other.count,
            skipped=self.skipped + other.skipped,
            problems=self.problems + other.problems,
        )


class FileImport:
    """Follows the events of a file, and writes what is not stored."""

    def __init__(self, context: ImportContext) -> None:
        """Begin with nothing told."""
        self.targets: dict[str, ResumePoint] = {}
        """Where strands go on that must be read once more."""
        self.batch = WriteBatch(context.imported_index.add)
        """What waits to be written."""
        self._context = context
        self._strands: dict[str, StrandImport] = {}
        self._count = Count()
        """Compactions and rewinds; the batch counts messages."""
        self._problems: list[Problem] = []
        self._named: dict[str, StrandImport] = {}
        """Conversations by what their agent calls them."""

    @property
    def is_resuming(self) -> bool:
        """Say whether it is open where some of what was told goes on."""
        return any(isinstance(each.state, Resuming) for each in self._strands.values())

    def take(self, event: Event) -> None:
        """Follow one event."""
        match event:
            case MessageEvent():
                self._tell(event)
            case StrandStarted():
                self._begin(event)
            case MetadataUpdated(strand=strand, about=about):
                self._note(self._strand(strand), about)
            case CompactionEvent() | RewindEvent():
                self._change(event)
            case Problem():
                self._problems.append(event)

    def finish(self) -> None:
        """Write what still waits, and find out where unfinished strands go on."""
        self.batch.flush()
        for name, strand in self._strands.items():
            match strand.state:
                case SessionWriter() as writer:
                    # A branch may be called after the strand that it left, whatever happened to it.
                    is_alone = strand.begun.fork is not Fork.BRANCH
                    is_new = writer.is_fresh and is_alone and writer not in self.batch.learned
                    if not is_new:
                        update_description(self._context.store, strand, self._context.origin)
                    count_stated_usage(self._context.store, strand, self._context.origin)
                case Resuming(stored=stored):
                    target = stored.target(strand.history)
                    if isinstance(target, LeftAlone):
                        strand.state = target
                    elif target is not None:
                        self.targets[name] = target
                case _:
                    pass

    def tally(self) -> ImportTally:
        """Return what was written so far, and what was not."""
        made: list[str] = []
        grown: list[str] = []
        unchanged: list[str] = []
        skipped: list[Skipped] = []
        branches = 0
        for strand in self._strands.values():
            match strand.state:
                case SessionWriter(session=session) as writer:
                    if session is None:
                        continue
                    branches += writer.is_fresh and session.fork is Fork.BRANCH
                    known = grown if writer.written else unchanged
                    (made if writer.is_fresh else known).append(session.id)
                case Resuming(stored=stored):
                    unchanged.append(stored.candidates[0].session.id)
                case LeftAlone(session=id_, reason=reason):
                    skipped.append(Skipped(id_, reason))
                case None:
                    pass
        return ImportTally(
            sessions=tuple(made),
            grown=tuple(grown),
            unchanged=tuple(unchanged),
            branches=branches,
            count=self._count + self.batch.count,
            skipped=tuple(skipped),
            problems=tuple(self._problems),
        )

    def _begin(self, begun: StrandStarted) -> None:
        if begun.strand in self._strands:
            self._note(self._strands[begun.strand], begun.about)
            return
        parent = None if begun.of is None else self._strands.get(begun.of)
        strand = self._strands[begun.strand] = StrandImport(begun, parent)
        if parent is None and begun.about.id:
            self._named.setdefault(begun.about.id, strand)

    def _note(self, strand: StrandImport, about: About) -> None:
        strand.note(about)
        if isinstance(strand.state, SessionWriter) and strand.state.is_planned:
            self.batch.learned.add(strand.state)

    def _strand(self, name: str) -> StrandImport:
        if name not in self._strands:
            self._begin(StrandStarted(strand=name, line=1, about=About()))
        return self._strands[name]

    def _tell(self, told: MessageEvent) -> None:
        strand = self._strands.get(told.strand) or self._strand(told.strand)
        if strand.state is None:
            self._locate(strand, told.native.at)
        mark = strand.history.tell(strand, told)
        strand.facts.take(told)
        state = strand.state
        if isinstance(state, SessionWriter):
            message = with_native(told.message, told.native, mark=mark)
            at = moment_of(strand)
            draft = Draft(message=message, at=at, tokens=self._context.weigh(told.message))
            state.add(draft, mark, told.native.usage)
            self.batch.put(state)
        elif isinstance(state, Resuming):
            self._write_if_reached(strand, state)

    def _change(self, event: CompactionEvent | RewindEvent) -> None:
        strand = self._strand(event.strand)
        if strand.state is None:
            self._locate(strand, event.at)
        strand.history.show(strand.known(event.shows))
        if isinstance(strand.state, SessionWriter):
            self.batch.flush()
            at = sane(event.at)
            at = moment_of(strand) if at is None else at
            if strand.state.change(event, strand.window(), ChangeRecord(at, strand.facts.summary)):
                folds = isinstance(event, CompactionEvent)
                self._count += Count(compactions=folds, rewinds=not folds)

    def _locate(self, strand: StrandImport, at: int | None) -> None:
        """Find out what is stored of a strand, now that something is told of it.

        One that is new comes from another, which must be known first, and so on up to the root.
        """
        fresh: dict[StrandImport, NewSession] = {}
        above: StrandImport | None = strand
        while above is not None and above.state is None and above not in fresh:
            began = sane(above.about.started)
            began = sane(at) if began is None else began
            found = self._stored(above, began)
            if isinstance(found, str):
                self._context.promised.add(found)
                fresh[above] = NewSession(began, found)
                above, at = self._parent_of(above), None
            elif isinstance(found, LeftAlone):
                above.state = found
            else:
                target = self._context.targets.get(above.begun.strand) or found.first_resume_point()
                above.state = Resuming(found, target)
                self._write_if_reached(above, above.state)
        for each, new in reversed(fresh.items()):
            each.state = self._new(each, new)

    def _stored(self, strand: StrandImport, began: int | None) -> StoredSessions | LeftAlone | str:
        """Return what is stored of a strand; where that is nothing, an id for its session."""
        strand.settle_name()
        context, identity = self._context, identity_of(strand, self._context.origin)
        ids = proposed_ids(identity, began)
        found = own_or_free(context.store, ids, identity, context)
        if isinstance(found, str):
            # Where its owner took the beginning of a file away, the time is another one.
            named = context.imported_index.own(identity)
            if named is None:
                return found
            found = named
        return context.branch_index.conversation_of(identity, found)

    def _parent_of(self, strand: StrandImport) -> StrandImport | None:
        """Return the strand of the file that another one comes from."""
        return strand.parent or self._named.get(strand.about.parent)

    def _write_if_reached(self, strand: StrandImport, resuming: Resuming) -> None:
        """Let a strand be written from here on, if all that is stored of it was told."""
        target = resuming.target
        if target is None or target.mark != strand.history.mark:
            return
        index, session = len(strand.history), target.session
        if not target.is_branch:
            write = self._context.imported_index.add
            start = WriterStart(index=index, session=session, plan=lambda _: session, write=write)
        else:
            fork = ForkPoint(session.id, shows=strand.window(), mark=strand.history.mark)
            start = self._start(strand, NewSession(session.started, fork=fork))
        strand.state = SessionWriter(self._context.store, resuming.stored, start)

    def _new(self, strand: StrandImport, new: NewSession) -> SessionWriter | LeftAlone:
        """Return where a strand is written of which nothing is stored."""
        fork: ForkPoint | None = None
        if strand.parent is not None:
            home = self._home(strand.parent)
            if not isinstance(home, str):
                return home
            fork = ForkPoint(
                home,
                strand.begun.fork or Fork.BRANCH,
                strand.window(),
                mark=strand.history.mark,
                place=strand.place,
            )
        elif strand.about.parent:
            fork = self._related(strand)
        stored = StoredSessions(self._context.store, ())
        start = self._start(strand, NewSession(new.began, new.id, fork))
        return SessionWriter(self._context.store, stored, start)

    def _start(self, strand: StrandImport, new: NewSession) -> WriterStart:
        """Return how a session begins that takes what is told of a strand from here on."""
        return WriterStart(
            index=len(strand.history),
            session=None,
            id=new.id,
            plan=partial(planned_session, self._context, strand, new),
            write=self._context.imported_index.add,
        )

    def _related(self, strand: StrandImport) -> ForkPoint | None:
        """Return how a conversation comes from another one, of this file or of one before it."""
        name, kind = strand.about.parent, strand.about.fork or Fork.BRANCH
        beside = self._parent_of(strand)
        # In a circle of conversations that claim to come from each other, one comes first.
        if beside is not None and beside.state is not None:
            home = self._home(beside)
            if isinstance(home, str):
                return ForkPoint(home, kind)
        found = self._context.imported_index.session_of(self._context.origin.system, name)
        return None if found is None else ForkPoint(found.id, kind)

    def _home(self, strand: StrandImport) -> str | LeftAlone:
        """Return the session of a strand that another one comes from."""
        match strand.state:
            case SessionWriter() as writer:
                if writer.session is None:
                    # Before those that come from it.
                    self.batch.create(writer)
                return writer.id
            case Resuming(stored=stored):
                return stored.candidates[0].session.id
            case LeftAlone() as left:
                return left
            case None:  # pragma: no cover - what was approached has a state
                raise AssertionError
