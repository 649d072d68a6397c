"""Lines of a text that know whether they stand inside a code fence.

A heading inside a fence is code. Fences are found by walking the lines: a fence that never
closes is none, and one around the whole answer is only its wrapping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.summary.headings import heading_in, section_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Line", "outline"]

_WRAPPED = 3


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text."""

    text: str
    free: bool = True
    """Whether it stands outside every fence, so that its marks mean something."""

    @property
    def indent(self) -> int:
        """Return how many spaces it begins with."""
        return len(self.text) - len(self.text.lstrip(" "))


def outline(text: str) -> tuple[Line, ...]:
    """Return the lines of the text."""
    return tuple(_walk(_unwrapped(text.split("\n"))))


def _walk(lines: Sequence[str]) -> Iterator[Line]:
    index = 0
    while index < len(lines):
        fence = _fence(lines[index])
        end = _closing(lines, index, fence) if fence else None
        if end is None:
            yield Line(lines[index])
            index += 1
            continue
        inner = lines[index + 1 : end]
        if _holds_record(inner):
            yield from _walk(inner)
        else:
            yield from (Line(each, free=False) for each in lines[index : end + 1])
        index = end + 1


def _unwrapped(lines: list[str]) -> list[str]:
    """Return the lines without a fence around all of them, even if fences stand inside it."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:
        return lines
    first, last = filled[0], filled[-1]
    fence = _fence(lines[first])
    inner = lines[first + 1 : last]
    wraps = fence and _closes(lines[last], fence) and _holds_record(inner)
    return inner if wraps else lines


def _fence(line: str) -> str:
    """Return the marks that open a fence on this line, or nothing."""
    if line[:2] == "  ":
        return ""
    text = line.strip()
    if not text.startswith(("```", "~~~")):
        return ""
    marks = len(text) - len(text.lstrip(text[0]))
    return text[:marks] if text[0] not in text[marks:] else ""


def _closes(line: str, fence: str) -> bool:
    text = line.strip()
    return len(text) >= len(fence) and not text.strip(fence[0])


def _closing(lines: Sequence[str], start: int, fence: str) -> int | None:
    return next(
        (index for index in range(start + 1, len(lines)) if _closes(lines[index], fence)), None
    )


def _holds_record(lines: Sequence[str]) -> bool:
    headings = (heading_in(line) for line in lines)
    names = {section_named(each.words) for each in headings if each}
    return len(names - {""}) >= _WRAPPED
