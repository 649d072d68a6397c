"""The record as text: thirteen headings, always all of them, always in the same order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.record import HEADINGS

if TYPE_CHECKING:
    from holdfast.summary.record import Record

__all__ = ["EMPTY", "render", "render_entry"]

EMPTY = "None."
"""What an empty section says."""


def render(record: Record) -> str:
    """Write the record.

    Nothing in an entry can pass for a heading or for another entry: its first line stands behind
    a bullet or a number, and its further lines are indented.
    """
    return "\n\n".join(
        f"## {HEADINGS[name]}\n"
        + "\n".join(render_entry(name, each) for each in entries or (EMPTY,))
        for name, entries in record.sections()
    )


def render_entry(section: str, entry: str) -> str:
    """Write one entry of the section; an action brings its own number."""
    if entry == EMPTY:
        return entry
    indented = entry if "\n" not in entry else _indented(entry)
    return indented if section == "actions" else f"- {indented}"


def _indented(entry: str) -> str:
    first, *rest = entry.split("\n")
    return "\n".join([first, *(f"  {line}" if line else "" for line in rest)])
