"""A memory file as a tuple of entries, and the three ways to change it.

An entry is one or more lines. A line with nothing but `§` parts it from the next. In a file that
has no such line, somebody wrote by hand: each paragraph, each item of a list and each fenced piece
of code is an entry, so that changing one of them leaves the words of the others alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import MemoryRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.memory.notebooks import Notebook

__all__ = [
    "SEPARATOR",
    "AlreadyThere",
    "Edited",
    "Edition",
    "Entries",
    "add",
    "plain",
    "read_entries",
    "remove",
    "replace",
    "size_of",
    "write_entries",
]

SEPARATOR = "§"
Entries: TypeAlias = tuple[str, ...]

_SKETCH = 60
_CANDIDATES = 5
_PARTED = re.compile(rf"^[ \t]*{SEPARATOR}[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"[-*+] ")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
"""What steers a terminal and means nothing to a model: escape sequences, control signs."""
_JOIN = f"\n{SEPARATOR}\n"


@dataclass(frozen=True, slots=True)
class Edited:
    """The entries after an edit."""

    entries: Entries
    words: str
    """What was done, as a sentence."""


@dataclass(frozen=True, slots=True)
class AlreadyThere:
    """There was nothing to do; the entries are as they were."""

    entries: Entries
    words: str


Edition: TypeAlias = Edited | AlreadyThere


def read_entries(text: str) -> Entries:
    """Return the entries of a file, whoever wrote it and on whichever system."""
    text = plain(text)
    pieces = _PARTED.split(text) if _PARTED.search(text) else _by_hand(text)
    return tuple(filter(None, map(_tidied, pieces)))


def plain(text: str) -> str:
    """Return a text with plain line ends, and without what steers a terminal."""
    return _CONTROL.sub("", "\n".join(text.removeprefix("\ufeff").splitlines()))


def write_entries(entries: Entries) -> str:
    """Return the file that holds these entries; `read_entries` gives them back."""
    text = _JOIN.join(entries)
    if read_entries(text) != entries:
        # One entry of several paragraphs would be read as if written by hand.
        text += f"\n{SEPARATOR}"
    return f"{text}\n" if text else ""


def size_of(entries: Entries) -> int:
    """Return how many characters the entries take of what a file may hold."""
    return len(_JOIN.join(entries))


def add(entries: Entries, content: str, notebook: Notebook) -> Edition:
    """Return the entries with one more at the end.

    Raises:
        MemoryRefused: when it is empty, cannot be an entry, or does not fit.
    """
    entry = _entry_of(content)
    if entry in entries:
        return AlreadyThere(entries, f"{notebook.file} has this entry already")
    grown = (*entries, entry)
    _check_size(entries, grown, notebook)
    return Edited(grown, f"added to {notebook.file}{_use(grown, notebook)}")


def replace(entries: Entries, old: str, content: str, notebook: Notebook) -> Edition:
    """Return the entries with another in the place of the one that holds the old text.

    Raises:
        MemoryRefused: when no entry or several hold it, or the replacement does not fit.
    """
    entry, place = _entry_of(content), _place_of(entries, old, notebook)
    if entries[place] == entry:
        return AlreadyThere(entries, f"{notebook.file} says this already")
    kept = (*entries[:place], *((entry,) * (entry not in entries)), *entries[place + 1 :])
    _check_size(entries, kept, notebook)
    return Edited(kept, f"replaced an entry of {notebook.file}{_use(kept, notebook)}")


def remove(entries: Entries, old: str, notebook: Notebook) -> Edition:
    """Return the entries without the one that holds the old text.

    Raises:
        MemoryRefused: when no entry or several hold it.
    """
    place = _place_of(entries, old, notebook)
    kept = (*entries[:place], *entries[place + 1 :])
    return Edited(kept, f"removed an entry of {notebook.file}{_use(kept, notebook)}")


def _by_hand(text: str) -> Iterator[str]:
    """Yield the pieces of a text; nothing is parted inside a fence, blank lines least of all."""
    piece: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if not fence and (not line.strip() or _ITEM.match(line)):
            yield "\n".join(piece)
            piece = []
        piece.append(line)
        if mark is not None and not fence:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
    yield "\n".join(piece)


def _tidied(entry: str) -> str:
    return "\n".join(line.rstrip() for line in entry.splitlines()).strip()


def _entry_of(content: str) -> str:
    entry = _tidied(plain(content))
    if not entry:
        raise MemoryRefused("there is nothing to remember: the content is empty")
    if _PARTED.search(entry):
        raise MemoryRefused(
            f"a line with nothing but {SEPARATOR} parts entries; add them one at a time"
        )
    return entry


def _place_of(entries: Entries, old: str, notebook: Notebook) -> int:
    wanted = _tidied(plain(old))
    if not wanted:
        raise MemoryRefused("name the entry: old_text is empty")
    if wanted in entries:
        return entries.index(wanted)
    places = [index for index, entry in enumerate(entries) if wanted in entry]
    if len(places) == 1:
        return places[0]
    if places:
        shown = _listed([entries[place] for place in places])
        raise MemoryRefused(
            f"{len(places)} entries of {notebook.file} have this text; say more of the one that "
            f"is meant: {shown}"
        )
    there = f"; it has: {_listed(entries)}" if entries else "; it is empty"
    raise MemoryRefused(f"no entry of {notebook.file} has the text {_sketch(wanted)!r}{there}")


def _check_size(before: Entries, after: Entries, notebook: Notebook) -> None:
    """Refuse what does not fit; a file that is too large already may always shrink."""
    size = size_of(after)
    if size <= notebook.limit or size < size_of(before):
        return
    longest = sorted(before, key=len, reverse=True)
    advice = f"; the longest now: {_listed(longest)}" if before else ""
    raise MemoryRefused(
        f"{notebook.file} would have {size:,} characters, and {notebook.limit:,} are allowed: "
        f"say it {size - notebook.limit:,} characters shorter, or remove or shorten other entries "
        f"first{advice}"
    )


def _listed(entries: Entries | list[str]) -> str:
    shown = "; ".join(f"{_sketch(entry)!r} ({len(entry):,})" for entry in entries[:_CANDIDATES])
    more = len(entries) - _CANDIDATES
    return f"{shown}; and {more} more" if more > 0 else shown


def _sketch(entry: str) -> str:
    flat = " ".join(entry.split())
    return flat if len(flat) <= _SKETCH else f"{flat[: _SKETCH - 1]}…"


def _use(entries: Entries, notebook: Notebook) -> str:
    return f" ({size_of(entries):,} of {notebook.limit:,} characters)"
