"""One reading of a file into the store, from its first event to its last."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About, Begun, Folded, Noted, Rewound, Told, with_native
from holdfast.formats.document import Problem
from holdfast.session import Draft, Fork
from holdfast.transfer.identity import proposed_ids
from holdfast.transfer.new_session import (
    ForkPoint,
    NewSession,
    identity_of,
    moment_of,
    planned_session,
    settle,
    update_description,
)
from holdfast.transfer.resuming import LeftAlone, Resuming, StoredConversation, own_or_free
from holdfast.transfer.session_writer import (
    ChangeRecord,
    Count,
    ImportTally,
    SessionWriter,
    Skipped,
    WriteBatch,
    WriterStart,
)
from holdfast.transfer.strands import StrandImport, sane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.formats.chronicle import Event
    from holdfast.transfer.new_session import ImportContext
    from holdfast.transfer.resuming import ResumePoint

__all__ = ["FileImport", "Report"]


class Report:
    """Gathers what was written and what was wrong."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.count = Count()
        self.problems: list[Problem] = []

    def tally(self, strands: Iterable[StrandImport], written: Count) -> ImportTally:
        """Return what was written so far, and what was not.

        Args:
            strands: The strands of the file.
            written: What their messages count for.
        """
        made: list[str] = []
        grown: list[str] = []
        unchanged: list[str] = []
        skipped: list[Skipped] = []
        branches = 0
        for strand in strands:
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
            count=self.count + written,
            skipped=tuple(skipped),
            problems=tuple(self.problems),
        )


class FileImport:
    """Follows the events of a file, and writes what is not stored."""

    def __init__(self, context: ImportContext) -> None:
        """Begin with nothing told."""
        self.targets: dict[str, ResumePoint] = {}
        """Where strands go on that must be read once more."""
        self.batch = WriteBatch(context.imported_index.add)
        """What waits to be written."""
        self._around = context
        self._strands: dict[str, StrandImport] = {}
        self._report = Report()
        self._named: dict[str, StrandImport] = {}
        """Conversations by what their agent calls them."""

    @property
    def is_resuming(self) -> bool:
        """Say whether it is open where some of what was told goes on."""
        return any(isinstance(each.state, Resuming) for each in self._strands.values())

    def take(self, event: Event) -> None:
        """Follow one event."""
        match event:
            case Told():
                self._tell(event)
            case Begun():
                self._begin(event)
            case Noted(strand=strand, about=about):
                self._note(self._strand(strand), about)
            case Folded() | Rewound():
                self._change(event)
            case Problem():
                self._report.problems.append(event)

    def finish(self) -> None:
        """Write what still waits, and find out where unfinished strands go on."""
        self.batch.flush()
        for name, strand in self._strands.items():
            match strand.state:
                case SessionWriter() as writer:
                    if not self._is_described(strand, writer):
                        update_description(self._around.store, strand, self._around.origin)
                    settle(self._around.store, strand, self._around.origin)
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
        return self._report.tally(self._strands.values(), self.batch.count)

    def _is_described(self, strand: StrandImport, writer: SessionWriter) -> bool:
        """Say whether a session was created with all that is known of it now."""
        # A branch may be called after the strand that it left, whatever happened to itself.
        is_alone = strand.begun.fork is not Fork.BRANCH
        return writer.is_fresh and is_alone and writer not in self.batch.learned

    def _begin(self, begun: Begun) -> None:
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
            self._begin(Begun(strand=name, line=1, about=About()))
        return self._strands[name]

    def _tell(self, told: Told) -> None:
        strand = self._strands.get(told.strand) or self._strand(told.strand)
        if strand.state is None:
            self._approach(strand, told.native.at)
        mark = strand.history.tell(strand, told)
        strand.facts.take(told)
        state = strand.state
        if isinstance(state, SessionWriter):
            message = with_native(told.message, told.native, mark=mark)
            at = moment_of(self._around, strand)
            draft = Draft(message=message, at=at, tokens=self._around.weigh(told.message))
            state.add(draft, mark, told.native.usage)
            self.batch.put(state)
        elif isinstance(state, Resuming):
            self._land_if_reached(strand, state)

    def _change(self, event: Folded | Rewound) -> None:
        strand = self._strand(event.strand)
        if strand.state is None:
            self._approach(strand, event.at)
        strand.history.show(strand.known(event.shows))
        if isinstance(strand.state, SessionWriter):
            self.batch.flush()
            at = sane(event.at)
            at = moment_of(self._around, strand) if at is None else at
            if strand.state.change(event, strand.window(), ChangeRecord(at, strand.facts.summary)):
                folds = isinstance(event, Folded)
                self._report.count += Count(compactions=folds, rewinds=not folds)

    def _approach(self, strand: StrandImport, at: int | None) -> None:
        """Find out what is stored of a strand, now that something is told of it.

        One that is new comes from another, which must be known first, and so on up to the root.
        """
        fresh: dict[StrandImport, NewSession] = {}
        above: StrandImport | None = strand
        while above is not None and above.state is None and above not in fresh:
            began = sane(above.about.started)
            began = sane(at) if began is None else began
            found = self._found(above, began)
            if isinstance(found, str):
                self._around.promised.add(found)
                fresh[above] = NewSession(began, found)
                above, at = self._elder(above), None
            else:
                self._meet(above, found)
        for each, new in reversed(fresh.items()):
            each.state = self._new(each, new)

    def _found(
        self, strand: StrandImport, began: int | None
    ) -> StoredConversation | LeftAlone | str:
        """Return what is stored of a strand; where that is nothing, an id for its session."""
        strand.settle_name()
        context, identity = self._around, identity_of(strand, self._around.origin)
        ids = proposed_ids(identity, began)
        found = own_or_free(context.store, ids, identity, context)
        if isinstance(found, str):
            # Where its owner took the beginning of a file away, the time is another one.
            named = context.imported_index.own(identity)
            if named is None:
                return found
            found = named
        return context.branch_index.conversation_of(identity, found)

    def _meet(self, strand: StrandImport, found: StoredConversation | LeftAlone) -> None:
        """Go on with what is stored of a strand."""
        if isinstance(found, LeftAlone):
            strand.state = found
            return
        target = self._around.targets.get(strand.begun.strand) or found.first_resume_point()
        strand.state = Resuming(found, target)
        self._land_if_reached(strand, strand.state)

    def _elder(self, strand: StrandImport) -> StrandImport | None:
        """Return the strand of the file that another one comes from."""
        return strand.parent or self._named.get(strand.about.parent)

    def _land_if_reached(self, strand: StrandImport, resuming: Resuming) -> None:
        target = resuming.target
        if target is None or target.mark != strand.history.mark:
            return
        index, session = len(strand.history), target.session
        if not target.is_branch:
            write = self._around.imported_index.add
            start = WriterStart(index=index, session=session, plan=lambda _: session, write=write)
        else:
            fork = ForkPoint(session.id, shows=strand.window(), mark=strand.history.mark)
            start = self._start(strand, NewSession(session.started, fork=fork))
        strand.state = SessionWriter(self._around.store, resuming.stored, start)

    def _new(self, strand: StrandImport, new: NewSession) -> SessionWriter | LeftAlone:
        """Return where a strand is written of which nothing is stored."""
        fork: ForkPoint | LeftAlone | None = None
        if strand.parent is not None:
            fork = self._forked(strand, strand.parent)
        elif strand.about.parent:
            fork = self._related(strand)
        if isinstance(fork, LeftAlone):
            return fork
        stored = StoredConversation(self._around.store, ())
        start = self._start(strand, NewSession(new.began, new.id, fork))
        return SessionWriter(self._around.store, stored, start)

    def _start(self, strand: StrandImport, new: NewSession) -> WriterStart:
        """Return how a session begins that takes what is told of a strand from here on."""
        return WriterStart(
            index=len(strand.history),
            session=None,
            id=new.id,
            plan=partial(planned_session, self._around, strand, new),
            write=self._around.imported_index.add,
        )

    def _forked(self, strand: StrandImport, parent: StrandImport) -> ForkPoint | LeftAlone:
        """Return how a strand comes from another one of the file."""
        home = self._home(parent)
        if not isinstance(home, str):
            return home
        return ForkPoint(
            home,
            strand.begun.fork or Fork.BRANCH,
            strand.window(),
            mark=strand.history.mark,
            place=strand.place,
        )

    def _related(self, strand: StrandImport) -> ForkPoint | None:
        """Return how a conversation comes from another one, of this file or of one before it."""
        name, kind = strand.about.parent, strand.about.fork or Fork.BRANCH
        beside = self._elder(strand)
        # In a circle of conversations that claim to come from each other, one comes first.
        if beside is not None and beside.state is not None:
            home = self._home(beside)
            if isinstance(home, str):
                return ForkPoint(home, kind)
        found = self._around.imported_index.session_of(self._around.origin.system, name)
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
