"""Draws where the context went, to scale: against the window, and along the conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from holdfast.cli.screen import Line, Styled
from holdfast.views.context_map import ContentKind, ContextMap
from holdfast.views.words import cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Frame",
    "columns_of",
    "conversation_strip",
    "fold_strip",
    "joined",
    "legend",
    "window_bar",
]

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
class Frame:
    """What the map is drawn against, and on what."""

    window: int
    threshold: int
    width: int
    colored: bool = False


def window_bar(census: ContextMap, frame: Frame) -> list[Line]:
    """Return the kinds stacked in one bar against threshold and window."""
    room = frame.width - 4
    whole = max(frame.window, census.tokens, 1)
    used = min(max(round(census.tokens / whole * room), 1), room) if census.tokens else 0
    kinds = census.kinds
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
    bar = [_run(kind, shares[kind], frame) for kind in kinds]
    bar.append(Styled(_FREE * (room - used), "dim"))
    place = min(round(frame.threshold / whole * room), room - 1)
    return [
        (Styled(" ["), *bar, Styled("]")),
        (Styled(_pointer(f"threshold {frame.threshold:,}", place + 2, frame.width), "dim"),),
        *_overflow(census, frame, room, whole),
    ]


def conversation_strip(census: ContextMap, frame: Frame) -> Line:
    """Return the conversation from left to right, each column an equal number of tokens."""
    columns = columns_of(
        ((kind, tokens) for pieces in census.pieces for kind, tokens in pieces),
        census.tokens,
        frame.width - 4,
    )
    runs = [_run(kind, 1, frame) for kind in columns]
    return (Styled(" ["), *joined(runs), Styled("]"))


def fold_strip(census: ContextMap, folded: frozenset[int], frame: Frame) -> Line:
    """Return below the conversation which part of it would be folded and which would stay."""
    columns = columns_of(
        ((index in folded, weight) for index, weight in enumerate(census.weights)),
        census.tokens,
        frame.width - 4,
    )
    signs = [Styled("-" if gone else "=", "dim" if gone else "bold green") for gone in columns]
    return (Styled(" ["), *joined(signs), Styled("]"))


def legend(census: ContextMap, frame: Frame) -> list[Line]:
    """Return the kinds with their letters, tokens and shares."""
    lines: list[Line] = []
    total = max(census.tokens, 1)
    for kind, tokens in census.kinds.items():
        sign = _run(kind, 1, frame)
        share = f"{tokens / total:.1%}"
        lines.append((Styled("  "), sign, Styled(f" {kind:<13}{tokens:>10,} tokens {share:>7}")))
    return lines


def _run(kind: ContentKind, count: int, frame: Frame) -> Styled:
    return Styled((_BLOCK if frame.colored else _LETTERS[kind]) * count, _COLORS[kind])


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


def _overflow(census: ContextMap, frame: Frame, room: int, whole: int) -> list[Line]:
    if census.tokens <= frame.window:
        return []
    place = min(round(frame.window / whole * room), room - 1)
    return [(Styled(_pointer(f"window {frame.window:,}", place + 2, frame.width), "bold red"),)]
