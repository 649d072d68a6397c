"""Reading a record from what a model or another system wrote, however it is dressed.

Models change heading levels, use bold type, number their headings, repeat or drop sections, talk
before and after, and wrap everything in a fence; other systems have headings of their own. What
is in the sections must survive that. A heading inside a fence is code. Fences are found by walking
the lines: a fence that never closes is none, and one around the whole answer is only its wrapping.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.summary.record import HEADINGS, SECTIONS, Record, words_of
from holdfast.summary.statements import COLONS
from holdfast.summary.tracing import letters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ENOUGH = 3
"""How many sections make a text a record."""

_POSITIONAL = 8
_COURTESY = 200
_SHORTEST, _LONGEST = 24, 60_000
"""Letters of what may be told twice without being looked for, and those of a summary in which
nothing is: to look for each entry in all of it takes long."""
_STANDS = {name: name for name in ("state", "in_progress", "blocked", "pending", "remaining")} | {
    "task": "in_progress"
}
"""Sections that say how things stand, by what names them; a task is its user's words alone."""
_BULLETS = ("- ", "* ", "• ", "+ ")


@dataclass(frozen=True, slots=True)
class RecordReading:
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
    """Read a record from what a model wrote, or nothing when there is nothing in it."""
    found = reading(text)
    return None if found is None else found.record


def reading(text: str) -> RecordReading | None:
    """Read a record and say which of its sections were there.

    With at least three of our headings, or eight in order when a model translated them, an answer
    is the record. Any other, with other headings, a list or prose, is told under the sections that
    its headings mean, and whole under Critical Context where they mean none.
    """
    spoken = _spoken(text)
    _, *blocks = blocks_of(spoken, section_named, heading_in)
    if len({block.section for block in blocks} - {""}) < ENOUGH:
        blocks = _by_position(blocks) or _loosely(spoken)
    record = _filled(blocks)
    present = frozenset(block.section for block in blocks) - {""}
    return RecordReading(record, present) if present or record else None


def adopt(text: str, origin: str) -> Record:
    """Return a record that holds everything another system's summary says.

    The system is named where its notes have no section of their own. An entry that says itself
    how it stands ("In progress: ...") stands there, and of what was done nothing is told twice.
    """
    found = _filled(_loosely(text), f"Summary by {origin}")
    told = "\n".join(letters(entry) for _, entries in found.sections() for entry in entries)
    told = told if len(told) <= _LONGEST else ""
    placed: dict[str, list[str]] = {name: [] for name in HEADINGS}
    for name, entries in found.sections():
        for entry in entries:
            words = letters(words_of(entry))
            if name != "actions" or len(words) < _SHORTEST or told.count(words) < 2:
                label, colon, _ = entry.partition(":")
                meant = foreign_section(label) if colon else ""
                placed[_STANDS.get(meant, name)].append(entry)
            else:
                told = told.replace(words, "", 1)
    return Record(**{name: tuple(entries) for name, entries in placed.items()})


def _filled(blocks: Sequence[Block], untitled: str = "") -> Record:
    entries: dict[str, list[str]] = {name: [] for name in HEADINGS}
    for block in blocks:
        found = entries_of(block.lines, numbered=block.section == "actions")
        title = block.title or untitled
        if not block.section and title:
            found = tuple(f"{title}: {entry}" for entry in found if entry)
        entries[block.section or "critical"].extend(found)
    return Record(**{name: tuple(found) for name, found in entries.items()})


def _loosely(text: str) -> list[Block]:
    """Return the blocks of a text under whatever headings it has, none of its words left out."""
    lines = (_parted(line) for line in text.split("\n") if not _is_tag(line.strip()))
    untagged = "\n".join(lines)
    blocks = blocks_of(untagged, foreign_section, loose_heading)
    # A few words before the first heading only announce what follows.
    before = " ".join(line.text for line in blocks[0].lines).strip()
    return blocks[1:] if len(blocks) > 1 and len(before) < _COURTESY else blocks


def _parted(line: str) -> str:
    """Return a line with what announces a list of how things stand on a line of its own."""
    label, colon, words = line.partition(": ")
    is_heading = colon and line.rstrip().endswith(COLONS) and foreign_section(label) in _STANDS
    return f"{label}:\n{words}" if is_heading and line[0] not in " -*+" else line


def _is_tag(line: str) -> bool:
    name = line.removeprefix("<").removeprefix("/").removesuffix(">")
    return line.startswith("<") and line.endswith(">") and name.replace("-", "").isalnum()


def blocks_of(
    text: str, name: Callable[[str], str], heading: Callable[[str], HeadingLine | None]
) -> list[Block]:
    """Return the text cut at its headings; the first block stands before all of them.

    `heading` says whether a line is one, `name` which section it means.
    """
    lines = outline(text)
    headings = [heading(line.text) if line.free else None for line in lines]
    if not any(headings):
        headings = [_bare_heading(line) for line in lines]
    blocks: list[Block] = []
    title = HeadingLine("", 0)
    start = 0
    for index, found in enumerate(headings):
        if found is None or not (name(found.words) or 0 < found.level <= 2):
            continue
        blocks.append(Block(name(title.words), title.words, title.level, lines[start:index]))
        title, start = found, index + 1
    return [*blocks, Block(name(title.words), title.words, title.level, lines[start:])]


def _bare_heading(line: Line) -> HeadingLine | None:
    """Take a line without marks for a heading when it is one of ours to the letter."""
    words = line.text.rstrip().removesuffix(":")
    return HeadingLine(words, 2) if line.free and words in HEADINGS.values() else None


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
    return [replace(each, section=name) for name, each in zip(HEADINGS, sections, strict=False)]


def entries_of(lines: Sequence[Line], *, numbered: bool) -> tuple[str, ...]:
    """Return the entries in the lines of a section.

    A bullet or a number at the margin begins an entry, and so does a line after a blank one.
    Indented lines, and lines inside a fence, belong to the entry above them. Where entries are
    `numbered`, as actions are, the numbers belong to them.
    """
    margin = next((line.indent for line in lines if line.text.strip()), 0)
    if margin > 1:
        # A fence that is indented like all of its section is seen at the margin only.
        lines = outline("\n".join(line.text[min(margin, line.indent) :] for line in lines))
    found: list[list[str]] = []
    after_blank = True
    for line in lines:
        text = line.text
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


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A line that stands above others."""

    words: str
    level: int
    """How many marks it has; 0 for a line in bold type."""


def _plain(words: str) -> str:
    """Return a heading's words without numbers, marks, case and punctuation."""
    kept = "".join(sign if sign.isalnum() else " " for sign in words.replace("&", " and "))
    parts = kept.casefold().split()
    while len(parts) > 1 and parts[0].isdecimal():
        parts.pop(0)
    return " ".join(parts)


_OURS = {
    _plain(words): name
    for name, section in SECTIONS.items()
    for words in (*section.variants.split(";"), section.heading)
}
_THEIRS = {
    _plain(words): name
    for name, section in SECTIONS.items()
    for words in section.foreign.split(";")
} | _OURS


def heading_in(line: str) -> HeadingLine | None:
    """Return the heading that a line is: marked with `#`, or wholly in bold type."""
    if line[:2] == "  " or len(line) > 200:
        return None
    text = line.strip()
    level = len(text) - len(text.lstrip("#"))
    if level:
        words = text[level:].strip().strip("#*_: ")
        return HeadingLine(words, level) if level <= 6 and words and text[level] in " \t" else None
    bold = text.rstrip(":")
    if len(bold) > 4 and bold.startswith("**") and bold.endswith("**"):
        words = bold.strip("*").strip().rstrip(":")
        return HeadingLine(words, 0) if words and "**" not in words else None
    return None


_LOOSE = re.compile(r"\s{0,3}(?:\d{1,2}[.)]\s+)?([^.!?\n]{3,60}?)\s*[:\uff1a]?\s*")


def loose_heading(line: str) -> HeadingLine | None:
    """Return the heading that a line is, also without marks, where its words mean a section."""
    if found := heading_in(line):
        return found
    plain = _LOOSE.fullmatch(line.replace("**", ""))
    is_announced = plain is not None and (line.rstrip().endswith(COLONS) or line[:1].isdigit())
    return (
        HeadingLine(plain[1], 2) if plain and is_announced and foreign_section(plain[1]) else None
    )


def section_named(words: str) -> str:
    """Return the section that a heading of ours means, or nothing."""
    return _OURS.get(_plain(words), "")


def foreign_section(words: str) -> str:
    """Return the section where another system's heading belongs, or nothing."""
    return _THEIRS.get(_plain(words), "")


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
        after = range(index + 1, len(lines) if fence else 0)
        end = next((at for at in after if _closes(lines[at], fence)), None)
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


def _holds_record(lines: Sequence[str]) -> bool:
    headings = (heading_in(line) for line in lines)
    names = {section_named(each.words) for each in headings if each}
    return len(names - {""}) >= _WRAPPED
