"""`holdfast inspect`: where the context went, to scale, and what a compaction would do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, TypeVar

import click

from holdfast.cli.files import about, format_flag, open_input
from holdfast.cli.flags import (
    configuration,
    conversation_flag,
    json_flag,
    setting_flags,
    store_flags,
)
from holdfast.cli.root import examples
from holdfast.cli.screen import Line, Styled, screen, show_json, table
from holdfast.compaction import CompactionPlan
from holdfast.redaction import Redactor
from holdfast.transcript import one_line
from holdfast.views.context_map import ContentKind, ContextMap
from holdfast.views.inspection import inspect_document
from holdfast.views.words import cells, counted
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Unpack

    from holdfast.cli.screen import OutputScreen
    from holdfast.config import Settings
    from holdfast.views.inspection import Inspection

_LETTERS = {
    ContentKind.SYSTEM: "S",
    ContentKind.SUMMARY: "R",
    ContentKind.MEMORY: "M",
    ContentKind.USER: "U",
    ContentKind.ASSISTANT: "A",
    ContentKind.THINKING: "H",
    ContentKind.CALLS: "C",
    ContentKind.RESULTS: "T",
    ContentKind.IMAGES: "I",
}
_COLORS = {
    ContentKind.SYSTEM: "magenta",
    ContentKind.SUMMARY: "bright_green",
    ContentKind.MEMORY: "green",
    ContentKind.USER: "bright_cyan",
    ContentKind.ASSISTANT: "blue",
    ContentKind.THINKING: "bright_black",
    ContentKind.CALLS: "yellow",
    ContentKind.RESULTS: "white",
    ContentKind.IMAGES: "red",
}
Mark = TypeVar("Mark")

_FREE = "."
_BLOCK = "█"


@dataclass(frozen=True, slots=True)
class MapScale:
    """The window, threshold and terminal width that a map is drawn to."""

    window: int
    threshold: int
    width: int
    colored: bool = False


def window_bar(usage: ContextMap, scale: MapScale) -> list[Line]:
    """Return the kinds stacked in one bar against threshold and window."""
    room = scale.width - 4
    whole = max(scale.window, usage.tokens, 1)
    used = min(max(round(usage.tokens / whole * room), 1), room) if usage.tokens else 0
    kinds = usage.kinds
    # Share columns out by weight, the largest remainders first; what exists gets one if it can.
    total = max(sum(kinds.values()), 1)
    exact = {kind: weight / total * used for kind, weight in kinds.items()}
    fewest = 1 if len(kinds) <= used else 0
    shares = {kind: max(int(share), fewest) for kind, share in exact.items()}
    while sum(shares.values()) > used:
        roomy = [kind for kind in shares if shares[kind] > fewest]
        shares[max(roomy, key=lambda kind: shares[kind] - exact[kind])] -= 1
    while sum(shares.values()) < used:
        shares[max(shares, key=lambda kind: exact[kind] - shares[kind])] += 1
    bar = [_run(kind, shares[kind], scale) for kind in kinds]
    bar.append(Styled(_FREE * (room - used), "dim"))
    place = min(round(scale.threshold / whole * room), room - 1)
    lines: list[Line] = [
        (Styled(" ["), *bar, Styled("]")),
        (Styled(_pointer(f"threshold {scale.threshold:,}", place + 2, scale.width), "dim"),),
    ]
    if usage.tokens > scale.window:
        place = min(round(scale.window / whole * room), room - 1)
        pointer = _pointer(f"window {scale.window:,}", place + 2, scale.width)
        lines.append((Styled(pointer, "bold red"),))
    return lines


def conversation_strip(usage: ContextMap, scale: MapScale) -> Line:
    """Return the conversation from left to right, each column an equal number of tokens."""
    columns = columns_of(
        ((kind, tokens) for pieces in usage.pieces for kind, tokens in pieces),
        usage.tokens,
        scale.width - 4,
    )
    runs = [_run(kind, 1, scale) for kind in columns]
    return (Styled(" ["), *joined(runs), Styled("]"))


def fold_strip(usage: ContextMap, folded: frozenset[int], scale: MapScale) -> Line:
    """Return below the conversation which part of it would be folded and which would stay."""
    columns = columns_of(
        ((index in folded, weight) for index, weight in enumerate(usage.weights)),
        usage.tokens,
        scale.width - 4,
    )
    signs = [Styled("-" if gone else "=", "dim" if gone else "bold green") for gone in columns]
    return (Styled(" ["), *joined(signs), Styled("]"))


def legend(usage: ContextMap, scale: MapScale) -> list[Line]:
    """Return the kinds with their letters, tokens and shares."""
    lines: list[Line] = []
    total = max(usage.tokens, 1)
    for kind, tokens in usage.kinds.items():
        sign = _run(kind, 1, scale)
        share = f"{tokens / total:.1%}"
        lines.append((Styled("  "), sign, Styled(f" {kind:<13}{tokens:>10,} tokens {share:>7}")))
    return lines


def _run(kind: ContentKind, count: int, scale: MapScale) -> Styled:
    return Styled((_BLOCK if scale.colored else _LETTERS[kind]) * count, _COLORS[kind])


def columns_of(pieces: Iterable[tuple[Mark, int]], total: int, room: int) -> list[Mark]:
    """Return for each column the mark with the most tokens in it."""
    width = max(total, 1) / room
    tallies: list[dict[Mark, float]] = [{} for _ in range(room)]
    position = 0.0
    for mark, tokens in pieces:
        end = position + tokens
        column = int(position / width)
        while position < end and column < room:
            step = min(end, (column + 1) * width) - position
            tallies[column][mark] = tallies[column].get(mark, 0.0) + step
            position += step
            column += 1
        position = end
    return [max(tally, key=tally.__getitem__) for tally in tallies if tally]


def joined(spans: Sequence[Styled]) -> list[Styled]:
    """Join neighbors that look the same, so that a terminal gets few color changes."""
    found: list[Styled] = []
    for span in spans:
        if found and found[-1].style == span.style:
            found[-1] = Styled(found[-1].text + span.text, span.style)
        else:
            found.append(span)
    return found


def _pointer(label: str, column: int, width: int) -> str:
    """Return a caret under the column with its label on the side that has room."""
    if column + 2 + cells(label) <= width:
        return " " * column + f"^ {label}"
    return f"{label} ^".rjust(column + 1)


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
@format_flag("the file")
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
@json_flag
def command(**options: Unpack[_Options]) -> None:
    """Show where the context went, drawn to scale.

    The first bar is the window with everything in it, the second the conversation from its
    beginning to its end, and below it what a compaction would fold. FILE is a transcript in any
    known format, or - for standard input. SESSION is the id of a stored session or the beginning
    of one, or last: then its window is shown. Nothing is changed.
    """
    settings: Settings = configuration(options).settings
    source = open_input(options["file"], options["format_name"], settings)
    with about(source.name):
        document = source.document(options["format_name"], options["conversation"])
        # The model and the window are those that it was held with, unless flags name others.
        settings = source.settings_for(document, settings, options)
        policy = policy_of(settings, fit=options["fit"])
        redactor = Redactor(settings.redaction.extra_patterns)
        found = inspect_document(
            source.name, document, policy, counter_of(settings), redactor.redact
        )
    if options["as_json"]:
        show_json(found.as_json(top=options["top"], messages=options["messages"]))
        return
    view = screen()
    view.show(inspection_drawn(found, view, top=options["top"], messages=options["messages"]))


def inspection_drawn(
    found: Inspection, view: OutputScreen, *, top: int, messages: bool
) -> list[Line]:
    """Return the map, the counts, the heaviest messages and what a compaction would do."""
    scale = MapScale(
        window=found.policy.context_length,
        threshold=found.policy.threshold_tokens,
        width=view.width,
        colored=view.colored,
    )
    lines = [*_heading(found), (), *_maps(found, scale), (), *legend(found.usage, scale), ()]
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


def _maps(found: Inspection, scale: MapScale) -> Iterator[Line]:
    room = scale.width - 4
    whole = max(scale.window, found.usage.tokens)
    percent = f"{found.usage.tokens / max(scale.window, 1):.0%}"
    yield (
        Styled("the window", "bold"),
        Styled(f" of {scale.window:,} tokens, {percent} used"),
        Styled(f" (a column is {_tokens(whole / room)})", "dim"),
    )
    yield from window_bar(found.usage, scale)
    if not found.usage.tokens:
        return
    yield (
        Styled("the conversation", "bold"),
        Styled(" from beginning to end"),
        Styled(f" (a column is {_tokens(found.usage.tokens / room)})", "dim"),
    )
    yield conversation_strip(found.usage, scale)
    if isinstance(found.decision, CompactionPlan):
        yield fold_strip(found.usage, found.folded, scale)
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
        yield (Styled("compaction is due", "bold yellow"), Styled(f": {', '.join(reached)}"))
    else:
        left = found.policy.threshold_tokens - found.usage.tokens
        yield (Styled("compaction is not due", "bold green"), Styled(f": {left:,} tokens to go"))
    if found.hygiene_due:
        yield (Styled(f"hygiene is due: over {found.policy.hygiene_tokens:,} tokens", "yellow"),)
    yield (Styled(f"now it would {found.would()[1]}"),)


def _tokens(width: float) -> str:
    return counted(round(width), "token") if width >= 1 else "under 1 token"
