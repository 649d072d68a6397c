"""What the writers of session files share: stable ids, and summaries as messages of their own.

Ids follow from the text of a session, so that writing it twice gives the same bytes. Agents keep a
summary as an entry of its own. A compaction of ours may put it in front of the message that
follows, whoever speaks there, so that roles alternate.
"""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeGuard

from holdfast.formats.events import CompactionEvent, MessageEvent, RewindEvent, SourceMetadata
from holdfast.transcript import Message, Role, Summary, Synthetic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event

__all__ = ["derived_uuid", "digest", "folds", "is_uuid", "with_lone_summaries"]

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(text: str) -> bool:
    """Say whether a text is a UUID as programs write them."""
    return _UUID.fullmatch(text) is not None


def derived_uuid(text: str) -> str:
    """Return a UUID that is always the same for the same text."""
    digits = digest(text)
    ends = f"8{digits[16:19]}-{digits[20:32]}"
    return f"{digits[:8]}-{digits[8:12]}-5{digits[12:15]}-{ends}"


def digest(text: str) -> str:
    """Return 64 letters that fix a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def folds(event: Event, summary: MessageEvent) -> TypeGuard[CompactionEvent]:
    """Say whether an event is the compaction that a summary was written for."""
    if not isinstance(event, CompactionEvent) or event.strand != summary.strand:
        return False
    return summary.key in event.shows


def with_lone_summaries(events: Iterable[Event]) -> Iterator[Event]:
    """Return the events, each summary as a message of a user that says nothing else.

    The other words of its message keep their name and their place in every window. A summary goes
    right before its compaction, as agents write it.
    """
    desk = _SummarySplitter()
    for event in events:
        yield from desk.take(event)
    yield from desk.flush()


class _SummarySplitter:
    """Holds a message with a summary until it is known whether a compaction follows."""

    def __init__(self) -> None:
        self._held: tuple[MessageEvent, MessageEvent] | None = None
        """The summary, and the rest of its message."""
        self._names: dict[str, str] = {}
        """The summaries that were taken out of messages, by the names of those."""

    def take(self, event: Event) -> Iterator[Event]:
        """Return what is complete now."""
        held = self._held
        if held is not None and folds(event, held[1]):
            self._held = None
            (summary, rest), shows = held, self._shown(event.shows)
            if shows[-1] == rest.key:
                yield from (summary, replace(event, shows=shows[:-1]), rest)
            else:
                yield from (rest, summary, replace(event, shows=shows))
            return
        yield from self.flush()
        match event:
            case MessageEvent(message=message) if message.summary is not None:
                yield from self._told(event)
            case CompactionEvent() | RewindEvent():
                yield replace(event, shows=self._shown(event.shows))
            case _:
                yield event

    def flush(self) -> Iterator[Event]:
        """Return what was held: no compaction of it will come."""
        held, self._held = self._held, None
        yield from held or ()

    def _told(self, told: MessageEvent) -> Iterator[Event]:
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
        native = SourceMetadata(at=told.native.at)
        apart = replace(told, key=name, message=summary, native=native)
        self._held = apart, replace(told, message=replace(message, parts=rest, synthetic=None))

    def _shown(self, keys: Sequence[str]) -> tuple[str, ...]:
        if self._names.keys().isdisjoint(keys):
            return tuple(keys)
        both = ((self._names[key], key) if key in self._names else (key,) for key in keys)
        return tuple(name for names in both for name in names)
