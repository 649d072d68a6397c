"""Text laid out for a terminal: lines of styled spans, measured in cells.

Views return lines; what draws them decides whether styles become colors. Transcripts hold
whatever tools printed, so every character that a terminal could obey is taken out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.views.words import cells, clean, crop

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

__all__ = ["Line", "Styled", "crop_middle", "plain", "table", "wrapped"]


@dataclass(frozen=True, slots=True)
class Styled:
    """Some words, and how they are to look; safe to print whatever they are."""

    text: str
    style: str = ""

    def __post_init__(self) -> None:
        """Take out what a terminal would obey rather than show."""
        object.__setattr__(self, "text", clean(self.text))


Line: TypeAlias = tuple[Styled, ...]


def crop_middle(text: str, width: int) -> str:
    """Return the text in at most `width` columns, cut where names differ least: in the middle."""
    if cells(text) <= width:
        return text
    tail = ""
    for sign in reversed(text):
        if cells(sign + tail) > width // 2:
            break
        tail = sign + tail
    return crop(text, width - cells(tail)) + tail


def plain(lines: Sequence[Line]) -> str:
    """Return the lines as bare text."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def table(rows: Sequence[Sequence[str]], width: int | None, *, right: frozenset[int]) -> list[Line]:
    """Lay rows out in columns; the first row is the heading, the last column gets the rest.

    Args:
        rows: The heading and the rows.
        width: How many columns there are in all; None for as many as it takes.
        right: The indices of the columns that hold figures.
    """
    shown = [[clean(cell) for cell in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(*shown, strict=True)]
    if width is not None:
        widths[-1] = max(width - sum(widths[:-1]) - 2 * len(widths), 8)
    found: list[Line] = []
    for number, row in enumerate(shown):
        padded = [
            _padded(crop(cell, widths[place]), widths[place], right=place in right)
            for place, cell in enumerate(row)
        ]
        found.append((Styled("  " + "  ".join(padded), "" if number else "bold"),))
    return found


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return the text in lines of at most `width` columns, its own line breaks kept.

    A line that continues is indented as deep as the words of its first line.
    """
    import textwrap

    found: list[str] = []
    for line in text.split("\n"):
        shown = clean(line)
        mark = len(shown) - len(shown.lstrip(" -0123456789.>"))
        deeper = indent + " " * min(mark, 6)
        found += textwrap.wrap(
            shown, max(width, 20), initial_indent=indent, subsequent_indent=deeper
        ) or [""]
    return found


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - cells(text))
    return space + text if right else text + space
