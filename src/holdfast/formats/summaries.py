"""Tells summaries apart from what anybody said, for writers.

Agents keep a summary as an entry of its own. A compaction of ours may put it in front of the
message that follows, whoever speaks there, so that roles alternate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from holdfast.formats.chronicle import Folded, Native, Rewound, Told
from holdfast.transcript import Message, Role, Summary, Synthetic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.chronicle import Event

__all__ = ["folds", "with_lone_summaries"]


def folds(event: Event, summary: Told) -> TypeGuard[Folded]:
    """Say whether an event is the compaction that a summary was written for."""
    if not isinstance(event, Folded) or event.strand != summary.strand:
        return False
    return summary.key in event.shows


def with_lone_summaries(events: Iterable[Event]) -> Iterator[Event]:
    """Return the events, each summary as a message of a user that says nothing else.

    The other words of its message keep their name and their place in every window. A summary goes
    right before its compaction, as agents write it.
    """
    desk = _Desk()
    for event in events:
        yield from desk.take(event)
    yield from desk.flush()


class _Desk:
    """Holds a message with a summary until it is known whether a compaction follows."""

    def __init__(self) -> None:
        self._held: tuple[Told, Told] | None = None
        """The summary, and the rest of its message."""
        self._names: dict[str, str] = {}
        """The summaries that were taken out of messages, by the names of those."""

    def take(self, event: Event) -> Iterator[Event]:
        """Return what is complete now."""
        held = self._held
        if held is not None and folds(event, held[1]):
            self._held = None
            yield from self._compacted(*held, event)
            return
        yield from self.flush()
        match event:
            case Told(message=message) if message.summary is not None:
                yield from self._told(event)
            case Folded() | Rewound():
                yield replace(event, shows=self._shown(event.shows))
            case _:
                yield event

    def flush(self) -> Iterator[Event]:
        """Return what was held: no compaction of it will come."""
        held, self._held = self._held, None
        yield from held or ()

    def _told(self, told: Told) -> Iterator[Event]:
        message = told.message
        parts = tuple(part for part in message.parts if isinstance(part, Summary))
        rest = tuple(part for part in message.parts if not isinstance(part, Summary))
        summary = Message(Role.USER, parts, synthetic=Synthetic.SUMMARY)
        if not rest:
            lone = message if message.role is Role.USER else summary
            yield replace(told, message=lone)
            return
        name = f"{told.key}/summary"
        self._names[told.key] = name
        native = Native(at=told.native.at)
        apart = replace(told, key=name, message=summary, native=native)
        self._held = apart, replace(told, message=replace(message, parts=rest, synthetic=None))

    def _compacted(self, summary: Told, rest: Told, folded: Folded) -> Iterator[Event]:
        shows = self._shown(folded.shows)
        if shows[-1] == rest.key:
            yield from (summary, replace(folded, shows=shows[:-1]), rest)
        else:
            yield from (rest, summary, replace(folded, shows=shows))

    def _shown(self, keys: Sequence[str]) -> tuple[str, ...]:
        if self._names.keys().isdisjoint(keys):
            return tuple(keys)
        both = ((self._names[key], key) if key in self._names else (key,) for key in keys)
        return tuple(name for names in both for name in names)
