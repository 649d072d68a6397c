"""Two tellings of one session as equal lists: without what a format may choose for itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.formats.events import (
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.replay import merged
from holdfast.transcript import NO_EXTRAS, Media, Message, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.formats.events import Event
    from holdfast.transcript import Part


def comparable(events: Iterable[Event]) -> list[Event]:
    """Return the events without what a format may choose: lines, spellings, names it derives.

    Messages, strands, compactions and replies are named by their order; what was noted later of
    a strand is part of its beginning; of a fork only how it came about is left. A model that the
    messages name need not be named beside them.
    """
    found = list(events)
    sizes = Counter(each.native.reply for each in found if isinstance(each, MessageEvent))
    names = _Names(sizes)
    plain = [each for event in found if (each := names.plain(event)) is not None]
    return [names.completed(each) if isinstance(each, StrandStarted) else each for each in plain]


@dataclass(slots=True)
class _Names:
    """Names things by their order."""

    sizes: Counter[str]
    """How many messages share a reply."""
    counts: Counter[str] = field(default_factory=Counter[str])
    known: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    abouts: dict[str, About] = field(default_factory=dict[str, About])
    models: set[str] = field(default_factory=set[str])
    """The models that messages name."""

    def of(self, kind: str, name: str) -> str:
        """Return the name by order."""
        if (kind, name) not in self.known:
            self.counts[kind] += 1
            self.known[kind, name] = f"{kind}-{self.counts[kind]}"
        return self.known[kind, name]

    def keys(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Return the names of messages."""
        return tuple(self.known.get(("key", key), f"unknown {key}") for key in keys)

    def plain(self, event: Event) -> Event | None:
        """Return an event with names by order; None for what is part of another."""
        match event:
            case StrandStarted():
                return self._begun(event)
            case MetadataUpdated(strand=strand, about=about):
                name = self.of("strand", strand)
                self.abouts[name] = merged(self.abouts[name], about)
                return None
            case MessageEvent():
                return self._told(event)
            case CompactionEvent():
                return replace(
                    event,
                    strand=self.of("strand", event.strand),
                    line=0,
                    id=self.of("fold", event.id),
                    shows=self.keys(event.shows),
                )
            case RewindEvent():
                strand, shows = self.of("strand", event.strand), self.keys(event.shows)
                return replace(event, strand=strand, line=0, shows=shows)
            case Problem():
                return event

    def completed(self, begun: StrandStarted) -> StrandStarted:
        """Return a beginning with everything that was noted of its strand."""
        about = self.abouts[begun.strand]
        if about.model in self.models:
            about = replace(about, model="")
        call = about.more.get("call")
        more = {} if call is None else {"call": call}
        if begun.of is not None:
            return replace(begun, about=About(more=more))
        return replace(begun, about=replace(about, more=more))

    def _begun(self, begun: StrandStarted) -> StrandStarted:
        name = self.of("strand", begun.strand)
        self.abouts[name] = begun.about
        of = None if begun.of is None else self.of("strand", begun.of)
        after = "".join(self.keys([begun.after] if begun.after else []))
        return replace(begun, strand=name, line=0, of=of, after=after)

    def _told(self, told: MessageEvent) -> MessageEvent:
        native = told.native
        self.models.add(native.model)
        shared = native.reply and self.sizes[native.reply] > 1
        reply = self.of("reply", native.reply) if shared else ""
        return MessageEvent(
            strand=self.of("strand", told.strand),
            line=0,
            key=self.of("key", told.key),
            message=_bare(told.message),
            native=structs.replace(native, parent="", reply=reply, more={}, mark=""),
        )


def _bare(message: Message) -> Message:
    """Return a message without how its content was spelled."""
    extras = {key: value for key, value in message.extras.items() if value}
    parts = tuple(map(_bare_part, message.parts))
    return structs.replace(message, parts=parts, form="", extras=extras or NO_EXTRAS)


def _bare_part(part: Part) -> Part:
    match part:
        case ToolResult(content=content):
            pieces = tuple(_bare_part(piece) for piece in content)
            return structs.replace(part, content=pieces, form="", extras=NO_EXTRAS)
        case Media(extras=extras):
            left = {key: value for key, value in extras.items() if value}
            return structs.replace(part, extras=left or NO_EXTRAS)
        case _:
            return part
