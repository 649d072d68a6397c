"""The context map: what fills the window, drawn to scale, each block a way to its message."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.views.context_map import ContentKind
from holdfast.views.html.events import anchor
from holdfast.views.html.text import attribute, escaped
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.views.context_map import WeighedMessage, WeighedWindow, WindowLimits

__all__ = ["map_shown"]

_BLOCKS = 240
"""Blocks of the map in order: more could not be told apart, and a finger needs fewer."""
_WIDTH = 1000
_HEIGHT = 20


@dataclass(frozen=True, slots=True)
class _Block:
    """A stretch of the map."""

    kind: ContentKind
    tokens: int
    heaviest: WeighedMessage
    """The message that has the most to do with it."""


def map_shown(found: WeighedWindow, limits: WindowLimits, places: frozenset[int]) -> str:
    """Return the map with its legend.

    Args:
        found: The window.
        limits: What it is drawn against.
        places: The ids of the messages that the page has a place for.
    """
    total = found.tokens
    share = f"{total / max(limits.window, 1):.0%}"
    words = (
        f"{counted(len(found.weights), 'message')}, {total:,} of {limits.window:,} tokens, "
        f"{share} used. A compaction is due at {limits.threshold:,} tokens, the dashed line."
    )
    if total > limits.window:
        words += " The window ends at the other line."
    kinds = list(_kinds(found))
    scale = max(limits.window, total, 1)
    rows = "".join(_row(block, total, places) for block in kinds)
    heavy = "".join(_heavy(each, places) for each in found.heaviest)
    return (
        f'<section class="map" aria-labelledby="map"><h2 id="map">The window</h2><p>{words}</p>'
        f"{_bar(kinds, scale, places, _lines(limits, scale))}"
        f"<p>From beginning to end:</p>{_bar(list(_in_order(found)), max(total, 1), places)}"
        "<table><caption>What fills it</caption><thead><tr>"
        '<th scope="col">kind</th><th scope="col">tokens</th><th scope="col">share</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
        f"<details><summary>The heaviest messages</summary><ol>{heavy}</ol></details></section>"
    )


def _kinds(found: WeighedWindow) -> Iterator[_Block]:
    totals = Counter[ContentKind]()
    heaviest: dict[ContentKind, tuple[int, WeighedMessage]] = {}
    for weight in found.weights:
        for kind, tokens in weight.pieces:
            totals[kind] += tokens
            if kind not in heaviest or tokens > heaviest[kind][0]:
                heaviest[kind] = (tokens, weight)
    for kind in ContentKind:
        if totals[kind]:
            yield _Block(kind, totals[kind], heaviest[kind][1])


def _in_order(found: WeighedWindow) -> Iterator[_Block]:
    """Merge neighbors until each block is wide enough to be seen."""
    least = found.tokens / _BLOCKS
    waiting: list[tuple[ContentKind, int, WeighedMessage]] = []
    held = 0
    for weight in found.weights:
        for kind, tokens in weight.pieces:
            waiting.append((kind, tokens, weight))
            held += tokens
            if held >= least:
                yield _merged(waiting, held)
                waiting, held = [], 0
    if held:
        yield _merged(waiting, held)


def _merged(pieces: Sequence[tuple[ContentKind, int, WeighedMessage]], tokens: int) -> _Block:
    totals = Counter[ContentKind]()
    for kind, weight, _ in pieces:
        totals[kind] += weight
    return _Block(totals.most_common(1)[0][0], tokens, max(pieces, key=lambda each: each[1])[2])


def _bar(blocks: Iterable[_Block], scale: int, places: frozenset[int], over: str = "") -> str:
    drawn: list[str] = []
    start = 0.0
    for block in blocks:
        width = block.tokens / scale * _WIDTH
        title = f"{block.kind}: {block.tokens:,} tokens"
        rectangle = (
            f'<rect class="{_name(block.kind)}" x="{start:.2f}" y="0" width="{width:.2f}" '
            f'height="{_HEIGHT}"><title>{attribute(title)}</title></rect>'
        )
        # The table and the list below lead the same way for who walks with the keyboard.
        drawn.append(_link(block.heaviest, rectangle, places, ' tabindex="-1"'))
        start += width
    return (
        f'<svg class="bar" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{"".join(drawn)}{over}</svg>'
    )


def _lines(limits: WindowLimits, scale: int) -> str:
    """Return where the limits are; the window's own end needs no line where the bar ends."""
    found = {"threshold": limits.threshold}
    if scale > limits.window:
        found["limit"] = limits.window
    return "".join(
        f'<line class="{name}" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="{_HEIGHT}"/>'
        for name, tokens in found.items()
        for x in (tokens / scale * _WIDTH,)
    )


def _row(block: _Block, total: int, places: frozenset[int]) -> str:
    swatch = (
        '<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect class="{_name(block.kind)}" width="10" height="10"/></svg>'
    )
    return (
        f'<tr><th scope="row">{swatch} {_link(block.heaviest, str(block.kind), places)}</th>'
        f"<td>{block.tokens:,}</td><td>{block.tokens / max(total, 1):.1%}</td></tr>"
    )


def _heavy(each: tuple[int, WeighedMessage, str], places: frozenset[int]) -> str:
    tokens, weight, beginning = each
    return f"<li>{_link(weight, f'{tokens:,} tokens', places)} {escaped(beginning)}</li>"


def _link(weight: WeighedMessage, content: str, places: frozenset[int], more: str = "") -> str:
    """Lead to the message, to the one that it stands for, or nowhere if neither is in the page."""
    place = next((id_ for id_ in (weight.id, weight.stands_for) if id_ in places), None)
    return content if place is None else f'<a href="#{anchor(place)}"{more}>{content}</a>'


def _name(kind: ContentKind) -> str:
    return f"kind-{kind.name.lower()}"
