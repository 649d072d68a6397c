"""Reading a record from what a model or another system wrote, however it is dressed.

Models change heading levels, use bold type, number their headings, repeat or drop sections, talk
before and after, and wrap everything in a fence; other systems have headings of their own. What
is in the sections must survive that. A heading inside a fence is code. Fences are found by walking
the lines: a fence that never closes is none, and one around the whole answer is only its wrapping.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from holdfast.summary.record import HEADINGS, SECTIONS, Record, words_of
from holdfast.summary.statements import COLONS
from holdfast.summary.tracing import letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ENOUGH = 3
"""How many sections make a text a record."""
_POSITIONAL, _COURTESY = 8, 200
_SHORTEST, _LONGEST = 24, 60_000
"""Letters of what may be told twice without being looked for, and those of a summary in which
nothing is: to look for each entry in all of it takes long."""
_STANDS = {name: name for name in ("state", "in_progress", "blocked", "pending", "remaining")} | {
    "task": "in_progress"
}
"""Sections that say how things stand, by what names them; a task is its user's words alone."""


@dataclass(frozen=True, slots=True)
class RecordReading:
    """A record as it was found."""

    record: Record
    present: frozenset[str]
    """The sections that were there, empty or not."""


class Line(NamedTuple):
    """One line of a text, and whether it stands outside every fence."""

    text: str
    free: bool = True


class HeadingLine(NamedTuple):
    """A line that stands above others, and how many marks it has; 0 for a line in bold type."""

    words: str
    level: int


class Block(NamedTuple):
    """The lines under one heading, and the section that it means; none for the empty name."""

    section: str
    heading: HeadingLine
    lines: Sequence[Line]


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
    # Some models write their thinking before their answer.
    thought, closed, answer = text.partition("</think>")
    spoken = answer if closed and thought.lstrip().startswith("<think>") else text
    _, *blocks = _blocks_of(spoken, _OURS)
    if len({block.section for block in blocks} - {""}) < ENOUGH:
        in_order = [block for block in blocks if block.heading.level in {1, 2}]
        if _POSITIONAL <= len(in_order) <= len(HEADINGS):
            pairs = zip(HEADINGS, in_order, strict=False)
            blocks = [Block(name, *block[1:]) for name, block in pairs]
        else:
            blocks = _loosely(spoken)
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
                meant = _section(label, _THEIRS) if colon else ""
                placed[_STANDS.get(meant, name)].append(entry)
            else:
                told = told.replace(words, "", 1)
    return Record(**{name: tuple(entries) for name, entries in placed.items()})


def _filled(blocks: Sequence[Block], untitled: str = "") -> Record:
    entries: dict[str, list[str]] = {name: [] for name in HEADINGS}
    for section, heading, lines in blocks:
        title = "" if section else heading.words or untitled
        found = entries_of(lines, numbered=section == "actions")
        entries[section or "critical"] += [
            f"{title}: {entry}" if title and entry else entry for entry in found
        ]
    return Record(**{name: tuple(found) for name, found in entries.items()})


def _loosely(text: str) -> list[Block]:
    """Return the blocks of a text under whatever headings it has, none of its words left out."""
    lines: list[str] = []
    for line in text.split("\n"):
        label, colon, words = line.partition(": ")
        is_heading = colon and line.rstrip().endswith(COLONS) and line[0] not in " -*+"
        if is_heading and _section(label, _THEIRS) in _STANDS:
            # What announces a list of how things stand is a heading of its own.
            lines += [f"{label}:", words]
        elif not _TAG.fullmatch(line.strip()):
            lines.append(line)
    blocks = _blocks_of("\n".join(lines), _THEIRS)
    # A few words before the first heading only announce what follows.
    before = " ".join(line.text for line in blocks[0].lines).strip()
    return blocks[1:] if len(blocks) > 1 and len(before) < _COURTESY else blocks


def _blocks_of(text: str, names: Mapping[str, str]) -> list[Block]:
    """Return the text cut at its headings; the first block stands before all of them.

    In a text without marks a line is a heading when it is one of ours to the letter.
    """
    lines = list(_outline(text))
    headings = [_heading(line.text, names) if line.free else None for line in lines]
    if not any(headings):
        bare = [line.text.rstrip().removesuffix(":") if line.free else "" for line in lines]
        headings = [HeadingLine(each, 2) if each in HEADINGS.values() else None for each in bare]
    blocks: list[Block] = []
    start, section, title = 0, "", HeadingLine("", 0)
    for index, found in enumerate(headings):
        if found and ((named := _section(found.words, names)) or 0 < found.level <= 2):
            blocks.append(Block(section, title, lines[start:index]))
            start, section, title = index + 1, named, found
    return [*blocks, Block(section, title, lines[start:])]


_MARK = re.compile(r"[-*•+] |([0-9]{1,8})[.)] ")
"""The bullet or number that begins an entry."""


def entries_of(lines: Sequence[Line], *, numbered: bool) -> tuple[str, ...]:
    """Return the entries in the lines of a section.

    A bullet or a number at the margin begins an entry, and so does a line after a blank one.
    Indented lines, and lines inside a fence, belong to the entry above them. Where entries are
    `numbered`, as actions are, the numbers belong to them.
    """
    first = next((line.text for line in lines if line.text.strip()), "")
    if (margin := len(first) - len(first.lstrip(" "))) > 1:
        # A fence that is indented like all of its section is seen at the margin only.
        text = "\n".join(line.text for line in lines)
        lines = list(_outline(re.sub(rf"(?m)^ {{1,{margin}}}", "", text)))
    found: list[list[str]] = []
    after_blank = True
    for text, free in lines:
        blank = not text.strip()
        mark = _MARK.match(text) if free else None
        starts = free and not blank and text[:2] != "  " and (mark or after_blank)
        if starts or (not found and not blank):
            number = f"{mark[1]}. " if mark and mark[1] and numbered else ""
            found.append([number + text[mark.end() if mark else 0 :]])
        elif found:
            found[-1].append(text.removeprefix("  "))
        after_blank = blank
    return tuple("\n".join(each).strip() for each in found)


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


def _section(words: str, names: Mapping[str, str]) -> str:
    return names.get(_plain(words), "")


_LOOSE = re.compile(r"\s{0,3}(?:\d{1,2}[.)]\s+)?([^.!?\n]{3,60}?)\s*[:\uff1a]?\s*")
_TAG = re.compile(r"</?-*[^\W_](?:[^\W_]|-)*>")


def _heading(line: str, names: Mapping[str, str]) -> HeadingLine | None:
    """Return the heading that a line is: marked with `#`, or wholly in bold type.

    By the names of others a line without marks is one as well, where its words mean a section.
    """
    text = line.strip()
    level = len(text) - len(text.lstrip("#"))
    bold = text.rstrip(":")
    may_be_marked = line[:2] != "  " and len(line) <= 200
    if may_be_marked and level:
        words = text[level:].strip().strip("#*_: ")
        if level <= 6 and words and text[level] in " \t":
            return HeadingLine(words, level)
    elif may_be_marked and len(bold) > 4 and bold.startswith("**") and bold.endswith("**"):
        words = bold.strip("*").strip().rstrip(":")
        if words and "**" not in words:
            return HeadingLine(words, 0)
    plain = _LOOSE.fullmatch(line.replace("**", "")) if names is _THEIRS else None
    if plain and (line.rstrip().endswith(COLONS) or line[:1].isdigit()):
        return HeadingLine(plain[1], 2) if _section(plain[1], names) else None
    return None


def _outline(text: str) -> Iterator[Line]:
    """Yield the lines of the text, without a fence around all of them even if it has others."""
    lines = text.split("\n")
    filled = [index for index, line in enumerate(lines) if line.strip()]
    if len(filled) > 1 and (fence := _fence(lines[filled[0]])):
        inner = lines[filled[0] + 1 : filled[-1]]
        lines = inner if _closes(lines[filled[-1]], fence) and _holds_record(inner) else lines
    return _walk(lines)


def _walk(lines: Sequence[str]) -> Iterator[Line]:
    index = 0
    while index < len(lines):
        fence = _fence(lines[index])
        after = range(index + 1, len(lines) if fence else 0)
        end = next((at for at in after if _closes(lines[at], fence)), index)
        if end > index and _holds_record(lines[index + 1 : end]):
            yield from _walk(lines[index + 1 : end])
        else:
            yield from (Line(each, free=end == index) for each in lines[index : end + 1])
        index = end + 1


def _fence(line: str) -> str:
    """Return the marks that open a fence on this line, or nothing."""
    text = line.strip()
    if line[:2] == "  " or not text.startswith(("```", "~~~")):
        return ""
    words = text.lstrip(text[0])
    return text[: len(text) - len(words)] if text[0] not in words else ""


def _closes(line: str, fence: str) -> bool:
    text = line.strip()
    return len(text) >= len(fence) and not text.strip(fence[0])


def _holds_record(lines: Sequence[str]) -> bool:
    headings = (_heading(line, _OURS) for line in lines)
    names = {_section(each.words, _OURS) for each in headings if each}
    return len(names - {""}) >= ENOUGH
