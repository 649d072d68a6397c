"""`holdfast compress`: makes transcripts smaller, and says exactly what happened."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.compressing import FileCompression, compress_input, compressed_drawn
from holdfast.cli.files import PIPE, about, same_file, write_output
from holdfast.cli.flags import (
    configuration,
    conversation_flag,
    setting_flags,
    store_flags,
    summarizer_flag,
)
from holdfast.cli.reading import open_input
from holdfast.cli.screen import screen, silence_log, tell
from holdfast.errors import HoldfastError
from holdfast.formats import FORMATS, WRITABLE
from holdfast.wiring import engine_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from holdfast.cli.compressing import Compressed
    from holdfast.config import Settings

__all__ = ["command"]


class _Options(TypedDict):
    """What click collects; the flags that are settings come beside these."""

    files: tuple[str, ...]
    output: str | None
    format_name: str
    to: str | None
    fit: int | None
    focus: str
    summarizer: str | None
    force: bool
    dry_run: bool
    report: str | None
    as_json: bool
    conversation: int | None


@click.command(
    "compress",
    epilog=examples(
        "holdfast compress session.json --context-length 128000 -o smaller.json",
        'holdfast compress session.json --fit 8000 --focus "the billing bug" > fits.json',
        "holdfast compress rollout.jsonl --to openai --report report.json -o window.json",
        "holdfast compress rollout.jsonl --to claude-code -o smaller.jsonl",
        "holdfast compress runs/*.json --to anthropic -o compacted/",
        "holdfast compress last --fit 8000 --to anthropic -o request.json",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE|ID...")
@click.option("-o", "--output", metavar="OUT", help="Where to write; - for standard output.")
@click.option(
    "--format",
    "format_name",
    default="auto",
    type=click.Choice(["auto", *FORMATS]),
    metavar="FORMAT",
    help="The format of the input; see holdfast formats.",
)
@conversation_flag
@click.option(
    "--to",
    type=click.Choice(WRITABLE),
    metavar="FORMAT",
    help=f"Write this format instead: {', '.join(WRITABLE)}.",
)
@setting_flags
@click.option("--fit", type=click.IntRange(min=1), metavar="N", help="Make it fit into N tokens.")
@click.option("--focus", default="", metavar="TEXT", help="What deserves most of the record.")
@summarizer_flag
@click.option("--force", is_flag=True, help="Compact even what fits already.")
@click.option("--dry-run", is_flag=True, help="Write no transcript and ask no model.")
@click.option("--report", metavar="FILE", help="Write a JSON report; - for standard output.")
@click.option("--json", "as_json", is_flag=True, help="The same as --report -.")
@store_flags
def command(**options: Unpack[_Options]) -> Exit:
    """Make a transcript smaller.

    FILE is a transcript in any known format, packed or not, a database of sessions, a folder over
    which a session is spread, or - for standard input. ID is a stored session, whose window is
    taken and which stays as it is; holdfast sessions compress changes it. The result goes to OUT or
    to standard output in the same format, byte for byte the same when nothing was done, and an
    agent can go on with a session file of its own. A format that cannot be written is written as
    openai. Several FILEs need a folder as OUT. A summary of what happened goes to standard error.
    """
    wish = FileCompression(
        format=options["format_name"],
        to=options["to"],
        focus=options["focus"],
        force=options["force"],
        dry_run=options["dry_run"],
        conversation=options["conversation"],
    )
    places = _places(options, wish)
    # Refuse a report that would take the place of a transcript.
    report = options["report"]
    if report is not None:
        for place in places:
            if same_file(report, place.source):
                raise click.UsageError(f"the report would overwrite its input, {place.source}")
            if same_file(report, place.place):
                raise click.UsageError(f"the report and the transcript cannot both go to {report}")
    settings = configuration(options, options["summarizer"]).settings
    silence_log("holdfast.engines")
    if wish.dry_run and engine_of(settings).summarizer:
        tell("holdfast: a dry run asks no model; the figures are those of the deterministic record")
    endings = [_one(target, wish, settings, options) for target in places]
    _write_reports(options, endings)
    outcomes = {each.compressed.report.outcome if each.compressed else "" for each in endings}
    if outcomes & {"", "abandoned"}:
        return Exit.FAILED
    return Exit.NOTHING_TO_DO if outcomes == {"unchanged"} else Exit.DONE


@dataclass(frozen=True, slots=True)
class _Ending:
    """How one file went."""

    name: str
    compressed: Compressed | None
    """None when the file failed before anything was known."""


def _places(options: _Options, wish: FileCompression) -> Sequence[OutputTarget]:
    """Return where each file goes; what cannot be meant is a usage error."""
    if options["as_json"]:
        if options["report"] not in (None, PIPE):
            raise click.UsageError("--json and --report FILE exclude each other")
        options["report"] = PIPE
    if options["files"].count(PIPE) > 1:
        raise click.UsageError("standard input can be read only once")
    output = options["output"] or PIPE
    if wish.dry_run:
        return [OutputTarget(name, PIPE) for name in options["files"]]
    if options["report"] == PIPE and output == PIPE:
        raise click.UsageError(
            "the report and the transcript cannot both go to standard output; name a file with -o"
        )
    places = targets(options["files"], output)
    for place in places:
        if wish.conversation is not None and same_file(place.source, place.place):
            raise click.UsageError(
                f"{place.source} would keep one conversation only; name another file with -o"
            )
    return places


def _one(
    target: OutputTarget, wish: FileCompression, settings: Settings, options: _Options
) -> _Ending:
    """Compress one file, counted as the model counts that it was held with.

    A failure is told at once and does not stop the others.
    """
    try:
        source = open_input(target.source, wish.format, settings)
        with about(source.name):
            document = source.document(wish.format, wish.conversation)
            own = source.settings_for(document, settings, options)
            engine = engine_of(own, fit=options["fit"], ask=not wish.dry_run)
            compressed = compress_input(source, document, wish, engine)
        if compressed.content is not None and not wish.dry_run:
            write_output(target.place, compressed.content)
    except HoldfastError as error:
        tell(f"holdfast: {error}")
        return _Ending(target.source, None)
    view = screen(is_error=True)
    view.show(compressed_drawn(source.name, compressed, view.width))
    return _Ending(target.source, compressed)


def _write_reports(options: _Options, endings: Sequence[_Ending]) -> None:
    place = options["report"]
    if place is None:
        return
    reports = [
        {"file": each.name, **each.compressed.as_json()}
        for each in endings
        if each.compressed is not None
    ]
    if len(options["files"]) == 1 and not reports:
        return
    value: object = reports
    if len(options["files"]) == 1:
        value = {key: entry for key, entry in reports[0].items() if key != "file"}
    write_output(place, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())


@dataclass(frozen=True, slots=True)
class OutputTarget:
    """A file to read and the place for its result."""

    source: str
    place: str


def targets(sources: Sequence[str], output: str) -> list[OutputTarget]:
    """Return a place for each source.

    A folder, or a name that ends like one, takes files under their own names. Anything else
    takes exactly one.
    """
    if output == os.devnull:
        return [OutputTarget(source, output) for source in sources]
    if not _is_folder(output):
        if len(sources) > 1:
            raise click.UsageError("several files need a folder to go to: -o FOLDER/")
        return [OutputTarget(sources[0], output)]
    folder = Path(output)
    names = [Path(source).name for source in sources]
    for name in names:
        if name == PIPE:
            raise click.UsageError("standard input has no name; name a file with -o")
        if names.count(name) > 1:
            raise click.UsageError(f"two of the files are called {name}; write them one by one")
    folder.mkdir(parents=True, exist_ok=True)
    return [
        OutputTarget(source, str(folder / name))
        for source, name in zip(sources, names, strict=True)
    ]


def _is_folder(output: str) -> bool:
    if output == PIPE:
        return False
    separators = tuple(filter(None, (os.sep, os.altsep)))
    return output.endswith(separators) or Path(output).is_dir()
