"""`holdfast inspect`: where the context went, and what a compaction would do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.commands import examples
from holdfast.cli.context_map import Frame, conversation_strip, fold_strip, legend, window_bar
from holdfast.cli.files import about
from holdfast.cli.flags import configuration, conversation_flag, setting_flags, store_flags
from holdfast.cli.reading import open_input
from holdfast.cli.screen import Styled, screen, show_json, table
from holdfast.compaction import CompactionPlan
from holdfast.formats import FORMATS
from holdfast.redaction import Redactor
from holdfast.transcript import one_line
from holdfast.views.inspection import inspect_document
from holdfast.views.words import counted
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from holdfast.cli.screen import Line, OutputScreen
    from holdfast.config import Settings
    from holdfast.formats import Document
    from holdfast.views.inspection import Inspection

__all__ = ["command"]

_FIGURES = frozenset({0, 2, 3})


class _Options(TypedDict):
    file: str
    format_name: str
    fit: int | None
    top: int
    messages: bool
    as_json: bool
    conversation: int | None


@click.command(
    "inspect",
    epilog=examples(
        "holdfast inspect session.json",
        "holdfast inspect session.json --context-length 128000 --messages",
        "holdfast inspect last",
        "holdfast inspect ~/.codex/sessions/rollout.jsonl --json",
    ),
)
@click.argument("file", metavar="FILE|SESSION")
@click.option(
    "--format",
    "format_name",
    default="auto",
    type=click.Choice(["auto", *FORMATS]),
    metavar="FORMAT",
    help="The format of the file; see holdfast formats.",
)
@conversation_flag
@setting_flags
@store_flags
@click.option("--fit", type=click.IntRange(min=1), metavar="N", help="Ask about a fit of N tokens.")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="How many of the heaviest messages to list.",
)
@click.option("--messages", is_flag=True, help="List every message, one line each.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(**options: Unpack[_Options]) -> None:
    """Show where the context went, drawn to scale.

    The first bar is the window with everything in it, the second the conversation from its
    beginning to its end, and below it what a compaction would fold. FILE is a transcript in any
    known format, or - for standard input. SESSION is the id of a stored session or the beginning
    of one, or last: then its window is shown. Nothing is changed.
    """
    settings: Settings = configuration(options).settings
    name, document, settings = _document(options, settings)
    with about(name):
        policy = policy_of(settings, fit=options["fit"])
        redactor = Redactor(settings.redaction.extra_patterns)
        found = inspect_document(name, document, policy, counter_of(settings), redactor.redact)
    if options["as_json"]:
        show_json(found.as_json(top=options["top"], messages=options["messages"]))
        return
    view = screen()
    view.show(inspection_drawn(found, view, top=options["top"], messages=options["messages"]))


def _document(options: _Options, settings: Settings) -> tuple[str, Document, Settings]:
    """Return the file, or the window of the stored session, with its name and its own settings.

    Its model and window are those that it was held with, unless flags name others.
    """
    source = open_input(options["file"], options["format_name"], settings)
    with about(source.name):
        document = source.document(options["format_name"], options["conversation"])
    return source.name, document, source.settings_for(document, settings, options)


def inspection_drawn(
    found: Inspection, view: OutputScreen, *, top: int, messages: bool
) -> list[Line]:
    """Return the map, the counts, the heaviest messages and what a compaction would do."""
    frame = Frame(
        window=found.policy.context_length,
        threshold=found.policy.threshold_tokens,
        width=view.width,
        colored=view.colored,
    )
    lines = [*_heading(found), (), *_maps(found, frame), (), *legend(found.usage, frame), ()]
    if top and found.transcript:
        lines += [(Styled("heaviest messages", "bold"),)]
        lines += [*_listing(found, found.heaviest(top), view.width), ()]
    lines += _verdict(found)
    if messages:
        lines += [(), (Styled("messages", "bold"),)]
        lines += _listing(found, range(len(found.transcript)), view.width)
    return lines


def _heading(found: Inspection) -> Iterator[Line]:
    roles = ", ".join(f"{count:,} {role}" for role, count in found.usage.roles.items())
    images = found.usage.load.images
    pictures = f", {counted(images, 'image')}" if images else ""
    yield (Styled(found.name, "bold"), Styled(f" ({found.document.format})"))
    yield (
        Styled(
            f"{counted(len(found.transcript), 'message')}, "
            f"{counted(found.usage.tokens, 'token')} "
            f"({found.counter}){pictures}"
        ),
    )
    if roles:
        yield (Styled(f"by role: {roles}"),)
    hidden = len(found.document.transcript) - len(found.transcript)
    if hidden:
        yield (
            Styled(f"{counted(hidden, 'older message')} before the newest summary, out of sight"),
        )
    if found.document.problems:
        first = found.document.problems[0]
        count = len(found.document.problems)
        yield (
            Styled(f"{counted(count, 'line')} could not be read, ", "yellow"),
            Styled(f"the first is line {first.line}: {first.reason}"),
        )


def _maps(found: Inspection, frame: Frame) -> Iterator[Line]:
    room = frame.width - 4
    whole = max(frame.window, found.usage.tokens)
    percent = f"{found.usage.tokens / max(frame.window, 1):.0%}"
    yield (
        Styled("the window", "bold"),
        Styled(f" of {frame.window:,} tokens, {percent} used"),
        Styled(f" (a column is {_tokens(whole / room)})", "dim"),
    )
    yield from window_bar(found.usage, frame)
    if not found.usage.tokens:
        return
    yield (
        Styled("the conversation", "bold"),
        Styled(" from beginning to end"),
        Styled(f" (a column is {_tokens(found.usage.tokens / room)})", "dim"),
    )
    yield conversation_strip(found.usage, frame)
    if isinstance(found.decision, CompactionPlan):
        yield fold_strip(found.usage, found.folded, frame)
        yield (Styled("  = stays   - would be folded", "dim"),)


def _listing(found: Inspection, indices: Iterable[int], width: int) -> list[Line]:
    total = max(found.usage.tokens, 1)
    rows = [("#", "role", "tokens", "share", "beginning")]
    for index in indices:
        message, weight = found.transcript[index], found.usage.weights[index]
        rows.append(
            (
                str(index),
                str(message.role),
                f"{weight:,}",
                f"{weight / total:.1%}",
                one_line(message, width),
            )
        )
    return table(rows, width, right=_FIGURES)


def _verdict(found: Inspection) -> Iterator[Line]:
    reached = found.due
    if reached:
        yield (
            Styled("compaction is due", "bold yellow"),
            Styled(f": {', '.join(reached)}"),
        )
    else:
        left = found.policy.threshold_tokens - found.usage.tokens
        yield (
            Styled("compaction is not due", "bold green"),
            Styled(f": {left:,} tokens to go"),
        )
    if found.hygiene_due:
        yield (Styled(f"hygiene is due: over {found.policy.hygiene_tokens:,} tokens", "yellow"),)
    yield (Styled(f"now it would {found.would()[1]}"),)


def _tokens(width: float) -> str:
    return counted(round(width), "token") if width >= 1 else "under 1 token"
