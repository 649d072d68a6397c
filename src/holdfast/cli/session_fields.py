"""Stored sessions as JSON values, and the words for them that several views share."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from holdfast.session.titles import short_title

if TYPE_CHECKING:
    from holdfast.session import CompactionRecord, Entry, Session

__all__ = [
    "UNTITLED",
    "compaction_fields",
    "entry_fields",
    "iso_time",
    "session_fields",
    "state_of",
    "title_of",
]

UNTITLED = "(no title)"


def state_of(session: Session) -> str:
    """Return how a session stands in one word: `live`, `trash`, or why it ended."""
    if session.trashed is not None:
        return "trash"
    return str(session.end_reason or "ended") if session.ended is not None else "live"


def title_of(session: Session) -> str:
    """Return the title on one short line, or words that stand for none."""
    return short_title(session.title) or UNTITLED


def iso_time(at: int | None) -> str | None:
    """Return a moment as ISO 8601 in UTC."""
    if at is None:
        return None
    try:
        return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None


def session_fields(session: Session) -> dict[str, object]:
    """Return a session as plain JSON values."""
    return {
        "id": session.id,
        "title": session.title,
        "state": state_of(session),
        "source": session.source,
        "model": session.model,
        "goal": session.goal,
        "root": session.root,
        "parent": session.parent,
        "fork": session.fork and str(session.fork),
        "started": iso_time(session.started),
        "touched": iso_time(session.touched),
        "ended": iso_time(session.ended),
        "end_reason": session.end_reason and str(session.end_reason),
        "trashed": iso_time(session.trashed),
        "entries": session.size,
        "usage": asdict(session.usage),
        "metadata": dict(session.metadata),
    }


def entry_fields(entry: Entry, beginning: str) -> dict[str, object]:
    """Return an entry of the log as plain JSON values, with the beginning of its words."""
    summary = entry.message.summary
    return {
        "id": entry.id,
        "session": entry.session,
        "position": entry.position,
        "role": str(entry.message.role),
        "synthetic": entry.synthetic and str(entry.synthetic),
        "summary_by": None if summary is None else summary.origin,
        "at": iso_time(entry.at),
        "tokens": entry.tokens,
        "pinned": entry.message.pinned,
        "shortened": entry.shortened,
        "derived": bool(entry.kind),
        "beginning": beginning,
    }


def compaction_fields(record: CompactionRecord) -> dict[str, object]:
    """Return what is known of a pass as plain JSON values, its summary left out."""
    return {
        "at": iso_time(record.at),
        "trigger": record.trigger,
        "strategy": record.strategy,
        "focus": record.focus,
        "duration_ms": record.duration_ms,
        "report": dict(record.report),
    }
