"""An answer joined with the record it updates, so that nothing falls between the two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.summary.record import HEADINGS, last_number, number_of, renumbered, words_of

if TYPE_CHECKING:
    from holdfast.summary.reader import Reading
    from holdfast.summary.record import Record

__all__ = ["merged"]


def merged(previous: Record, found: Reading) -> Record:
    """Return the record of an answer, completed from the one before.

    A section that the answer left out keeps what it held. Actions the answer no longer lists
    stay: whether they are condensed is decided by the budget, not by a model's forgetfulness.
    """
    # Words under headings that mean nothing here stand in a section that was not there.
    kept = {
        name: (*getattr(previous, name), *getattr(found.record, name))
        for name in HEADINGS
        if name not in found.present
    }
    record = replace(found.record, **kept)
    return replace(record, actions=_continued(previous.actions, record.actions))


def _continued(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    """Return all actions once, the numbers of the latest ones following those of old ones."""
    if not before or not after:
        return after or before
    if _carries_on(before, after):
        return after
    known = {_tokens(entry) for entry in before}
    fresh = [entry for entry in after if _tokens(entry) not in known]
    if fresh and number_of(fresh[0]) > last_number(before):
        return (*before, *fresh)
    return (*before, *renumbered(map(words_of, fresh), last_number(before)))


def _carries_on(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Say whether a list repeats the old one, perhaps reworded, rather than starting over."""
    old = {number_of(entry): _tokens(entry) for entry in before}
    pairs = [(old[number_of(entry)], _tokens(entry)) for entry in after if number_of(entry) in old]
    alike = sum(_alike(one, other) for one, other in pairs)
    return bool(pairs) and 2 * alike > len(pairs) and len(pairs) * 2 >= len(before)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Say whether two entries tell of the same thing: exact names survive a rewording."""
    names, others = _names(one), _names(other)
    agree = names <= others or others <= names
    return agree and len(one & other) >= 0.4 * min(len(one), len(other))


def _names(tokens: frozenset[str]) -> frozenset[str]:
    return frozenset(token for token in tokens if any(map(str.isdecimal, token)) or "/" in token)


def _tokens(entry: str) -> frozenset[str]:
    return frozenset(words_of(entry).casefold().split())
