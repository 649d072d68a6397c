"""Another system's summary as a record of ours.

A session that another agent compacted goes on here. Its summary becomes the previous record, so
everything it says has to find a section: what fits none goes to Critical Context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.headings import foreign_section
from holdfast.summary.reader import blocks_of, entries_of
from holdfast.summary.record import HEADINGS, Record

if TYPE_CHECKING:
    from holdfast.summary.reader import Block

__all__ = ["adopt"]


def adopt(text: str, origin: str) -> Record:
    """Return a record that holds everything another system's summary says.

    Args:
        text: The summary, without the marks around it.
        origin: Which system wrote it; named where its notes have no section of their own.
    """
    entries: dict[str, list[str]] = {name: [] for name in HEADINGS}
    for block in blocks_of(_untagged(text), foreign_section):
        section = block.section or "critical"
        entries[section].extend(_entries(block, origin))
    return Record(**{name: tuple(found) for name, found in entries.items()})


def _entries(block: Block, origin: str) -> tuple[str, ...]:
    found = entries_of(block.lines, numbered=block.section == "actions")
    if block.section:
        return found
    source = block.title or f"Summary by {origin}"
    return tuple(f"{source}: {entry}" for entry in found)


def _untagged(text: str) -> str:
    """Return the text without lines that are nothing but a tag, such as `<summary>`."""
    lines = text.split("\n")
    return "\n".join(line for line in lines if not _is_tag(line.strip()))


def _is_tag(line: str) -> bool:
    name = line.removeprefix("<").removeprefix("/").removesuffix(">")
    return line.startswith("<") and line.endswith(">") and name.replace("-", "").isalnum()
