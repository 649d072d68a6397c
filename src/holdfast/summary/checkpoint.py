"""Everything that the text of a summary holds: the record and what stands beside it.

The words of users, the evidence and the live state are not the summarizer's to reword. They
have headings of their own after the thirteen sections, and read back exactly as written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.summary.reader import adopt, reading
from holdfast.summary.record import HEADINGS, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.summary.record import Record

__all__ = ["Checkpoint", "read_checkpoint", "render_checkpoint"]

_EVIDENCE = "## Evidence"
_SAID = "## Said by the User"
_LASTING = "## Standing Words of the User"
_LIVE = "## Live State"
_NOTE = "## About This Summary"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A record with the evidence, the users' words and the live state beside it."""

    record: Record
    evidence: str = ""
    said: tuple[str, ...] = ()
    """What users said, word for word."""
    live: str = ""
    lasting: tuple[str, ...] = ()
    """What users said that holds beyond its turn, word for word; earlier versions wrote it."""
    note: str = ""
    """Who wrote the summary, and how to get at what it stands for."""

    def __post_init__(self) -> None:
        """Drop blank space around the texts that are laid out again each time."""
        for name in ("evidence", "live", "note"):
            object.__setattr__(self, name, getattr(self, name).strip())


def render_checkpoint(checkpoint: Checkpoint) -> str:
    """Write the checkpoint; parts that are empty leave no heading."""
    parts = [render(checkpoint.record)]
    if checkpoint.evidence:
        parts.append(f"{_EVIDENCE}\n{_escaped(checkpoint.evidence)}")
    for heading, quotes in ((_LASTING, checkpoint.lasting), (_SAID, checkpoint.said)):
        if quotes:
            parts.append(f"{heading}\n" + "\n\n".join(map(_quoted, quotes)))
    if checkpoint.live:
        parts.append(f"{_LIVE}\n{_escaped(checkpoint.live)}")
    if checkpoint.note:
        parts.append(f"{_NOTE}\n{_escaped(checkpoint.note)}")
    return "\n\n".join(parts)


def read_checkpoint(text: str, origin: str = "holdfast") -> Checkpoint:
    """Read a checkpoint back, from this system or from another.

    Text that is no record of ours is adopted: whatever it says stays in some section.
    """
    parts = _split(text)
    found = reading(parts[""])
    if found is None or len(found.present) < len(HEADINGS):
        # What we write has all its sections; anything else may hold words outside of them.
        return Checkpoint(adopt(text, origin))
    return Checkpoint(
        found.record,
        _unescaped(parts[_EVIDENCE]),
        tuple(_unquoted(parts[_SAID].split("\n"))),
        _unescaped(parts[_LIVE]),
        tuple(_unquoted(parts[_LASTING].split("\n"))),
        _unescaped(parts[_NOTE]),
    )


def _split(text: str) -> dict[str, str]:
    """Return the text under each of our extra headings, and under none what precedes them."""
    headings = ("", _EVIDENCE, _LASTING, _SAID, _LIVE, _NOTE)
    found: dict[str, list[str]] = {heading: [] for heading in headings}
    heading = ""
    for line in text.split("\n"):
        # Content never stands at the margin with a `#`, so these can only be our own headings.
        mark = line.rstrip() if line.startswith("## ") else ""
        if mark and mark in found:
            heading = mark
        else:
            found[heading].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def _escaped(text: str) -> str:
    """Return the text with a backslash before each line that could pass for a heading."""
    lines = text.split("\n")
    return "\n".join(f"\\{line}" if line.startswith(("#", "\\")) else line for line in lines)


def _unescaped(text: str) -> str:
    return "\n".join(line.removeprefix("\\") for line in text.strip().split("\n"))


def _quoted(words: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in words.split("\n"))


def _unquoted(lines: Sequence[str]) -> Iterator[str]:
    words: list[str] = []
    for line in [*lines, ""]:
        if line.startswith(">"):
            words.append(line.removeprefix(">").removeprefix(" "))
        elif words:
            yield "\n".join(words)
            words = []
