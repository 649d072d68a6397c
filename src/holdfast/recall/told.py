"""Messages and sessions as results show them: little, plain, and honest about what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING

from holdfast.recall.wording import is_output, tool_of, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.session import Entry, Session
    from holdfast.transcript import Message, Role

__all__ = ["ResultLimits", "Told", "about", "cropped", "nearest", "told", "when"]

_FRONT = 0.7
_SMALLEST_ENDING = 200
"""Characters from which a cut text keeps its end too."""
_LONGEST_TITLE = 100


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """How much of a result is shown."""

    output: int
    """Characters of a tool's output."""
    words: int
    """Characters of what a person or a model said; the message asked for gets twice that."""
    reach: float = 1.0
    """The share of the surrounding messages that is shown."""
    results: int = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One message of a result."""

    id: int
    role: Role
    text: str
    at: int
    tool: str = ""
    summary_by: str = ""
    """Which system wrote it, where it is the summary of a compaction."""
    is_output: bool = False
    is_focus: bool = False

    def document(self, room: ResultLimits) -> dict[str, object]:
        """Return the message as plain values, cut to the room."""
        size = room.output if self.is_output else room.words
        text, left_out = cropped(self.text, size * 2 if self.is_focus else size)
        found = {**self.header(), "text": text}
        return {**found, "characters_cut": left_out} if left_out else found

    def header(self) -> dict[str, object]:
        """Return everything but the text as plain values."""
        found: dict[str, object] = {"id": self.id, "role": str(self.role)}
        if self.tool:
            found["tool"] = cropped(self.tool, _LONGEST_TITLE)[0]
        if self.summary_by:
            found["summary_by"] = cropped(self.summary_by, _LONGEST_TITLE)[0]
        return found


def told(entry: Entry, whole: Message | None = None, *, is_focus: bool = False) -> Told:
    """Return an entry as a result shows it.

    Args:
        entry: What the log holds.
        whole: The message as it was said, where more is wanted than the window shows.
        is_focus: Whether it is the message that was asked for.
    """
    message = whole or entry.message
    return Told(
        id=entry.id,
        role=message.role,
        text=words_of(message),
        at=entry.at,
        tool=tool_of(message),
        summary_by=message.summary.origin if message.summary else "",
        is_output=is_output(message),
        is_focus=is_focus,
    )


def about(session: Session, title: str = "") -> dict[str, object]:
    """Return what results say about a session."""
    found: dict[str, object] = {
        "session_id": session.id,
        "title": cropped(session.title or title, _LONGEST_TITLE)[0],
        "source": session.source,
        "model": session.model,
        "started": when(session.started),
        "last_active": when(session.touched or session.started),
    }
    return {name: value for name, value in found.items() if value}


def cropped(text: str, size: int) -> tuple[str, int]:
    """Return a text in `size` characters or a few more, and how many were left out."""
    if len(text) <= size:
        return text, 0
    left_out = len(text) - size
    if size < _SMALLEST_ENDING:
        return f"{text[:size]}…", left_out
    front = int(size * _FRONT)
    return f"{text[:front]} [… {left_out:,} characters …] {text[front - size :]}", left_out


def nearest(
    messages: Sequence[Told], reach: float, *, at_end: bool, least: int = 0
) -> Sequence[Told]:
    """Return the share of messages that lies nearest to one of their ends."""
    count = max(ceil(len(messages) * reach), min(least, len(messages)))
    if count >= len(messages):
        return messages
    return messages[len(messages) - count :] if at_end else messages[:count]


def when(at: int) -> str:
    """Return a moment in ISO form, such as `2026-11-15T09:30Z`; empty where nobody knows it."""
    if not at:
        return ""
    try:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%MZ")
    except (ValueError, OverflowError, OSError):
        return ""
