"""What every reader of session files has to keep, whatever the file says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.events import (
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.replay import replay
from holdfast.formats.source import SourceRecord, stream_records
from holdfast.session import Fork
from holdfast.transcript import Role, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.formats.catalog import SessionReader
    from holdfast.formats.events import Event
    from holdfast.transcript import Part

_FOREIGN: dict[Role, tuple[type[Part], ...]] = {
    Role.SYSTEM: (Thinking, ToolCall, ToolResult),
    Role.USER: (Thinking, ToolCall, ToolResult),
    Role.ASSISTANT: (ToolResult,),
    Role.TOOL: (Thinking, ToolCall),
}
"""What nobody of a role says: no provider takes it from them."""


def records_of(content: bytes) -> list[SourceRecord]:
    """Return the objects of a file, as a reader gets them."""
    found = stream_records([content])
    return [
        each for each in found if isinstance(each, SourceRecord) and isinstance(each.value, dict)
    ]


def tell(reader: SessionReader, content: bytes) -> list[Event]:
    """Return what a reader tells of a file."""
    return list(reader.read(records_of(content)))


def spoken(events: Iterable[Event]) -> list[Event]:
    """Return what must not depend on anything that comes later in a file.

    What an answer cost may: some agents write it when the answer is over.
    """
    return [
        replace(each, native=replace(each.native, usage=None))
        if isinstance(each, MessageEvent)
        else each
        for each in events
        if isinstance(each, MessageEvent | CompactionEvent | RewindEvent)
    ]


def broken_rules(events: Sequence[Event]) -> list[str]:
    """Return what is wrong with the events of one file, in words."""
    begun: set[str] = set()
    keys: Counter[str] = Counter()
    broken: list[str] = []
    for event in events:
        match event:
            case StrandStarted():
                broken += _broken_beginning(event, begun, keys)
                begun.add(event.strand)
            case MessageEvent():
                keys[event.key] += 1
                broken += _broken_telling(event, begun)
            case CompactionEvent() | RewindEvent():
                missing = [key for key in event.shows if key not in keys]
                broken += [f"line {event.line} shows {key}, which nobody told" for key in missing]
            case MetadataUpdated():
                if event.strand not in begun:
                    broken.append(f"strand {event.strand} is noted before it begins")
            case Problem():
                if event.line < 0 or not event.reason:
                    broken.append("a problem does not say where or what")
    broken += [f"the key {key} is used {count} times" for key, count in keys.items() if count > 1]
    replay(events)
    return broken


def _broken_telling(event: MessageEvent, begun: set[str]) -> list[str]:
    broken: list[str] = []
    if event.strand not in begun:
        broken.append(f"{event.key} is told before its strand begins")
    if not event.message.parts:
        broken.append(f"{event.key} says nothing")
    foreign = _FOREIGN[event.message.role]
    broken += [
        f"{event.key} is of the {event.message.role} and holds a {type(part).__name__}"
        for part in event.message.parts
        if isinstance(part, foreign)
    ]
    return broken


def _broken_beginning(event: StrandStarted, begun: set[str], keys: Counter[str]) -> list[str]:
    broken: list[str] = []
    if event.strand in begun:
        broken.append(f"strand {event.strand} begins twice")
    if event.of is not None and event.of not in begun:
        broken.append(f"strand {event.strand} came from {event.of}, which did not begin")
    if event.fork is Fork.BRANCH and event.after and event.after not in keys:
        broken.append(f"strand {event.strand} follows {event.after}, which nobody told")
    return broken


def counted_twice(events: Sequence[Event]) -> list[str]:
    """Return answers whose calls are counted more than once."""
    replies = Counter(
        (each.strand, each.native.reply)
        for each in events
        if isinstance(each, MessageEvent) and each.native.usage and each.native.usage.calls
        if each.native.reply
    )
    return [f"the usage of {reply} counts {n} times" for (_, reply), n in replies.items() if n > 1]
