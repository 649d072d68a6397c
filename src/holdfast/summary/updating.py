"""Bringing a record up to date with what later turns showed, section by section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.record import Record, last_number, renumbered
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SAID_AFTER", "updated"]

SAID_AFTER = "(said after"
"""How a note begins that says what a short input was said to; it is nobody's task."""
_STALE = 12
_NAMES = 40


def updated(previous: Record, fresh: Record, opening: str, heard: Sequence[str] = ()) -> Record:
    """Return the previous record with the later turns worked in.

    Args:
        previous: The record so far; it may be empty.
        fresh: What the later turns show on their own.
        opening: What the assistant said next, which answers the last task and older asks.
        heard: What users said in the later turns. A task that stands there again is told of
            there, with its own answer.
    """
    asked = _left(previous.task, heard) if fresh.task and fresh.task != previous.task else ()
    settled = [f'"{flat(entry, 240)}" - {opening}' for entry in asked if opening]
    stale = [f'"{flat(entry, 240)}"' for entry in asked if not opening]
    return Record(
        task=fresh.task or previous.task,
        goal=previous.goal or fresh.goal,
        constraints=(*previous.constraints, *fresh.constraints),
        actions=(*previous.actions, *renumbered(fresh.actions, last_number(previous.actions))),
        state=_by_name(fresh.state, previous.state),
        in_progress=fresh.in_progress or previous.in_progress,
        blocked=_still_blocked(previous.blocked, fresh),
        decisions=(*previous.decisions, *fresh.decisions),
        resolved=(*previous.resolved, *settled, *fresh.resolved),
        pending=(*(() if opening else previous.pending), *stale, *fresh.pending)[-_STALE:],
        files=_by_path(fresh.files, previous.files),
        remaining=fresh.remaining or previous.remaining,
        critical=_listed(fresh.critical, previous.critical),
    )


def _left(task: Sequence[str], heard: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a task that users did not say in the later turns."""
    known = {words.strip() for words in heard}
    own = (entry for entry in task if not entry.startswith(SAID_AFTER))
    return tuple(entry for entry in own if entry.strip() not in known)


def _by_name(fresh: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    """Return `Name: value` lines, the newest value of each name."""
    names = {line.partition(": ")[0] for line in fresh}
    return (*fresh, *(line for line in before if line.partition(": ")[0] not in names))


def _by_path(fresh: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    """Return file notes, the newest first; a file that was changed once stays changed."""
    known = {line.partition(" - ")[0]: line for line in before}
    lines: list[str] = []
    for line in fresh:
        path, _, note = line.partition(" - ")
        old = known.pop(path, "")
        was_changed = old.partition(" - ")[2].startswith(("changed", "created"))
        lines.append(old if was_changed and note.startswith("read") else line)
    return (*lines, *known.values())


def _still_blocked(before: Sequence[str], fresh: Record) -> tuple[str, ...]:
    """Return old blockers whose work was not taken up again, and the present ones."""
    done = " ".join(fresh.actions)
    waiting = (entry for entry in before if entry.partition(" - ")[0] not in done)
    return (*waiting, *fresh.blocked)


def _listed(fresh: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    """Return `Title: a, b` lines with the names of both, the newest first, and other lines."""
    old = {line.partition(": ")[0]: line for line in before}
    lines: list[str] = []
    for line in fresh:
        title, _, names = line.partition(": ")
        known = old.pop(title, "").partition(": ")[2]
        merged = dict.fromkeys([*names.split(", "), *filter(None, known.split(", "))])
        lines.append(f"{title}: {', '.join(list(merged)[:_NAMES])}")
    return (*lines, *old.values())
