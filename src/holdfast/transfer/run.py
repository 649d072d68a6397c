"""One reading of a file into the store, from its first event to its last."""

from __future__ import annotations

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
from holdfast.transfer.describing import identity_of, improve, settle
from holdfast.transfer.identity import proposed_ids
from holdfast.transfer.landing import Landing, Record, Start
from holdfast.transfer.making import Forking, Making, moment_of, planned_session
from holdfast.transfer.matching import LeftAlone, Seeking, Shelf, own_or_free
from holdfast.transfer.outbox import Outbox
from holdfast.transfer.report import Report
from holdfast.transfer.strands import Strand, sane
from holdfast.transfer.tally import Count

if TYPE_CHECKING:
    from holdfast.formats.events import Event
    from holdfast.transfer.making import Surroundings
    from holdfast.transfer.matching import Target
    from holdfast.transfer.tally import Tally

__all__ = ["Run"]


class Run:
    """Follows the events of a file, and writes what is not stored."""

    def __init__(self, around: Surroundings) -> None:
        """Begin with nothing told."""
        self.targets: dict[str, Target] = {}
        """Where strands go on that must be read once more."""
        self.outbox = Outbox(around.families.add)
        """What waits to be written."""
        self._around = around
        self._strands: dict[str, Strand] = {}
        self._report = Report()
        self._named: dict[str, Strand] = {}
        """Conversations by what their agent calls them."""

    @property
    def is_seeking(self) -> bool:
        """Say whether it is open where some of what was told goes on."""
        return any(isinstance(each.state, Seeking) for each in self._strands.values())

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
                self._report.problems.append(event)

    def finish(self) -> None:
        """Write what still waits, and find out where unfinished strands go on."""
        self.outbox.flush()
        for name, strand in self._strands.items():
            match strand.state:
                case Landing() as landing:
                    if not self._is_described(strand, landing):
                        improve(self._around.store, strand, self._around.origin)
                    settle(self._around.store, strand, self._around.origin)
                case Seeking(shelf=shelf):
                    target = shelf.target(strand.trail)
                    if isinstance(target, LeftAlone):
                        strand.state = target
                    elif target is not None:
                        self.targets[name] = target
                case _:
                    pass

    def tally(self) -> Tally:
        """Return what was written so far, and what was not."""
        return self._report.tally(self._strands.values(), self.outbox.count)

    def _is_described(self, strand: Strand, landing: Landing) -> bool:
        """Say whether a session was created with all that is known of it now."""
        # A branch may be called after the strand that it left, whatever happened to itself.
        is_alone = strand.begun.fork is not Fork.BRANCH
        return landing.is_fresh and is_alone and landing not in self.outbox.learned

    def _begin(self, begun: StrandStarted) -> None:
        if begun.strand in self._strands:
            self._note(self._strands[begun.strand], begun.about)
            return
        parent = None if begun.of is None else self._strands.get(begun.of)
        strand = self._strands[begun.strand] = Strand(begun, parent)
        if parent is None and begun.about.id:
            self._named.setdefault(begun.about.id, strand)

    def _note(self, strand: Strand, about: About) -> None:
        strand.note(about)
        if isinstance(strand.state, Landing) and strand.state.is_planned:
            self.outbox.learned.add(strand.state)

    def _strand(self, name: str) -> Strand:
        if name not in self._strands:
            self._begin(StrandStarted(strand=name, line=1, about=About()))
        return self._strands[name]

    def _tell(self, told: MessageEvent) -> None:
        strand = self._strands.get(told.strand) or self._strand(told.strand)
        if strand.state is None:
            self._approach(strand, told.native.at)
        mark = strand.trail.tell(strand, told)
        strand.gist.take(told)
        state = strand.state
        if isinstance(state, Landing):
            message = with_native(told.message, told.native, mark=mark)
            at = moment_of(self._around, strand)
            draft = Draft(message=message, at=at, tokens=self._around.weigh(told.message))
            state.add(draft, mark, told.native.usage)
            self.outbox.put(state)
        elif isinstance(state, Seeking):
            self._land_if_reached(strand, state)

    def _change(self, event: CompactionEvent | RewindEvent) -> None:
        strand = self._strand(event.strand)
        if strand.state is None:
            self._approach(strand, event.at)
        strand.trail.show(strand.known(event.shows))
        if isinstance(strand.state, Landing):
            self.outbox.flush()
            at = sane(event.at)
            at = moment_of(self._around, strand) if at is None else at
            if strand.state.change(event, strand.window(), Record(at, strand.gist.summary)):
                folds = isinstance(event, CompactionEvent)
                self._report.count += Count(compactions=folds, rewinds=not folds)

    def _approach(self, strand: Strand, at: int | None) -> None:
        """Find out what is stored of a strand, now that something is told of it.

        One that is new comes from another, which must be known first, and so on up to the root.
        """
        fresh: dict[Strand, Making] = {}
        above: Strand | None = strand
        while above is not None and above.state is None and above not in fresh:
            began = sane(above.about.started)
            began = sane(at) if began is None else began
            found = self._found(above, began)
            if isinstance(found, str):
                self._around.promised.add(found)
                fresh[above] = Making(began, found)
                above, at = self._elder(above), None
            else:
                self._meet(above, found)
        for each, making in reversed(fresh.items()):
            each.state = self._new(each, making)

    def _found(self, strand: Strand, began: int | None) -> Shelf | LeftAlone | str:
        """Return what is stored of a strand; where that is nothing, an id for its session."""
        strand.settle_name()
        around, identity = self._around, identity_of(strand, self._around.origin)
        ids = proposed_ids(identity, began)
        found = own_or_free(around.store, ids, identity, around)
        if isinstance(found, str):
            # Where its owner took the beginning of a file away, the time is another one.
            named = around.families.own(identity)
            if named is None:
                return found
            found = named
        return around.relatives.shelf_of(identity, found)

    def _meet(self, strand: Strand, found: Shelf | LeftAlone) -> None:
        """Go on with what is stored of a strand."""
        if isinstance(found, LeftAlone):
            strand.state = found
            return
        target = self._around.targets.get(strand.begun.strand) or found.first_target()
        strand.state = Seeking(found, target)
        self._land_if_reached(strand, strand.state)

    def _elder(self, strand: Strand) -> Strand | None:
        """Return the strand of the file that another one comes from."""
        return strand.parent or self._named.get(strand.about.parent)

    def _land_if_reached(self, strand: Strand, seeking: Seeking) -> None:
        target = seeking.target
        if target is None or target.mark != strand.trail.mark:
            return
        index, session = len(strand.trail), target.session
        if not target.is_branch:
            write = self._around.families.add
            start = Start(index=index, session=session, plan=lambda _: session, write=write)
        else:
            fork = Forking(session.id, shows=strand.window(), mark=strand.trail.mark)
            start = self._start(strand, Making(session.started, fork=fork))
        strand.state = Landing(self._around.store, seeking.shelf, start)

    def _new(self, strand: Strand, making: Making) -> Landing | LeftAlone:
        """Return where a strand is written of which nothing is stored."""
        fork: Forking | LeftAlone | None = None
        if strand.parent is not None:
            fork = self._forked(strand, strand.parent)
        elif strand.about.parent:
            fork = self._related(strand)
        if isinstance(fork, LeftAlone):
            return fork
        shelf = Shelf(self._around.store, ())
        start = self._start(strand, Making(making.began, making.id, fork))
        return Landing(self._around.store, shelf, start)

    def _start(self, strand: Strand, making: Making) -> Start:
        """Return how a session begins that takes what is told of a strand from here on."""
        return Start(
            index=len(strand.trail),
            session=None,
            id=making.id,
            plan=partial(planned_session, self._around, strand, making),
            write=self._around.families.add,
        )

    def _forked(self, strand: Strand, parent: Strand) -> Forking | LeftAlone:
        """Return how a strand comes from another one of the file."""
        home = self._home(parent)
        if not isinstance(home, str):
            return home
        return Forking(
            home,
            strand.begun.fork or Fork.BRANCH,
            strand.window(),
            mark=strand.trail.mark,
            place=strand.place,
        )

    def _related(self, strand: Strand) -> Forking | None:
        """Return how a conversation comes from another one, of this file or of one before it."""
        name, kind = strand.about.parent, strand.about.fork or Fork.BRANCH
        beside = self._elder(strand)
        # In a circle of conversations that claim to come from each other, one comes first.
        if beside is not None and beside.state is not None:
            home = self._home(beside)
            if isinstance(home, str):
                return Forking(home, kind)
        found = self._around.families.session_of(self._around.origin.system, name)
        return None if found is None else Forking(found.id, kind)

    def _home(self, strand: Strand) -> str | LeftAlone:
        """Return the session of a strand that another one comes from."""
        match strand.state:
            case Landing() as landing:
                if landing.session is None:
                    # Before those that come from it.
                    self.outbox.create(landing)
                return landing.id
            case Seeking(shelf=shelf):
                return shelf.candidates[0].session.id
            case LeftAlone() as left:
                return left
            case None:  # pragma: no cover - what was approached has a state
                raise AssertionError
