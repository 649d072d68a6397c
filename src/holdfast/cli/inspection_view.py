"""Draws an inspection for a terminal of any width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.context_map import Frame, conversation_strip, fold_strip, legend, window_bar
from holdfast.cli.lines import Line, Span, table
from holdfast.compaction import Plan
from holdfast.transcript import one_line
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.cli.screen import Screen
    from holdfast.views.inspection import Inspection

__all__ = ["drawn"]

_FIGURES = frozenset({0, 2, 3})


def drawn(found: Inspection, view: Screen, *, top: int, messages: bool) -> list[Line]:
    """Return the map, the counts, the heaviest messages and what a compaction would do."""
    frame = Frame(
        window=found.policy.context_length,
        threshold=found.policy.threshold_tokens,
        width=view.width,
        colored=view.colored,
    )
    lines = [*_heading(found), (), *_maps(found, frame), (), *legend(found.usage, frame), ()]
    if top and found.transcript:
        lines += [(Span("heaviest messages", "bold"),)]
        lines += [*_listing(found, found.heaviest(top), view.width), ()]
    lines += _verdict(found)
    if messages:
        lines += [(), (Span("messages", "bold"),)]
        lines += _listing(found, range(len(found.transcript)), view.width)
    return lines


def _heading(found: Inspection) -> Iterator[Line]:
    roles = ", ".join(f"{count:,} {role}" for role, count in found.usage.roles.items())
    images = found.usage.load.images
    pictures = f", {counted(images, 'image')}" if images else ""
    yield (Span(found.name, "bold"), Span(f" ({found.document.format})"))
    yield (
        Span(
            f"{counted(len(found.transcript), 'message')}, "
            f"{counted(found.usage.tokens, 'token')} "
            f"({found.counter}){pictures}"
        ),
    )
    if roles:
        yield (Span(f"by role: {roles}"),)
    hidden = len(found.document.transcript) - len(found.transcript)
    if hidden:
        yield (Span(f"{counted(hidden, 'older message')} before the newest summary, out of sight"),)
    if found.document.problems:
        first = found.document.problems[0]
        count = len(found.document.problems)
        yield (
            Span(f"{counted(count, 'line')} could not be read, ", "yellow"),
            Span(f"the first is line {first.line}: {first.reason}"),
        )


def _maps(found: Inspection, frame: Frame) -> Iterator[Line]:
    room = frame.width - 4
    whole = max(frame.window, found.usage.tokens)
    yield (
        Span("the window", "bold"),
        Span(f" of {frame.window:,} tokens, {_percent(found.usage.tokens, frame.window)} used"),
        Span(f" (a column is {_tokens(whole / room)})", "dim"),
    )
    yield from window_bar(found.usage, frame)
    if not found.usage.tokens:
        return
    yield (
        Span("the conversation", "bold"),
        Span(" from beginning to end"),
        Span(f" (a column is {_tokens(found.usage.tokens / room)})", "dim"),
    )
    yield conversation_strip(found.usage, frame)
    if isinstance(found.decision, Plan):
        yield fold_strip(found.usage, found.folded, frame)
        yield (Span("  = stays   - would be folded", "dim"),)


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
        yield (Span("compaction is due", "bold yellow"), Span(f": {', '.join(reached)}"))
    else:
        left = found.policy.threshold_tokens - found.usage.tokens
        yield (Span("compaction is not due", "bold green"), Span(f": {left:,} tokens to go"))
    if found.hygiene_due:
        yield (Span(f"hygiene is due: over {found.policy.hygiene_tokens:,} tokens", "yellow"),)
    yield (Span(f"now it would {found.would()[1]}"),)


def _tokens(width: float) -> str:
    return counted(round(width), "token") if width >= 1 else "under 1 token"


def _percent(part: int, whole: int) -> str:
    return f"{part / max(whole, 1):.0%}"
