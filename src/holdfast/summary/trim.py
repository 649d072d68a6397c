"""Cutting a record to its budget, section by section.

A model may answer with a hundred kilobytes. Every section keeps a share of the room; what one
does not need goes to the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.condense import condensed
from holdfast.summary.record import Record, number_of
from holdfast.summary.render import render, render_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["shorten", "trim"]

_SHARES = {
    "task": 14,
    "goal": 4,
    "constraints": 9,
    "actions": 26,
    "state": 7,
    "in_progress": 7,
    "blocked": 6,
    "decisions": 7,
    "resolved": 6,
    "pending": 4,
    "files": 12,
    "remaining": 4,
    "critical": 10,
}
"""Parts of the room that each section may claim while others still want theirs."""

_NEWEST_LAST = frozenset({"actions", "decisions", "resolved", "pending", "blocked"})
_WORTH_CUTTING = 12


def trim(record: Record, budget: int, count: Callable[[str], int]) -> Record:
    """Return the record within `budget` tokens.

    Sections whose newest entry is last lose their oldest entries first, the others their last.
    Old actions leave one line with their numbers and kinds. The headings alone are the least a
    record can weigh.
    """
    if count(render(record)) <= budget:
        return record
    weights = {
        name: [count(render_entry(name, entry)) + 1 for entry in entries]
        for name, entries in record.sections()
    }
    room = budget - count(render(Record()))
    while room > 0:
        fitting = _filled(record, weights, room, count)
        over = count(render(fitting)) - budget
        if over <= 0:
            return fitting
        room = min(room - over, room * 9 // 10)
    return Record()


def _filled(
    record: Record,
    weights: Mapping[str, Sequence[int]],
    room: int,
    count: Callable[[str], int],
) -> Record:
    allowed = _allowances({name: sum(each) for name, each in weights.items()}, room)
    kept: dict[str, tuple[str, ...]] = {}
    for name, entries in record.sections():
        if sum(weights[name]) <= allowed.get(name, 0):
            kept[name] = entries
        elif name == "actions":
            kept[name] = _newest_actions(entries, weights[name], allowed[name], count)
        elif name in _NEWEST_LAST:
            chosen = _chosen(entries[::-1], weights[name][::-1], allowed[name], count)
            kept[name] = chosen[::-1]
        else:
            kept[name] = _chosen(entries, weights[name], allowed[name], count)
    return Record(**kept)


def _allowances(needs: Mapping[str, int], room: int) -> dict[str, int]:
    """Return how much each section gets: its need if its share covers it, else its share."""
    allowed: dict[str, int] = {}
    left = {name: need for name, need in needs.items() if need}
    while modest := {name: need for name, need in left.items() if need <= _share(name, left, room)}:
        allowed |= modest
        room -= sum(modest.values())
        left = {name: need for name, need in left.items() if name not in modest}
    return allowed | {name: int(_share(name, left, room)) for name in left}


def _share(name: str, among: Iterable[str], room: int) -> float:
    return room * _SHARES[name] / sum(_SHARES[each] for each in among)


def _chosen(
    entries: Sequence[str],
    weights: Sequence[int],
    allowance: int,
    count: Callable[[str], int],
) -> tuple[str, ...]:
    """Return entries from the front that fit; the first that does not is cut if that helps.

    The entries together must weigh more than the allowance.
    """
    whole = 0
    while weights[whole] <= allowance:
        allowance -= weights[whole]
        whole += 1
    # An entry that is cut to a third tells more than one that is left out.
    if whole and allowance < max(_WORTH_CUTTING, weights[whole] // 20):
        return tuple(entries[:whole])
    return (*entries[:whole], shorten(entries[whole], allowance - 2, count))


def _newest_actions(
    entries: tuple[str, ...], weights: Sequence[int], allowance: int, count: Callable[[str], int]
) -> tuple[str, ...]:
    """Return the newest actions, and one line for the older ones."""
    allowance -= count(condensed(entries[:1])) + _WORTH_CUTTING
    if allowance < 0:
        return ()
    chosen = _chosen(entries[::-1], weights[::-1], allowance, count)[::-1]
    # A cut that went through the number leaves no action.
    chosen = tuple(entry for entry in chosen if number_of(entry))
    older = entries[: len(entries) - len(chosen)]
    return (condensed(older), *chosen) if older else chosen


def shorten(text: str, tokens: int, count: Callable[[str], int]) -> str:
    """Return the beginning of the text that has at most `tokens` tokens, or nothing."""
    weight = count(text)
    if weight <= tokens:
        return text
    length = len(text)
    while length > 0 and weight > tokens:
        length = min(length - 1, int(length * max(tokens, 0) / weight * 0.95))
        weight = count(text[:length] + "…")
    return f"{text[:length].rstrip()}…" if length > 0 else ""
