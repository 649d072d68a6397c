"""One reading of a file into the store, from its first event to its last."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from holdfast.errors import Conflict
from holdfast.exchange.describing import identity_of, improve
from holdfast.exchange.landing import Landing, Record, Start
from holdfast.exchange.making import Forking, Making, moment_of, planned_session
from holdfast.exchange.matching import LeftAlone, Seeking, Shelf, find_shelf, is_of, shelf_of
from holdfast.exchange.strands import Strand, sane
from holdfast.exchange.tally import Count, Skipped, Tally, count_of
from holdfast.formats.chronicle import (
    About,
    Begun,
    Folded,
    Noted,
    Rewound,
    Told,
    with_native,
)
from holdfast.formats.document import Problem
from holdfast.session import Draft, Fork, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.exchange.making import Surroundings
    from holdfast.exchange.matching import Target
    from holdfast.formats.chronicle import Event
    from holdfast.session import Spawn

__all__ = ["Run"]

_BATCH = 500
"""Messages that are written in one transaction."""


class Run:
    """Follows the events of a file, and writes what is not stored."""

    def __init__(self, around: Surroundings) -> None:
        """Begin with nothing told."""
        self.targets: dict[str, Target] = {}
        """Where strands go on that must be read once more."""
        self._around = around
        self._strands: dict[str, Strand] = {}
        self._problems: list[Problem] = []
        self._count = Count()
        self._waiting: list[Landing] = []
        """Where messages wait to be written, once for each."""
        self._named: dict[str, Strand] = {}
        """Conversations by what their agent calls them."""

    def take(self, event: Event) -> None:
        """Follow one event."""
        match event:
            case Told():
                self._tell(event)
            case Begun():
                self._begin(event)
            case Noted(strand=strand, about=about):
                self._strand(strand).note(about)
            case Folded() | Rewound():
                self._change(event)
            case Problem():
                self._problems.append(event)

    def finish(self) -> None:
        """Write what still waits, and find out where unfinished strands go on."""
        self._flush()
        for name, strand in self._strands.items():
            match strand.state:
                case Landing():
                    improve(self._around.store, strand, self._around.origin)
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
        tally = Tally(count=self._count, problems=tuple(self._problems))
        for strand in self._strands.values():
            tally += _outcome(strand)
        return tally

    def _begin(self, begun: Begun) -> None:
        if begun.strand in self._strands:
            self._strands[begun.strand].note(begun.about)
            return
        parent = None if begun.of is None else self._strands.get(begun.of)
        strand = self._strands[begun.strand] = Strand(begun, parent)
        if parent is None and begun.about.id:
            self._named.setdefault(begun.about.id, strand)

    def _strand(self, name: str) -> Strand:
        if name not in self._strands:
            self._begin(Begun(strand=name, line=1, about=About()))
        return self._strands[name]

    def _tell(self, told: Told) -> None:
        strand = self._strand(told.strand)
        if strand.state is None:
            self._approach(strand, told.native.at)
        strand.trail.tell(told)
        strand.gist.take(told)
        match strand.state:
            case Landing() as landing:
                mark = strand.trail.mark
                message = with_native(told.message, told.native, mark=mark)
                tokens = self._around.weigh(told.message)
                draft = Draft(message=message, at=moment_of(self._around, strand), tokens=tokens)
                landing.add(draft, mark, told.native.usage)
                self._waiting.append(landing)
                if len(self._waiting) >= _BATCH:
                    self._flush()
            case Seeking() as seeking:
                self._land_if_reached(strand, seeking)
            case _:
                pass

    def _change(self, event: Folded | Rewound) -> None:
        strand = self._strand(event.strand)
        if strand.state is None:
            self._approach(strand, event.at)
        if isinstance(strand.state, Landing):
            self._flush()
            pieces = strand.references(event.shows)
            at = moment_of(self._around, strand) if event.at is None else sane(event.at)
            record = Record(
                moment_of(self._around, strand) if at is None else at, strand.gist.summary
            )
            if strand.state.change(event, pieces, record):
                folds = isinstance(event, Folded)
                self._count += Count(compactions=folds, rewinds=not folds)
        strand.trail.show(event.shows)

    def _flush(self) -> None:
        landings = [*dict.fromkeys(self._waiting)]
        self._waiting.clear()
        try:
            self._land(landings)
        except Conflict:
            if len(landings) == 1:
                raise
            # Whichever others came first with is found when each is written alone.
            for landing in landings:
                self._land([landing])

    def _land(self, landings: Sequence[Landing]) -> None:
        """Write what waits in one step, however many sessions it belongs to."""
        if landings:
            additions = [landing.addition() for landing in landings]
            self._around.families.add(additions)
            for landing, addition in zip(landings, additions, strict=True):
                landing.landed(addition)
            drafts = chain.from_iterable(addition.drafts for addition in additions)
            self._count += count_of(draft.message for draft in drafts)

    def _approach(self, strand: Strand, at: int | None) -> None:
        """Find out what is stored of a strand, now that something is told of it."""
        identity = identity_of(strand, self._around.origin)
        started = sane(strand.about.started)
        began = sane(at) if started is None else started
        found = find_shelf(self._around.store, identity, began, self._around.is_barred)
        if isinstance(found, str):
            # Where its owner took the beginning of a file away, the time is another one.
            named = self._around.families.session_of(identity.system, identity.name)
            if named is not None and is_of(named, identity):
                found = shelf_of(self._around.store, identity, named)
        match found:
            case Shelf():
                name = strand.begun.strand
                target = self._around.targets.get(name) or found.first_target()
                strand.state = Seeking(found, target)
                self._land_if_reached(strand, strand.state)
            case LeftAlone():
                strand.state = found
            case str():
                self._around.promised.add(found)
                strand.state = self._new(strand, Making(began, found))

    def _land_if_reached(self, strand: Strand, seeking: Seeking) -> None:
        target = seeking.target
        if target is None or target.mark != strand.trail.mark:
            return
        index, session = len(strand.trail), target.session
        if not target.is_branch:
            start = self._start(index, session, lambda _: session)
        else:
            shows = strand.references(strand.trail.window)
            fork = Forking(session.id, shows=shows, mark=strand.trail.mark)
            making = Making(session.started, fork=fork)
            start = self._start(index, None, partial(planned_session, self._around, strand, making))
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
        plan = partial(planned_session, self._around, strand, replace(making, fork=fork))
        shelf = Shelf(self._around.store, ())
        return Landing(self._around.store, shelf, self._start(0, None, plan))

    def _start(
        self, index: int, session: Session | None, plan: Callable[[str], Session | Spawn]
    ) -> Start:
        return Start(index=index, session=session, plan=plan, write=self._around.families.add)

    def _forked(self, strand: Strand, parent: Strand) -> Forking | LeftAlone:
        """Return how a strand comes from another one of the file."""
        home = self._home(parent)
        if isinstance(home, LeftAlone):
            return home
        return Forking(
            home.id,
            strand.begun.fork or Fork.BRANCH,
            strand.references(strand.trail.window),
            mark=strand.trail.mark,
            place=strand.place,
        )

    def _related(self, strand: Strand) -> Forking | None:
        """Return how a conversation comes from another one, of this file or of one before it."""
        name, kind = strand.about.parent, strand.about.fork or Fork.BRANCH
        beside = self._named.get(name)
        home = None if beside is None or beside is strand else self._home(beside)
        if isinstance(home, Session):
            return Forking(home.id, kind)
        found = self._around.families.session_of(self._around.origin.system, name)
        return None if found is None else Forking(found.id, kind)

    def _home(self, strand: Strand) -> Session | LeftAlone:
        """Return the session of a strand that another one comes from."""
        if strand.state is None:
            self._approach(strand, None)
        match strand.state:
            case Landing() as landing:
                self._flush()
                return landing.made()
            case Seeking(shelf=shelf):
                return shelf.candidates[0].session
            case LeftAlone() as left:
                return left
            case None:  # pragma: no cover - what was approached has a state
                raise AssertionError


def _outcome(strand: Strand) -> Tally:
    """Return what became of one strand."""
    match strand.state:
        case Landing(session=Session() as session, is_fresh=True):
            return Tally(sessions=(session.id,), branches=session.fork is Fork.BRANCH)
        case Landing(session=Session() as session) as landing:
            ids = (session.id,)
            return Tally(grown=ids) if landing.written else Tally(unchanged=ids)
        case Seeking(shelf=shelf):
            return Tally(unchanged=(shelf.candidates[0].session.id,))
        case LeftAlone(session=session, reason=reason):
            return Tally(skipped=(Skipped(session, reason),))
        case _:
            return Tally()
