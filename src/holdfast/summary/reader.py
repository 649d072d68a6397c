"""Reading a record from what a model wrote, however it is dressed.

Models change heading levels, use bold type, number their headings, repeat or drop sections, talk
before and after, and wrap everything in a fence. What is in the sections must survive that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.summary.headings import Heading, heading_in, section_named
from holdfast.summary.lines import outline
from holdfast.summary.record import HEADINGS, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.summary.lines import Line

__all__ = ["ENOUGH", "Block", "Reading", "blocks_of", "entries_of", "read", "reading"]

ENOUGH = 3
"""How many sections make a text a record."""

_POSITIONAL = 8
_BULLETS = ("- ", "* ", "• ", "+ ")


@dataclass(frozen=True, slots=True)
class Reading:
    """A record as it was found."""

    record: Record
    present: frozenset[str]
    """The sections that were there, empty or not."""


@dataclass(frozen=True, slots=True)
class Block:
    """The lines under one heading."""

    section: str
    """The section that the heading means; empty when it means none."""
    title: str
    level: int
    lines: tuple[Line, ...]


def read(text: str) -> Record | None:
    """Read a record, or nothing when the text holds fewer than three of its sections."""
    found = reading(text)
    return None if found is None else found.record


def reading(text: str) -> Reading | None:
    """Read a record and say which of its sections were there.

    Words before the first section are a preamble and are dropped. A heading that is not ours
    begins notes under Critical Context; a deeper one stays with the section it stands in. When
    a model translated the headings, at least eight of them are taken by their order.
    """
    _, *blocks = blocks_of(_spoken(text), section_named)
    if len({block.section for block in blocks} - {""}) < ENOUGH:
        blocks = _by_position(blocks)
    if not blocks:
        return None
    entries: dict[str, list[str]] = {name: [] for name in HEADINGS}
    for block in blocks:
        if block.section:
            numbered = block.section == "actions"
            entries[block.section].extend(entries_of(block.lines, numbered=numbered))
        else:
            notes = entries_of(block.lines, numbered=False)
            entries["critical"].extend(f"{block.title}: {note}" for note in notes)
    record = Record(**{name: tuple(found) for name, found in entries.items()})
    return Reading(record, frozenset(block.section for block in blocks) - {""})


def blocks_of(text: str, name: Callable[[str], str]) -> list[Block]:
    """Return the text cut at its headings; the first block stands before all of them.

    Args:
        text: The text.
        name: Says which section a heading means.
    """
    lines = outline(text)
    headings = [heading_in(line.text) if line.free else None for line in lines]
    if not any(headings):
        headings = [_bare_heading(line) for line in lines]
    blocks: list[Block] = []
    title = Heading("", 0)
    start = 0
    for index, heading in enumerate(headings):
        if heading is None or not (name(heading.words) or 0 < heading.level <= 2):
            continue
        blocks.append(_block(title, lines[start:index], name))
        title, start = heading, index + 1
    return [*blocks, _block(title, lines[start:], name)]


def _block(title: Heading, lines: Sequence[Line], name: Callable[[str], str]) -> Block:
    return Block(name(title.words), title.words, title.level, tuple(lines))


def _bare_heading(line: Line) -> Heading | None:
    """Take a line without marks for a heading when it is one of ours to the letter."""
    words = line.text.rstrip().removesuffix(":")
    return Heading(words, 2) if line.free and words in HEADINGS.values() else None


def _spoken(text: str) -> str:
    """Return the text without the thinking that some models write before their answer."""
    start = text.lstrip()
    if start.startswith("<think>"):
        _, closed, answer = start.partition("</think>")
        return answer if closed else text
    return text


def _by_position(blocks: Iterable[Block]) -> list[Block]:
    sections = [block for block in blocks if block.level in {1, 2}]
    if not _POSITIONAL <= len(sections) <= len(HEADINGS):
        return []
    return [
        Block(name, block.title, block.level, block.lines)
        for name, block in zip(HEADINGS, sections, strict=False)
    ]


def entries_of(lines: Sequence[Line], *, numbered: bool) -> tuple[str, ...]:
    """Return the entries in the lines of a section.

    A bullet or a number at the margin begins an entry, and so does a line after a blank one.
    Indented lines, and lines inside a fence, belong to the entry above them.

    Args:
        lines: The lines of the section.
        numbered: Whether numbers belong to the entries, as they do for actions.
    """
    margin = next((line.indent for line in lines if line.text.strip()), 0)
    found: list[list[str]] = []
    after_blank = True
    for line in lines:
        text = line.text[min(margin, line.indent) :] if margin > 1 else line.text
        blank = not text.strip()
        mark = _mark(text) if line.free else 0
        starts = line.free and not blank and text[:2] != "  " and (mark or after_blank)
        if starts or (not found and not blank):
            keeps_number = numbered and text[:1].isdecimal()
            found.append([_dotted(text) if keeps_number else text[mark:]])
        elif found:
            found[-1].append(text.removeprefix("  "))
        after_blank = blank
    return tuple("\n".join(each).strip() for each in found)


def _mark(text: str) -> int:
    """Return the length of the bullet or number that begins a line."""
    if text.startswith(_BULLETS):
        return 2
    digits = len(text) - len(text.lstrip("0123456789"))
    return digits + 2 if 0 < digits < 9 and text[digits : digits + 2] in {". ", ") "} else 0


def _dotted(text: str) -> str:
    number, parenthesis, words = text.partition(") ")
    return f"{number}. {words}" if parenthesis and number.isdecimal() else text
