"""`holdfast compress`: makes transcripts smaller, and draws exactly what happened to each."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.files import (
    PIPE,
    about,
    format_flag,
    open_input,
    refused,
    same_file,
    write_output,
)
from holdfast.cli.flags import (
    configuration,
    conversation_flag,
    setting_flags,
    store_flags,
    summarizer_flag,
)
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, screen, silence_log, tell
from holdfast.compaction import Abandoned, Request, Unchanged
from holdfast.compaction.repair import repair
from holdfast.errors import HoldfastError, InvalidTranscript
from holdfast.formats import FORMATS, WRITABLE, write
from holdfast.views.words import clean, counted
from holdfast.wire import DIALECTS
from holdfast.wiring import engine_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from holdfast.cli.files import OpenedInput
    from holdfast.cli.screen import Line
    from holdfast.compaction import CompactionReport
    from holdfast.config import Settings
    from holdfast.engines import Engine
    from holdfast.formats import Document
    from holdfast.transcript import Transcript

_INSTEAD = "openai"
"""How a session file is written whose own format cannot be."""
_STYLES = {
    "folded": "bold green",
    "pruned_only": "bold green",
    "unchanged": "bold yellow",
    "abandoned": "bold red",
}
_WORDS = {
    "folded": "folded",
    "pruned_only": "pruned, which was enough",
    "unchanged": "unchanged",
    "abandoned": "abandoned, nothing was written",
}
_PRUNED = {
    "summarised": ("result in one line", "results in one line"),
    "deduplicated": ("duplicate", "duplicates"),
    "arguments": ("long argument", "long arguments"),
    "media": ("image", "images"),
    "truncated": ("oversized result", "oversized results"),
}
_PROBLEMS_SHOWN = 3
_LABEL = 12
_WIDEST = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCompression:
    """How a file is to be compressed."""

    format: str = "auto"
    to: str | None = None
    focus: str = ""
    force: bool = False
    dry_run: bool = False
    conversation: int | None = None
    """Which of several conversations is meant, counted from 1."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """What came out."""

    report: CompactionReport
    format: str
    """What the input was."""
    content: bytes | None
    """What is to be written; None when the compaction was abandoned."""
    left_out: tuple[str, ...] = ()
    """What of the input is in no output: where it stood, and why."""

    def as_json(self) -> dict[str, object]:
        """Return the report, with what was left out among its warnings."""
        told = [f"left out: {each}" for each in self.left_out]
        return {**self.report.as_json(), "warnings": [*self.report.warnings, *told]}


def compress_input(
    source: OpenedInput, document: Document, wish: FileCompression, engine: Engine
) -> Compressed:
    """Compact one input, of which the document is the conversation that is meant.

    Raises:
        HoldfastError: when it cannot be written, or the result would break a rule of
            the provider it is for.
    """
    to = None if wish.to == document.format else wish.to
    before = document.live
    if document.envelope is not None:
        # A list of messages says of nothing who wrote it; a session file does.
        before = engine.recognized(before)
    report = engine.compact(before, Request(focus=wish.focus, force=wish.force))
    if to is None and not (document.envelope is not None or document.format in WRITABLE):
        to = _INSTEAD
        told = f"{document.format} can be read, not written: this is {to}; --to chooses another"
        if document.format not in FORMATS:
            told = f"a {document.format} is written as {to}; --to chooses another"
        report = replace(report, notes=(*report.notes, told))
    content = None
    if not wish.dry_run and not isinstance(report.result, Abandoned):
        same = isinstance(report.result, Unchanged) and to is None and wish.conversation is None
        content = source.content if same else None
        content = content or _written(document, before, report, to)
    left_out = [f"line {each.line}: {each.reason}" for each in document.problems]
    if to is not None and document.envelope is not None:
        total = len(document.envelope.messages)
        for earlier, aside in enumerate(document.envelope.asides):
            index = total - aside.following + earlier
            left_out.append(f"message {index}: {to} has no role {aside.value.get('role')!r}")
    return Compressed(report, document.format, content, tuple(left_out))


def _written(
    document: Document, before: Transcript, report: CompactionReport, to: str | None
) -> bytes:
    # A call that was interrupted has no result, which no provider takes in the middle.
    transcript = report.result.transcript
    if to or document.envelope is None:
        transcript = repair(transcript)
    name = FORMATS[to].dialect if to else document.dialect
    # Refuse to write what the provider would refuse, save for rules that the input broke.
    dialect = DIALECTS[name]
    violations = dialect.validate(dialect.encode(transcript))
    if violations:
        broken = {each.rule for each in dialect.validate(dialect.encode(before))}
        fresh = tuple(each for each in violations if each.rule not in broken)
        if fresh:
            first = fresh[0]
            raise InvalidTranscript(
                f"the result would break a rule of {name}, so nothing was written: "
                f"message {first.index}, {first.rule}: {first.message}",
                fresh,
            )
    return write(document, transcript, to=to).encode()


def compressed_drawn(name: str, compressed: Compressed, width: int = _WIDEST) -> list[Line]:
    """Return what happened to a file, with its figures and warnings."""
    report = compressed.report
    reason = f": {report.reason}" if report.reason else ""
    lines: list[Line] = [
        (
            Styled(f"{name} ({compressed.format}): "),
            Styled(_WORDS[report.outcome], _STYLES[report.outcome]),
            Styled(reason),
        )
    ]
    lines += figures(report, width)
    for warning in report.warnings:
        lines += _labeled("warning", warning, width, "yellow")
    for place in compressed.left_out[:_PROBLEMS_SHOWN]:
        lines += _labeled("left out", place, width, "yellow")
    more = len(compressed.left_out) - _PROBLEMS_SHOWN
    if more > 0:
        lines += _labeled("left out", f"{more:,} more", width, "yellow")
    return lines


def figures(report: CompactionReport, width: int = _WIDEST) -> list[Line]:
    """Return the figures of a compaction, one theme after the other."""
    return [line for label, words in _themes(report) for line in _labeled(label, words, width)]


def _labeled(label: str, words: str, width: int, style: str = "dim") -> list[Line]:
    """Return words beside their label, in as many lines of at most 80 columns as they take."""
    import textwrap

    room = min(width, _WIDEST) - _LABEL
    first, *rest = textwrap.wrap(clean(words), room) or [""]
    indent = " " * _LABEL
    return [
        (Styled(f"  {label:<{_LABEL - 2}}", style), Styled(first)),
        *((Styled(indent), Styled(line)) for line in rest),
    ]


def _themes(report: CompactionReport) -> Iterator[tuple[str, str]]:
    found = report.figures
    if report.outcome in ("unchanged", "abandoned"):
        yield (
            "size",
            (
                f"{counted(found.messages_before, 'message')}, "
                f"{counted(found.tokens_before, 'token')}"
            ),
        )
        return
    yield "tokens", f"{found.tokens_before:,} -> {found.tokens_after:,} ({-found.saved:+.0%})"
    parts = ""
    if found.folded:
        parts = f" (head {found.head:,}, folded {found.folded:,}, tail {found.tail:,})"
    yield "messages", f"{found.messages_before:,} -> {found.messages_after:,}{parts}"
    if found.pruned.any:
        pairs = ((getattr(found.pruned, name), words) for name, words in _PRUNED.items())
        words = (f"{count:,} {words[count != 1]}" for count, words in pairs if count)
        yield "pruned", ", ".join(words)
    if found.summary is not None:
        by = f" by {found.summary.model}" if found.summary.model else ""
        yield "record", f"{found.summary.origin}{by}, {found.summary.tokens:,} tokens"
    if found.audit is not None and found.audit.statements:
        kept, asked = found.audit.retained, found.audit.statements
        kinds = ", ".join(
            f"{kind} {there:,}/{wanted:,}" for kind, wanted, there in found.audit.kinds
        )
        share = f"{kept:,} of {asked:,} statements are still in the window ({kept / asked:.0%})"
        yield "audit", f"{share}: {kinds}"


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
@format_flag("the input")
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
    separators = tuple(filter(None, (os.sep, os.altsep)))
    if output == PIPE or not (output.endswith(separators) or Path(output).is_dir()):
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
    try:
        # What it is in must be there: a misspelled folder above it would pass unnoticed.
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise refused("write", output, error) from error
    return [
        OutputTarget(source, str(folder / name))
        for source, name in zip(sources, names, strict=True)
    ]
