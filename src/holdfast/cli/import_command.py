"""`holdfast import`: other agents' sessions, brought into the store."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.agent_files.detection import (
    AUTO,
    FileWatch,
    FoundFile,
    ReadOptions,
    SkippedFile,
    UnreadableFile,
    gather,
)
from holdfast.agent_files.finding import find_in_places
from holdfast.cli.files import PIPE, format_flag, named_files
from holdfast.cli.flags import agreed, configuration, json_flag, now_ms, store_flags, yes_flag
from holdfast.cli.import_report import (
    ImportReport,
    offer_drawn,
    places_drawn,
    problems_drawn,
    report_drawn,
)
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import error_text, meter_for, screen, show_json, tell
from holdfast.transfer import Count, ImportTally
from holdfast.views.words import clean, counted
from holdfast.wiring.import_job import (
    ImportJob,
    ImportStatus,
    collecting_seldom,
    places_here,
    rehearsal,
)
from holdfast.wiring.import_pool import ImportPool
from holdfast.wiring.stores import file_behind, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Unpack

    from holdfast.agent_files.detection import Look
    from holdfast.agent_files.finding import File, Walk
    from holdfast.cli.screen import ProgressMeter
    from holdfast.config import Settings
    from holdfast.wiring.import_job import ImportResult

_UNCUT = 10_000


class _Options(TypedDict):
    paths: tuple[str, ...]
    format_name: str
    yes: bool
    dry_run: bool
    watch: bool
    interval: float
    jobs: int | None
    verbose: bool
    as_json: bool


@click.command(
    "import",
    epilog=examples(
        "holdfast import",
        "holdfast import ~/.claude/projects ~/.codex/sessions",
        "holdfast import 'backup/**/*.jsonl.gz' --dry-run",
        "holdfast import --watch --yes",
        "holdfast import state.db --json",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@format_flag("every file")
@yes_flag
@click.option("--dry-run", is_flag=True, help="Read what is new or has changed; store nothing.")
@click.option("--watch", is_flag=True, help="Go on, and import what is added to the files.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    metavar="S",
    help="Seconds between two looks with --watch.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes that import at once; without it, as many as it is worth.",
)
@click.option("-v", "--verbose", is_flag=True, help="Name every file and every problem.")
@store_flags
@json_flag
def command(**options: Unpack[_Options]) -> Exit:
    """Bring sessions of other agents into the store.

    PATH is a file, a folder, a pattern, or - for standard input; what a file is, its content says.
    Without PATH, the places are looked at in which agents keep their sessions, and nothing is done
    before you agree. Importing again adds what is new and nothing else. What cannot be read is
    named with file and line, and the rest is imported. The exit code is 1 when a PATH could not be
    read or is a file without a session, and 3 when nothing was new.
    """
    if options["watch"] and options["dry_run"]:
        raise click.UsageError("--watch stores what it reads; it cannot be a --dry-run")
    if options["watch"] and PIPE in options["paths"]:
        raise click.UsageError("standard input cannot be followed; name a file to --watch")
    settings = configuration(options).settings
    with ExitStack() as stack:
        if options["paths"]:
            find = stack.enter_context(named_files(options["paths"]))
        else:
            find = _by_place(options)
        if find is None:
            return Exit.NOTHING_TO_DO
        imported = _run(find, options, settings)
    if options["as_json"]:
        show_json(imported.as_json(everything=options["verbose"]))
    else:
        view = screen()
        lines = report_drawn(
            imported,
            view.width,
            verbose=options["verbose"],
            rehearsed=options["dry_run"],
            timed=not options["watch"],
        )
        view.show(lines)
    return imported.exit


def _by_place(options: _Options) -> Callable[[], Walk] | None:
    """Show what lies in the usual places, and ask; None when there is nothing or the answer is no.

    Raises:
        click.UsageError: when nobody can be asked.
    """
    places = places_here(os.environ)
    walks = [(place, find_in_places([place])) for place in places]
    found = [(place, walk.files) for place, walk in walks if walk.files]
    view = screen(is_error=True)
    stream = error_text()
    # Half a path leads nowhere; only where somebody looks, a line that breaks is worse.
    width = view.width if stream is not None and stream.isatty() else _UNCUT
    if not found:
        if options["as_json"]:
            looked_at = [str(place.path) for place in places]
            show_json({**ImportReport().as_json(everything=False), "places": looked_at})
            return None
        tell("no sessions of other agents were found; these places were looked at:")
        view.show(places_drawn(places, width))
        return None
    if not options["as_json"]:
        view.show(offer_drawn(found, width, now_ms()))
        if others := sum(walk.others for _, walk in walks):
            tell(f"other files there that do not look like sessions: {others:,}")
    count = sum(len(files) for _, files in found)
    chosen = [place for place, _ in found]
    if not (options["dry_run"] or agreed(f"import {counted(count, 'file')}?", yes=options["yes"])):
        return None
    # A folder that appears later is followed too.
    return lambda: find_in_places(places if options["watch"] else chosen)


def _run(find: Callable[[], Walk], options: _Options, settings: Settings) -> ImportReport:
    started = time.perf_counter()
    rehearsed = options["dry_run"]
    is_bound = rehearsed and _is_there(settings)
    with ExitStack() as stack:
        stack.enter_context(collecting_seldom())
        if options["watch"]:
            return follow(find, _plan(stack, options, settings))
        walk = find()
        pool = stack.enter_context(ImportPool(settings, options["jobs"]))
        if not rehearsed:
            pool.start_early(walk.files)
        wanted = _plan(stack, options, settings)
        if not rehearsed:
            # Its processes end before the store is closed here, which moves all into one file.
            wanted = replace(wanted, pool=stack.enter_context(pool))
        imported = import_once(walk, wanted, started)
    return replace(imported, is_bound=is_bound)


def _plan(stack: ExitStack, options: _Options, settings: Settings) -> ImportPlan:
    """Open the store, or one that goes away where nothing is to be stored."""
    rehearsed, name = options["dry_run"], options["format_name"]
    stored = None
    if not rehearsed or _is_there(settings):
        store = stack.enter_context(closing(store_of(settings, os.environ)))
        stored = ImportJob(store, settings, live=options["watch"])

    def is_known(file: File) -> bool:
        # Whoever names a format wants the files read as that, however they were read before.
        return stored is not None and name == AUTO and stored.is_known(file)

    job = stored
    if job is None or rehearsed:
        job = stack.enter_context(rehearsal(settings))
    return ImportPlan(
        job.take,
        job.join,
        is_known,
        name,
        options["interval"],
        silent=options["as_json"],
    )


def _is_there(settings: Settings) -> bool:
    """Say whether opening the store would find one rather than make one."""
    place = settings.store
    file = file_behind(place.url, place.profile, os.environ)
    return file is None or file.exists()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """How the import is to run."""

    take: Callable[[FoundFile], ImportResult]
    """Takes what was found."""
    join: Callable[[Iterable[ImportResult]], None]
    """Brings together what several processes took."""
    is_known: Callable[[File], bool]
    """Says which files need not be looked at."""
    format: str
    interval: float
    """Seconds between two looks at files that are followed."""
    silent: bool
    """Whether nothing is shown before it has ended."""
    pool: ImportPool | None = None
    """Takes many files at once; not those that are followed."""


def import_once(walk: Walk, wanted: ImportPlan, started: float) -> ImportReport:
    """Take everything that is there."""
    with meter_for(silent=wanted.silent) as meter:
        taking = ImportRun(wanted.take, meter)
        known = [file for file in walk.files if wanted.is_known(file)]
        seen = set(known)
        fresh = [file for file in walk.files if file not in seen]
        reading = ReadOptions(format=wanted.format, seen=meter.advance)
        try:
            if wanted.pool is None:
                taking.take_all(gather(fresh, reading))
            else:
                wanted.pool.start(fresh)
                looks = gather(fresh, reading, wanted.pool.examine)
                wanted.join(taking.take_all(looks, wanted.pool))
        except KeyboardInterrupt:
            tell("what is stored so far stays; the same command goes on from there")
            raise
    return taking.result(walk, known, time.perf_counter() - started)


def follow(find: Callable[[], Walk], wanted: ImportPlan) -> ImportReport:
    """Take everything, and then whatever is added, until somebody presses Ctrl-C."""
    started = time.perf_counter()
    walk = find()
    known = [file for file in walk.files if wanted.is_known(file)]
    if not wanted.silent:
        tell(f"following {counted(len(walk.files), 'file')}; Ctrl-C ends it")
    with meter_for(silent=wanted.silent) as meter:
        taking = ImportRun(wanted.take, meter)
        reading = ReadOptions(format=wanted.format, live=True, seen=meter.advance)
        watch = FileWatch(find, reading, known)
        try:
            done = taking.take_all(watch.look())
            # In one line what was there, however many files that are.
            if not wanted.silent:
                brought = [taken for taken in done if taken.status is ImportStatus.IMPORTED]
                files = sum(len(taken.found.files) for taken in brought)
                count = sum(taken.tally.count.messages for taken in brought)
                tell(f"{counted(count, 'message')} from {counted(files, 'file')}")
                _show_troubles(done)
            while True:
                time.sleep(wanted.interval)
                if not (looks := watch.look()):
                    continue
                done = taking.take_all(looks)
                if not wanted.silent:
                    for taken in done:
                        if taken.status is ImportStatus.IMPORTED:
                            size = counted(taken.tally.count.messages, "message")
                            tell(f"{size} from {taken.found.files[0].shown}")
                    _show_troubles(done)
        except KeyboardInterrupt:
            pass
    return taking.result(walk, known, time.perf_counter() - started)


def _show_troubles(done: Sequence[ImportResult]) -> None:
    if lines := problems_drawn(ImportReport(taken=tuple(done))):
        screen(is_error=True).show(lines)


class ImportRun:
    """An import while it goes on; whenever it is stopped, what was taken is known."""

    def __init__(self, take: Callable[[FoundFile], ImportResult], meter: ProgressMeter) -> None:
        """Take who takes a find, and who shows how far it is."""
        self._take = take
        self._meter = meter
        self._taken: dict[Path, ImportResult] = {}
        self._others: dict[Path, SkippedFile | UnreadableFile] = {}

    def take_all(self, looks: Sequence[Look], pool: ImportPool | None = None) -> list[ImportResult]:
        """Take what was found, and return what became of it; what happened before is kept.

        The problems that are returned are those that were not returned before.

        Args:
            pool: Takes many at once, where that is faster.
        """
        finds = [look for look in looks if isinstance(look, FoundFile)]
        self._others |= {look.file.path: look for look in looks if not isinstance(look, FoundFile)}
        self._meter.begin(sum(found.size for found in finds))
        together = None if pool is None else pool.take(finds, self._take)
        done: list[ImportResult] = []
        if together is None:
            for found in finds:
                self._show(found)
                done.append(self._kept(self._take(found)))
        else:
            # They are done in any order, and returned in the order of the finds.
            by_path: dict[Path, ImportResult] = {}
            for taken in together:
                self._show(taken.found)
                by_path[taken.found.files[0].path] = taken
            done += (self._kept(by_path[found.files[0].path]) for found in finds)
        self._meter.end()
        return done

    def result(self, walk: Walk, known: Sequence[File], seconds: float) -> ImportReport:
        """Return everything that has happened.

        Args:
            known: The files of it that nobody had to look at then.
        """
        taken = tuple(self._taken.values())
        others = self._others.values()
        seen = {file.path for each in taken for file in each.found.files} | self._others.keys()
        return ImportReport(
            taken=taken,
            passed=tuple(
                each for each in others if isinstance(each, SkippedFile) and not each.file.is_named
            ),
            closed=tuple(
                each for each in others if isinstance(each, UnreadableFile) or each.file.is_named
            ),
            refused=walk.refused,
            known=tuple(file for file in known if file.path not in seen),
            seconds=seconds,
            tally=_together([each.tally for each in taken]),
        )

    def _show(self, found: FoundFile) -> None:
        self._meter.next(clean(Path(found.files[0].shown).name), found.size)

    def _kept(self, taken: ImportResult) -> ImportResult:
        path = taken.found.files[0].path
        self._others.pop(path, None)
        before = self._taken.get(path)
        if before is None:
            self._taken[path] = taken
            return taken
        # What became of a file that was looked at again, because it changed.
        # One that is as it was when it was imported is not read, and tells nothing.
        latest = before if taken.tally == ImportTally() else taken
        tally = replace(_together([before.tally, taken.tally]), problems=latest.tally.problems)
        idle = taken.status in (ImportStatus.UNCHANGED, ImportStatus.EMPTY)
        status = before.status if idle else taken.status
        self._taken[path] = replace(taken, tally=tally, status=status)
        old = frozenset(before.tally.problems)
        fresh = tuple(each for each in taken.tally.problems if each not in old)
        return replace(taken, tally=replace(taken.tally, problems=fresh))


def _together(tallies: Sequence[ImportTally]) -> ImportTally:
    """Add tallies up, each session once; one by one would copy the first of them every time."""
    made = tuple(chain.from_iterable(each.sessions for each in tallies))
    known = set(made)
    grown = dict.fromkeys(chain.from_iterable(each.grown for each in tallies))
    return ImportTally(
        sessions=made,
        grown=tuple(id_ for id_ in grown if id_ not in known),
        unchanged=tuple(dict.fromkeys(chain.from_iterable(each.unchanged for each in tallies))),
        branches=sum(each.branches for each in tallies),
        count=sum((each.count for each in tallies), Count()),
        skipped=tuple(chain.from_iterable(each.skipped for each in tallies)),
        problems=tuple(chain.from_iterable(each.problems for each in tallies)),
    )
