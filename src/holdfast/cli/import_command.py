"""`holdfast import`: other agents' sessions, brought into the store."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.adapters.archives.finding import find_files, find_in_places
from holdfast.adapters.archives.opening import AUTO
from holdfast.cli.consent import agreed, yes_flag
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.flags import configuration, profile_flag
from holdfast.cli.import_result import Imported
from holdfast.cli.import_running import Wanted, follow, import_once
from holdfast.cli.import_view import drawn, drawn_offer, drawn_places
from holdfast.cli.lines import counted
from holdfast.cli.screen import screen, show_json, tell
from holdfast.cli.times import now_ms
from holdfast.formats import FORMATS
from holdfast.wiring.importing import Intake, places_here, rehearse
from holdfast.wiring.stores import store_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.adapters.archives.finding import File, Walk
    from holdfast.config import Settings

__all__ = ["command"]


class _Options(TypedDict):
    paths: tuple[str, ...]
    format_name: str
    yes: bool
    dry_run: bool
    watch: bool
    interval: float
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
@click.option("--dry-run", is_flag=True, help="Read everything and store nothing.")
@click.option("--watch", is_flag=True, help="Go on, and import what is added to the files.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    metavar="S",
    help="Seconds between two looks with --watch.",
)
@click.option("-v", "--verbose", is_flag=True, help="Name every file and every problem.")
@profile_flag
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(**options: Unpack[_Options]) -> Exit:
    """Bring sessions of other agents into the store.

    PATH is a file, a folder or a pattern; what a file is, its content says. Without PATH, the
    places are looked at in which agents keep their sessions, and nothing is done before you agree.
    Importing again adds what is new and nothing else. What cannot be read is named with file and
    line, and the rest is imported. The exit code is 1 when a PATH could not be read, and 3 when
    nothing was new.
    """
    if options["watch"] and options["dry_run"]:
        raise click.UsageError("--watch stores what it reads; it cannot be a --dry-run")
    settings = configuration(options).settings
    find = _by_name(options) if options["paths"] else _by_place(options)
    if find is None:
        return Exit.NOTHING_TO_DO
    imported = _run(find, options, settings)
    if options["as_json"]:
        show_json(imported.as_json(everything=options["verbose"]))
    else:
        view = screen()
        rehearsed, verbose = options["dry_run"], options["verbose"]
        view.show(drawn(imported, view.width, verbose=verbose, rehearsed=rehearsed))
    return imported.exit


def _by_name(options: _Options) -> Callable[[], Walk]:
    return lambda: find_files(options["paths"])


def _by_place(options: _Options) -> Callable[[], Walk] | None:
    """Show what lies in the usual places, and ask; None when there is nothing or the answer is no.

    Raises:
        click.UsageError: when nobody can be asked.
    """
    places = places_here(os.environ)
    found = [(place, files) for place in places if (files := find_in_places([place]).files)]
    view = screen(is_error=True)
    if not found:
        if options["as_json"]:
            looked_at = [str(place.path) for place in places]
            show_json({**Imported().as_json(everything=False), "places": looked_at})
            return None
        tell("no sessions of other agents were found; these places were looked at:")
        view.show(drawn_places(places, view.width))
        return None
    if not options["as_json"]:
        view.show(drawn_offer(found, view.width, now_ms()))
    count = sum(len(files) for _, files in found)
    chosen = [place for place, _ in found]
    if not (options["dry_run"] or agreed(f"import {counted(count, 'file')}?", yes=options["yes"])):
        return None
    # A folder that appears later is followed too.
    return lambda: find_in_places(places if options["watch"] else chosen)


def _run(find: Callable[[], Walk], options: _Options, settings: Settings) -> Imported:
    name, interval, silent = options["format_name"], options["interval"], options["as_json"]
    if options["dry_run"]:
        return import_once(find, Wanted(rehearse, _is_unknown, name, interval, silent=silent))
    with closing(store_of(settings, os.environ)) as store:
        intake = Intake(store, settings)
        # Whoever names a format wants the files read as that, however they were read before.
        is_known = intake.is_known if name == AUTO else _is_unknown
        wanted = Wanted(intake.take, is_known, name, interval, silent=silent)
        return (follow if options["watch"] else import_once)(find, wanted)


def _is_unknown(_: File) -> bool:
    return False
