"""`holdfast import`: other agents' sessions, brought into the store."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.agent_files.finding import find_in_places
from holdfast.agent_files.opening import AUTO
from holdfast.cli.consent import agreed, yes_flag
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.files import PIPE
from holdfast.cli.flags import configuration, profile_flag
from holdfast.cli.import_result import Imported
from holdfast.cli.import_running import Wanted, follow, import_once
from holdfast.cli.import_view import drawn, drawn_offer, drawn_places
from holdfast.cli.lines import counted
from holdfast.cli.reading import named_files
from holdfast.cli.screen import screen, show_json, tell
from holdfast.cli.streams import error_text
from holdfast.cli.times import now_ms
from holdfast.formats import FORMATS
from holdfast.wiring.import_job import ImportJob, collecting_seldom, places_here, rehearsal
from holdfast.wiring.import_pool import ImportPool
from holdfast.wiring.stores import file_behind, store_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.agent_files.finding import File, Walk
    from holdfast.config import Settings

__all__ = ["command"]

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
@click.option(
    "--format",
    "format_name",
    default=AUTO,
    type=click.Choice([AUTO, *FORMATS]),
    metavar="FORMAT",
    help="The format of every file; see holdfast formats.",
)
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
@profile_flag
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(**options: Unpack[_Options]) -> Exit:
    """Bring sessions of other agents into the store.

    PATH is a file, a folder, a pattern, or - for standard input; what a file is, its content says.
    Without PATH, the places are looked at in which agents keep their sessions, and nothing is done
    before you agree. Importing again adds what is new and nothing else. What cannot be read is
    named with file and line, and the rest is imported. The exit code is 1 when a PATH could not be
    read, and 3 when nothing was new.
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
        lines = drawn(
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
            show_json({**Imported().as_json(everything=False), "places": looked_at})
            return None
        tell("no sessions of other agents were found; these places were looked at:")
        view.show(drawn_places(places, width))
        return None
    if not options["as_json"]:
        view.show(drawn_offer(found, width, now_ms()))
        if others := sum(walk.others for _, walk in walks):
            tell(f"other files there that do not look like sessions: {others:,}")
    count = sum(len(files) for _, files in found)
    chosen = [place for place, _ in found]
    if not (options["dry_run"] or agreed(f"import {counted(count, 'file')}?", yes=options["yes"])):
        return None
    # A folder that appears later is followed too.
    return lambda: find_in_places(places if options["watch"] else chosen)


def _run(find: Callable[[], Walk], options: _Options, settings: Settings) -> Imported:
    started = time.perf_counter()
    rehearsed = options["dry_run"]
    is_bound = rehearsed and _is_there(settings)
    with ExitStack() as stack:
        stack.enter_context(collecting_seldom())
        if options["watch"]:
            return follow(find, _wanted(stack, options, settings))
        walk = find()
        pool = stack.enter_context(ImportPool(settings, options["jobs"]))
        if not rehearsed:
            pool.start_early(walk.files)
        wanted = _wanted(stack, options, settings)
        if not rehearsed:
            # Its processes end before the store is closed here, which moves all into one file.
            wanted = replace(wanted, pool=stack.enter_context(pool))
        imported = import_once(walk, wanted, started)
    return replace(imported, is_bound=is_bound)


def _wanted(stack: ExitStack, options: _Options, settings: Settings) -> Wanted:
    """Open the store, or one that goes away where nothing is to be stored."""
    rehearsed, name = options["dry_run"], options["format_name"]
    job = None
    if not rehearsed or _is_there(settings):
        store = stack.enter_context(closing(store_of(settings, os.environ)))
        job = ImportJob(store, settings, live=options["watch"])
    # Whoever names a format wants the files read as that, however they were read before.
    is_known = job.is_known if job is not None and name == AUTO else _is_unknown
    if job is None or rehearsed:
        job = stack.enter_context(rehearsal(settings))
    return Wanted(
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


def _is_unknown(_: File) -> bool:
    return False
